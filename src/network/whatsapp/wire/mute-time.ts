/** The network's word for a mute without an end, and ours: a time that no chat lives to see. */
const FOREVER = -1;
const FOREVER_MS = Date.UTC(9999, 0, 1);

/** In milliseconds as the network counts them; null: not muted. */
export function toMuteTime(until: Date | null): number | null {
  if (until === null) return null;
  return until.getTime() >= FOREVER_MS ? FOREVER : until.getTime();
}

/** The time that the network means; null: not muted. */
export function fromMuteTime(end: number | { toNumber(): number } | null): Date | null {
  const ms = typeof end === "object" ? (end?.toNumber() ?? 0) : end;
  if (ms === 0) return null;
  return new Date(ms < 0 || ms > FOREVER_MS ? FOREVER_MS : ms);
}
