/** Milliseconds of processor time that this process spends while something runs: unlike the clock, a busy machine does not stretch them. */
async function cpuMsOf(run: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/**
 * The least processor time of several runs: a collection of garbage in one of them does not count. It ranks inputs, and
 * is a figure; no test may compare it with a number.
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
/** Four times the input takes four times as long if the time grows linearly, and sixteen times if by the square. */
const MOST_GROWTH = 10;
/** Of less than this, little is the work itself. */
const LEAST_MS = 2;

/** Whether four times the input costs in proportion. What costs less than `leastMs` is noise. */
export function isInProportion(ofQuarter: number, ofAll: number, leastMs = LEAST_MS): boolean {
  return ofAll < MOST_GROWTH * Math.max(ofQuarter, leastMs);
}

/**
 * Whether the processor time of `run` grows no faster than the size of its input, up to `size`. One of several tries
 * decides: other programs and collections of garbage only lengthen one.
 */
export async function growsLinearly(size: number, run: (size: number) => unknown): Promise<boolean> {
  const quarter = Math.ceil(size / 4);
  for (let nth = 0; nth < TRIES; nth++) {
    const ofQuarter = await cpuMsOf(() => run(quarter));
    if (isInProportion(ofQuarter, await cpuMsOf(() => run(4 * quarter)))) return true;
  }
  return false;
}

/** What doubles with each step grows a thousandfold in ten; a cube grows 27 times from a length to its triple. */
const EXPLOSION = 500;

/**
 * The first of some short lengths at which one `run` takes as long as hundreds at the shortest, if there is one. So many
 * together are long enough to be measured.
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
