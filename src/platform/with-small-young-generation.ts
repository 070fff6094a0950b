import { setFlagsFromString } from "node:v8";

const GROWTH = "--semi-space-growth-factor";
const DEFAULT_GROWTH = 2;

/**
 * Keeps V8 from enlarging its young generation during this work. Loading the program enlarges it to 32 MB or 64 MB, which
 * an idle process keeps. Load enlarges it afterwards, as far as it needs.
 */
export async function withSmallYoungGeneration<R>(work: () => Promise<R>): Promise<R> {
  setFlagsFromString(`${GROWTH}=1`);
  try {
    return await work();
  } finally {
    setFlagsFromString(`${GROWTH}=${DEFAULT_GROWTH}`);
  }
}
