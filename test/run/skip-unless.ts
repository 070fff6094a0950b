import type { TestOptions } from "vitest";

declare module "vitest" {
  export interface TaskMeta {
    /** Why the test is skipped: `test/last-full-run.json` names it. */
    reason?: string;
  }
}

/** Options of a test that needs this; without it, the test is skipped for that reason. */
export function skipUnless(isHere: boolean, reason: string): TestOptions {
  return isHere ? {} : { skip: true, meta: { reason } };
}
