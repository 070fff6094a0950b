/** Largest body of an event in bytes. */
export const MAX_BODY_BYTES = 256 * 1024;

const LONGEST_STRING = 32_768;
const LONGEST_LIST = 2_048;

/**
 * Serialises the body. Above `MAX_BODY_BYTES`, cuts its longest texts and lists and adds `truncated: true`.
 * The log keeps the whole message.
 */
export function serializeEvent(event: Record<string, unknown>): string {
  const whole = JSON.stringify(event);
  if (fits(whole)) return whole;
  for (let part = 1; ; part *= 2) {
    const cut = JSON.stringify({ ...event, truncated: true }, (_, value: unknown) => cutValue(value, part));
    if (fits(cut) || part >= LONGEST_STRING) return cut;
  }
}

function fits(body: string): boolean {
  return Buffer.byteLength(body) <= MAX_BODY_BYTES;
}

function cutValue(value: unknown, part: number): unknown {
  if (typeof value === "string") return cutText(value, Math.max(64, LONGEST_STRING / part));
  if (Array.isArray(value)) return value.slice(0, Math.max(1, LONGEST_LIST / part));
  return value;
}

/** Never cuts in the middle of a character. */
function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  return `${text.slice(0, length - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}
