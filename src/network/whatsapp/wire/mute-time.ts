/** The network's value for a mute without an end; ours is a date in the far future. */
const FOREVER = -1;
const FOREVER_MS = Date.UTC(9999, 0, 1);

/** In the network's milliseconds; null: not muted. */
export function toMuteTime(until: Date | null): number | null {
  if (until === null) return null;
  return until.getTime() >= FOREVER_MS ? FOREVER : until.getTime();
}

/** The network's value as a date; null: not muted. */
export function fromMuteTime(end: number | { toNumber(): number } | null): Date | null {
  const ms = typeof end === "object" ? (end?.toNumber() ?? 0) : end;
  if (ms === 0) return null;
  return new Date(ms < 0 || ms > FOREVER_MS ? FOREVER_MS : ms);
}
