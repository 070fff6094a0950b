/**
 * Control characters (also C1, with which some terminals begin a sequence), separators of lines, marks that change the
 * direction of text, and lone surrogates.
 */
const UNSAFE = /[\p{Cc}\p{Cs}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu;
const SHORT: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** A foreign text as one line that no terminal interprets; longer than `max` characters, it ends with an ellipsis. */
export function toTerminalText(text: string, max = 1_000): string {
  const shown = text.length > max ? `${text.slice(0, max)}…` : text;
  return shown.replace(UNSAFE, (unsafe) => SHORT[unsafe] ?? escapeUnit(unsafe));
}

/** JSON with the same content whose texts no terminal interprets. */
export function toTerminalJson(value: unknown, indent?: number): string {
  // Outside of texts, the only such character is the line break of an indented value.
  return (JSON.stringify(value, null, indent) ?? "null").replace(UNSAFE, (unsafe) =>
    unsafe === "\n" ? unsafe : escapeUnit(unsafe),
  );
}

function escapeUnit(unsafe: string): string {
  return `\\u${unsafe.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
