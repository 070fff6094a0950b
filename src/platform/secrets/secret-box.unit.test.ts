import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSecretBox, encryptionContextOf } from "./secret-box.ts";

const KEY = "kT9u3xQ0bZr7Wm2LpVf8Hs5Jd1Nc6Ya4";
const box = createSecretBox(KEY);
const other = createSecretBox("Zp4Rk8Tn1Vx6Bq3Mw7Gj2Fd9Lc5Hs0Ye");
const HERE = encryptionContextOf("webhook", "secret", 12);

describe("a secret box", () => {
  it("opens what it sealed, in any length and alphabet", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 300 }), (text) => {
        expect(box.open(box.seal(text, HERE), HERE)).toBe(text);
      }),
    );
    expect(box.open(box.seal("x".repeat(1_000_000), HERE), HERE)).toHaveLength(1_000_000);
  });

  it("opens with another box of the same key, as after a restart", () => {
    const again = createSecretBox("kT9u3xQ0bZr7Wm2LpVf8Hs5Jd1Nc6Ya4");
    expect(again.open(box.seal("whsec_1", HERE), HERE)).toBe("whsec_1");
    expect(again.key_id).toBe(box.key_id);
  });

  it("seals the same text differently each time and shows none of it", () => {
    const [one, two] = [box.seal("attack at dawn", HERE), box.seal("attack at dawn", HERE)];
    expect(one.equals(two)).toBe(false);
    expect(one.toString("latin1")).not.toContain("attack");
  });

  it("writes a key id into the bytes that does not reveal the key", () => {
    expect(box.seal("x", HERE).subarray(1, 5).toString("hex")).toBe(box.key_id);
    expect(box.key_id).toMatch(/^[0-9a-f]{8}$/);
    expect(other.key_id).not.toBe(box.key_id);
  });

  it("refuses bytes of another key, and reports that reason", () => {
    expect(() => other.open(box.seal("x", HERE), HERE)).toThrow(
      "The stored secret webhook.secret of 12 is encrypted with another WAYGATE_SECRET_KEY.",
    );
  });

  it("refuses another key even when the key id was copied over", () => {
    const forged = Buffer.from(box.seal("x", HERE));
    forged.write(other.key_id, 1, "hex");
    expect(() => other.open(forged, HERE)).toThrow("was changed, or was encrypted for another row or column");
  });

  it("detects a change of any single bit", () => {
    const sealed = box.seal("four words of text", HERE);
    for (let bit = 0; bit < sealed.length * 8; bit++) {
      const changed = Buffer.from(sealed);
      changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      expect(() => box.open(changed, HERE)).toThrow();
    }
  });

  it("detects missing and added bytes, and bytes that were never sealed", () => {
    const sealed = box.seal("four words of text", HERE);
    for (let length = 0; length < sealed.length; length++) {
      expect(() => box.open(sealed.subarray(0, length), HERE)).toThrow();
    }
    expect(() => box.open(Buffer.concat([sealed, Buffer.of(0)]), HERE)).toThrow();
    expect(() => box.open(Buffer.from("plain text that was stored by mistake, long enough"), HERE)).toThrow(
      "is not an encrypted value",
    );
  });

  it("opens a value at its own column and row only", () => {
    const sealed = box.seal("whsec_1", encryptionContextOf("pairing_key", "secret", 1, 2, "session", "a"));
    expect(box.open(sealed, encryptionContextOf("pairing_key", "secret", "1", "2", "session", "a"))).toBe(
      "whsec_1",
    );
    for (const [table, column, ...key] of [
      ["pairing_key", "secret", 2, 2, "session", "a"],
      ["pairing_key", "secret", 1, 2, "session", "b"],
      ["pairing_key", "secret", 1, 2, "sessiona"],
      ["pairing_key", "body", 1, 2, "session", "a"],
      ["webhook", "secret", 1, 2, "session", "a"],
    ] as [string, string, ...(string | number)[]][]) {
      expect(() => box.open(sealed, encryptionContextOf(table, column, ...key))).toThrow(
        `The stored secret ${table}.${column} of ${key[0]} was changed, or was encrypted for another row or column.`,
      );
    }
  });

  it("does not open a value with a changed format byte", () => {
    const changed = Buffer.from(box.seal("x", HERE));
    changed[0] = 2;
    expect(() => box.open(changed, HERE)).toThrow("webhook.secret of 12 is not an encrypted value");
  });
});
