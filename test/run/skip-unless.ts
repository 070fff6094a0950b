import type { TestOptions } from "vitest";

declare module "vitest" {
  export interface TaskMeta {
    /** Why the test is skipped, for `test/last-full-run.json`. */
    reason?: string;
  }
}

/** Options of a test that is skipped with this reason unless `isHere`. */
export function skipUnless(isHere: boolean, reason: string): TestOptions {
  return isHere ? {} : { skip: true, meta: { reason } };
}
