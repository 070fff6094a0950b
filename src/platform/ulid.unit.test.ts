import { afterEach, describe, expect, it, vi } from "vitest";
import { isUlid, ulid, ulidTime } from "./ulid.ts";

afterEach(() => {
  vi.useRealTimers();
});

describe("ulid", () => {
  it("creates 26 characters of Crockford's alphabet, each id once", () => {
    const ids = Array.from({ length: 20_000 }, () => ulid());
    expect(new Set(ids).size).toBe(20_000);
    expect(ids.every(isUlid)).toBe(true);
  });

  it("increases with every id within one millisecond", () => {
    vi.useFakeTimers({ now: 1_732_084_000_000 });
    const ids = Array.from({ length: 5000 }, () => ulid());
    expect([...ids].sort()).toEqual(ids);
  });

  it("keeps increasing when the clock goes back", () => {
    vi.useFakeTimers({ now: 4_000_000_000_000 });
    const before = ulid();
    vi.setSystemTime(3_999_999_000_000);
    const after = ulid();
    expect(after > before).toBe(true);
  });

  it("contains exactly the given date, past or future, and does not affect the ids of now", () => {
    for (const ms of [0, 1, 1_600_000_000_123, 2 ** 48 - 1]) {
      expect(ulidTime(ulid(new Date(ms))).getTime()).toBe(ms);
    }
    expect(ulidTime(ulid()).getTime()).toBeLessThan(2 ** 47);
  });

  it("increases for ids of the same given date", () => {
    const at = new Date(1_700_000_000_000);
    const ids = Array.from({ length: 5000 }, () => ulid(at));
    expect([...ids].sort()).toEqual(ids);
    expect(new Set(ids).size).toBe(5000);
  });

  it("sorts by date as text", () => {
    expect(ulid(new Date(1_000)) < ulid(new Date(1_001))).toBe(true);
    expect(ulid(new Date(999_999_999_999)) < ulid(new Date(1_000_000_000_000))).toBe(true);
  });

  it("reads the date of the specification's example", () => {
    expect(ulidTime("01ARZ3NDEKTSV4RRFFQ69G5FAV").getTime()).toBe(1_469_922_850_259);
  });

  it.each([
    "",
    "01ARZ3NDEKTSV4RRFFQ69G5FA",
    "81ARZ3NDEKTSV4RRFFQ69G5FAV",
    "01ARZ3NDEKTSV4RRFFQ69G5FAU",
    "x".repeat(26),
  ])("refuses %j", (text) => {
    expect(isUlid(text)).toBe(false);
    expect(() => ulidTime(text)).toThrow(RangeError);
  });

  it("refuses dates that it cannot represent", () => {
    expect(() => ulid(new Date(-1))).toThrow(RangeError);
    expect(() => ulid(new Date(Number.NaN))).toThrow(RangeError);
  });
});
