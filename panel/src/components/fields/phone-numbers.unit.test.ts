import { expect, test } from "vitest";
import { formatPhone } from "../formats.tsx";
import { lacksCountryCode } from "./lacks-country-code.ts";

test.each([
  "11 98765-1234",
  "(21) 98765-1234",
  "11987651",
  "011 98765-1234",
  "0151 12345678",
  "+011 98765-1234",
  "000 11 98765 1234",
  "15112345678",
])("the number %s lacks a country code", (typed) => {
  expect(lacksCountryCode(typed)).toBe(true);
});

test.each([
  "+55 11 98765-1234",
  "5511987651234",
  "551187651234",
  "55 11 3333",
  "55119876512",
  "0055 11 98765 1234",
  "14155552671",
  "4915112345678",
  "5215512345678",
  "5491123456789",
  "447911123456",
  "+99 123 456 789",
  "5511999990004",
  "120363041234567890",
  "120363041234567890@g.us",
  "",
  "0",
  "+",
  "Bia",
  "9".repeat(65_536),
])("the number %s may have its country code", (typed) => {
  expect(lacksCountryCode(typed)).toBe(false);
});

test("no hint about a missing code appears while a number with a code is typed", () => {
  for (const number of [
    "5511987651234",
    "551187651234",
    "5521999990004",
    "14155552671",
    "34612345678",
    "5491123456789",
  ])
    for (let length = 1; length <= number.length; length++)
      expect([number.slice(0, length), lacksCountryCode(number.slice(0, length))]).toEqual([
        number.slice(0, length),
        false,
      ]);
});

test.each([
  ["5511987651234", "+55 11 98765-1234"],
  ["551133334444", "+55 11 3333-4444"],
  ["14155552671", "+1 415 555-2671"],
  ["51987654399", "+51 987 654 399"],
  ["4915112345678", "+49 15 112 345 678"],
  ["351912345678", "+351 912 345 678"],
  ["12345678", "+1 2 345 678"],
  ["120363041234567890", "120363041234567890"],
  ["", ""],
])("the digits %s are shown as %s", (digits, shown) => {
  expect(formatPhone(digits)).toBe(shown);
});
