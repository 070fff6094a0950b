import { afterAll, beforeAll } from "vitest";
import { SANDBOX_TIMING, type SandboxTiming } from "../src/network/sandbox/sandbox-timing.ts";

/** Changes times of the sandbox network for the gateways that the tests of a file start. Call it before its `beforeAll`. */
export function changeSandboxTiming(changed: Partial<SandboxTiming>): void {
  const usual = { ...SANDBOX_TIMING };
  beforeAll(() => void Object.assign(SANDBOX_TIMING, changed));
  afterAll(() => void Object.assign(SANDBOX_TIMING, usual));
}
