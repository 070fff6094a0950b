/** What came of a load. */
export interface LoadVerdict {
  /** Counts of what the ledgers of client, gateway, network and receivers tell differently; each has to be 0. */
  ledgers: object;
  /** Goals that were missed, in words. */
  missed: string[];
}

/** A word on a figure that should be below its goal. */
export function atOrAbove(goal: number, what: string, value: number): string[] {
  return value < goal ? [] : [`${what} ${value.toFixed(0)}, to be below ${goal}`];
}

/** What the ledgers disagree in. */
export function disagreements({ ledgers }: LoadVerdict): string[] {
  const counts = Object.entries(ledgers).filter(([, count]) => count !== 0);
  return counts.map(([name, count]) => `${name} ${count}`);
}
