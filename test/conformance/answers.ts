import { expect } from "vitest";
import type { Jid } from "../../src/network/driver.ts";
import type { OperationResult } from "../../src/network/session-operations.ts";

/** The expected result; any other kind fails the test. */
export function done<Value>(result: OperationResult<Value>): Value {
  if (result.outcome !== "done") expect.fail(`not done: ${JSON.stringify(result)}`);
  return result.value;
}

export function refused(code: string) {
  return { outcome: "refused", code, reason: expect.any(String) };
}

export function digits(jid: Jid): string {
  return jid.replace(/@.*/, "");
}

export const LID = expect.stringMatching(/^\d+@lid$/);

/** The smallest JPEG that a decoder accepts: one grey pixel. */
export const JPEG = Buffer.from(
  "/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAAMCAgICAgMCAgIDAwMDBAYEBAQEBAgGBgUGCQgKCgkICQkKDA8MCgsOCwkJDRENDg8QEBEQCgwSExIQEw8QEBD/wAALCAABAAEBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAACf/EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AVN//2Q==",
  "base64",
);
