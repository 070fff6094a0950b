/** What may be said on the command line, `--seconds 30`; each load has its own defaults. */
export interface LoadTestOptions {
  seconds?: number;
  /** A second. */
  rate?: number;
  sessions?: number;
  jobs?: number;
}
