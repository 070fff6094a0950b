import { createHash } from "node:crypto";
import { inspect } from "node:util";
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { fingerprint } from "./fingerprint.ts";
import { Secret } from "./secret.ts";
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

const sha256 = (text: string | Uint8Array) => createHash("sha256").update(text).digest("hex");

describe("the fingerprint of a body", () => {
  test("is the SHA-256 of its JSON with sorted fields", () => {
    expect(fingerprint({ b: [1, { d: true, c: null }], a: "x" })).toBe(
      sha256('{"a":"x","b":[1,{"c":null,"d":true}]}'),
    );
  });

  test("does not depend on the order of fields, also below the top", () => {
    const one = { c: 1, a: { z: 1, y: 2, x: 3 }, b: 2 };
    const other = { b: 2, a: { x: 3, z: 1, y: 2 }, c: 1 };
    expect(fingerprint(one)).toBe(fingerprint(other));
  });

  test("depends on the order of a list", () => {
    expect(fingerprint([1, 2])).not.toBe(fingerprint([2, 1]));
  });

  test("ignores fields without a value, but not null", () => {
    expect(fingerprint({ a: 1, b: undefined })).toBe(fingerprint({ a: 1 }));
    expect(fingerprint({ a: 1, b: null })).not.toBe(fingerprint({ a: 1 }));
  });

  test("counts a value without JSON as null", () => {
    expect(fingerprint([undefined])).toBe(sha256("[null]"));
    expect(fingerprint(undefined)).toBe(sha256("null"));
  });

  test("contains a binary value as its own hash, and distinguishes two of them", () => {
    const bytes = Buffer.from("file");
    expect(fingerprint({ file: bytes })).toBe(sha256(`{"file":${sha256(bytes)}}`));
    expect(fingerprint({ file: bytes })).not.toBe(fingerprint({ file: Buffer.from("other") }));
  });
});

test("a secret shows its text only when it is revealed", () => {
  const secret = new Secret("hunter2");
  expect(secret.reveal()).toBe("hunter2");
  for (const shown of [
    String(secret),
    `${secret}`,
    inspect(secret),
    inspect({ secret }),
    JSON.stringify(secret),
  ]) {
    expect(shown).not.toContain("hunter2");
    expect(shown).toContain("[secret]");
  }
});
