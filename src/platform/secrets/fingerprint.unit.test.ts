import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { fingerprint } from "./fingerprint.ts";

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
