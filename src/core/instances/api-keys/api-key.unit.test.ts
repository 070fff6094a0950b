import { describe, expect, it } from "vitest";
import { createApiKey, digestApiKey, isApiKey, maskApiKey } from "./api-key.ts";

describe("an API key", () => {
  it("is wg_, 43 characters of randomness and 6 of checksum", () => {
    for (let i = 0; i < 200; i++) {
      const key = createApiKey();
      expect(key).toMatch(/^wg_[0-9A-Za-z]{49}$/);
      expect(isApiKey(key)).toBe(true);
    }
  });

  it("is rejected by its checksum if any character is mistyped", () => {
    const key = createApiKey();
    for (let at = 0; at < key.length; at++) {
      const other = key[at] === "x" ? "y" : "x";
      expect(isApiKey(key.slice(0, at) + other + key.slice(at + 1))).toBe(false);
    }
  });

  it("is stored as a SHA-256 digest and four visible characters", () => {
    expect(digestApiKey("abc").toString("hex")).toBe(
      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    );
    expect(maskApiKey("wxyz")).toBe("wg_****wxyz");
  });
});
