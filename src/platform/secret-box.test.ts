import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSecretBox } from "./secret-box.ts";

const box = createSecretBox("kT9u3xQ0bZr7Wm2LpVf8Hs5Jd1Nc6Ya4");
const other = createSecretBox("Zp4Rk8Tn1Vx6Bq3Mw7Gj2Fd9Lc5Hs0Ye");

describe("a secret box", () => {
  it("opens what it sealed, in any length and alphabet", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 300 }), (text) => {
        expect(box.open(box.seal(text))).toBe(text);
      }),
    );
    expect(box.open(box.seal("x".repeat(1_000_000)))).toHaveLength(1_000_000);
  });

  it("opens with another box of the same key, as after a restart", () => {
    const again = createSecretBox("kT9u3xQ0bZr7Wm2LpVf8Hs5Jd1Nc6Ya4");
    expect(again.open(box.seal("whsec_1"))).toBe("whsec_1");
    expect(again.key_id).toBe(box.key_id);
  });

  it("seals the same text differently each time and shows none of it", () => {
    const [one, two] = [box.seal("attack at dawn"), box.seal("attack at dawn")];
    expect(one.equals(two)).toBe(false);
    expect(one.toString("latin1")).not.toContain("attack");
  });

  it("names its key in the bytes without giving it away", () => {
    expect(box.seal("x").subarray(1, 5).toString("hex")).toBe(box.key_id);
    expect(box.key_id).toMatch(/^[0-9a-f]{8}$/);
    expect(other.key_id).not.toBe(box.key_id);
  });

  it("refuses bytes of another key, and says so", () => {
    expect(() => other.open(box.seal("x"))).toThrow("sealed with another WAYGATE_SECRET_KEY");
  });

  it("refuses another key even when the key id was copied over", () => {
    const forged = Buffer.from(box.seal("x"));
    forged.write(other.key_id, 1, "hex");
    expect(() => other.open(forged)).toThrow("the sealed text was changed");
  });

  it("notices a change of any single bit", () => {
    const sealed = box.seal("four words of text");
    for (let bit = 0; bit < sealed.length * 8; bit++) {
      const changed = Buffer.from(sealed);
      changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      expect(() => box.open(changed)).toThrow();
    }
  });

  it("notices missing and added bytes, and bytes that were never sealed", () => {
    const sealed = box.seal("four words of text");
    for (let length = 0; length < sealed.length; length++) {
      expect(() => box.open(sealed.subarray(0, length))).toThrow();
    }
    expect(() => box.open(Buffer.concat([sealed, Buffer.of(0)]))).toThrow();
    expect(() => box.open(Buffer.from("plain text that was stored by mistake, long enough"))).toThrow(
      "not a sealed text",
    );
  });
});
