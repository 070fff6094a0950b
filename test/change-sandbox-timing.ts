import { afterAll, beforeAll } from "vitest";
import { SANDBOX_TIMING, type SandboxTiming } from "../src/network/sandbox/sandbox-timing.ts";

/** Changes timing of the sandbox network for the file's gateways. Call it before `beforeAll`. */
export function changeSandboxTiming(changed: Partial<SandboxTiming>): void {
  changeTiming(SANDBOX_TIMING, changed);
}

/** Changes waits for the tests of a file. Call it before `beforeAll`. */
export function changeTiming<Timing extends object>(timing: Timing, changed: Partial<Timing>): void {
  const usual = { ...timing };
  beforeAll(() => void Object.assign(timing, changed));
  afterAll(() => void Object.assign(timing, usual));
}
