const LONGEST_CONTENT = 150_000;

/**
 * Escapes the text so that Chatwoot's rendering of outgoing messages returns the original. Chatwoot puts
 * `raw` blocks around code before it renders, and such blocks do not nest. So the result contains neither a
 * backtick nor the start of a Liquid tag.
 */
export function escapeLiquid(text: string): string {
  if (!/\{[{%]/.test(text)) return text;
  const written = text.replace(/\{(?=[{%])|`/g, (mark) => WRITTEN[mark] ?? mark);
  // A rendered text is better than a rejected one.
  return written.length > LONGEST_CONTENT ? text : written;
}

const WRITTEN: Record<string, string> = {
  "{": '{{ "%7B" | url_decode }}',
  "`": '{{ "%60" | url_decode }}',
};
