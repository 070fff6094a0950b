/** Milliseconds of processor time that this process spends while something runs: unlike the clock, a busy machine does not stretch them. */
export async function cpuMsOf(run: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** The least processor time of several runs: a collection of garbage in one of them does not count. */
export function leastCpuMs(times: number, run: () => unknown): number {
  let least = Number.POSITIVE_INFINITY;
  for (let nth = 0; nth < times; nth++) {
    const before = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1_000);
  }
  return least;
}
