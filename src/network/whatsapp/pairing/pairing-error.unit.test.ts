import { describe, expect, it } from "vitest";
import { PAIRING_ERROR_CODES, pairingError } from "./pairing-error.ts";

describe("a pairing that failed", () => {
  it.each(PAIRING_ERROR_CODES)("explains in whole sentences what happened and what to do: %s", (code) => {
    const { message, action, retry_at } = pairingError(code);
    for (const words of [message, action]) expect(words).toMatch(/^[A-Z].{10,}\.$/);
    expect(retry_at).toBeUndefined();
  });

  it("by code with a refused consent does not mention a scanned QR code alone", () => {
    const { message, action } = pairingError("phone_refused");
    expect(message).toContain("QR code or a pairing code");
    expect(action).toContain("Scan or enter");
  });
});
