import { describe, expect, it } from "vitest";
import { groupJid, phoneJid } from "../jid.ts";
import { isOnNetwork, lidOf, nthNumber, phoneOf } from "./sandbox-numbers.ts";

describe("LIDs of the sandbox", () => {
  const phones = [
    "1234567",
    "0000000",
    "5511999990001",
    "5511999990002",
    "999999999999999",
    "000000000000000",
  ];

  it("are stable and different for each phone, and map back to it", () => {
    const lids = phones.map(lidOf);
    expect(lids).toEqual(phones.map(lidOf));
    expect(new Set(lids).size).toBe(phones.length);
    expect(lids.map(phoneOf)).toEqual(phones);
  });

  it("do not contain the phone number", () => {
    for (const phone of phones) expect(lidOf(phone)).not.toContain(phone);
  });

  it("map to no phone when they were never assigned", () => {
    for (const lid of ["1@lid", "99999999999999999@lid", "abc@lid"]) expect(phoneOf(lid)).toBeNull();
  });
});

describe("phoneOf", () => {
  it("distinguishes a phone from a group", () => {
    expect(phoneOf(phoneJid("5511999990001"))).toBe("5511999990001");
    expect(phoneOf(groupJid("1203630"))).toBeNull();
  });
});

describe("a number without its country code", () => {
  it("belongs to no contact in the sandbox either", () => {
    for (const number of ["999990004", "11999990004", "21999990004"]) expect(isOnNetwork(number)).toBe(false);
    for (const number of ["5511999990004", "351912345678", "12025550123"])
      expect(isOnNetwork(number)).toBe(true);
  });
});

describe("numbers that the sandbox assigns", () => {
  it("are unique, and none has a fixed behaviour", () => {
    const numbers = Array.from({ length: 50_000 }, (_, n) => nthNumber(n));
    expect(new Set(numbers).size).toBe(50_000);
    expect(numbers.every((number) => /^55119[7-9]\d{3}[1-9]\d{3}$/.test(number))).toBe(true);
  });
});
