/** CPU time of this process while `run` runs, in ms. Unlike wall time, a busy machine does not lengthen it. */
async function cpuMsOf(run: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/**
 * The minimum CPU time of several runs, without garbage collections. For ranking inputs and for figures; tests must
 * not compare it with a number.
 */
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

const TRIES = 5;
/** Four times the input takes four times as long if the growth is linear, and sixteen times if it is quadratic. */
const MOST_GROWTH = 10;
/** Below this, fixed costs dominate. */
const LEAST_MS = 2;

/** Whether four times the input costs about four times as much. Costs below `leastMs` are noise. */
export function isInProportion(ofQuarter: number, ofAll: number, leastMs = LEAST_MS): boolean {
  return ofAll < MOST_GROWTH * Math.max(ofQuarter, leastMs);
}

/**
 * Whether the CPU time of `run` grows at most linearly up to `size`. One of several tries is enough, because other
 * programs and garbage collections only lengthen one.
 */
export async function growsLinearly(size: number, run: (size: number) => unknown): Promise<boolean> {
  const quarter = Math.ceil(size / 4);
  for (let nth = 0; nth < TRIES; nth++) {
    const ofQuarter = await cpuMsOf(() => run(quarter));
    if (isInProportion(ofQuarter, await cpuMsOf(() => run(4 * quarter)))) return true;
  }
  return false;
}

/** Exponential growth is thousandfold in ten steps; cubic growth is 27-fold at triple length. */
const EXPLOSION = 500;

/**
 * The first short length at which one run takes as long as hundreds at the shortest. The sum of these is long enough
 * to be measured.
 */
export function findExplosion(
  [shortest = 0, ...longer]: readonly number[],
  run: (length: number) => unknown,
): number | undefined {
  const ofMany = leastCpuMs(2, () => {
    for (let nth = 0; nth < EXPLOSION; nth++) run(shortest);
  });
  const explodes = (length: number) => leastCpuMs(1, () => run(length)) > ofMany;
  return longer.find((length) => Array.from({ length: TRIES }).every(() => explodes(length)));
}
