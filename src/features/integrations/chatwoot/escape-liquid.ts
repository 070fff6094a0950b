const LONGEST_CONTENT = 150_000;

/**
 * The text so that Chatwoot's rendering of outgoing messages gives back what it was. Chatwoot puts `raw` blocks of its own
 * around code before it renders, and such blocks do not nest: so neither a backtick nor the beginning of a mark is left.
 */
export function escapeLiquid(text: string): string {
  if (!/\{[{%]/.test(text)) return text;
  const written = text.replace(/\{(?=[{%])|`/g, (mark) => WRITTEN[mark] ?? mark);
  // Rather rendered than refused.
  return written.length > LONGEST_CONTENT ? text : written;
}

const WRITTEN: Record<string, string> = {
  "{": '{{ "%7B" | url_decode }}',
  "`": '{{ "%60" | url_decode }}',
};
