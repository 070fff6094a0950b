const DAY_MS = 86_400_000;
/** The shortest notice, as in WhatsApp's own web client. */
const MIN_NOTICE_MS = 3 * DAY_MS;
/** WhatsApp refuses each version after some months. */
const MAX_NOTICE_MS = 730 * DAY_MS;

/** The time to store for an announced refusal, at least three days away; undefined if it cannot be meant. */
export function plausibleExpiration(at: Date, now = Date.now()): Date | undefined {
  const ms = at.getTime();
  if (!(ms > 0) || ms > now + MAX_NOTICE_MS) return undefined;
  return new Date(Math.max(ms, now + MIN_NOTICE_MS));
}
