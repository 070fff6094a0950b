const known = new WeakSet<object>();

/** Marks a raw request that a handler of this process sends to another route. */
export function markInProcess(raw: object): void {
  known.add(raw);
}

/** Whether a raw request did not come over the network. */
export function isInProcess(raw: object): boolean {
  return known.has(raw);
}
