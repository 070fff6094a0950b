import { expect, test } from "vitest";
import { formatPhone } from "./format-phone.ts";

test.each([
  ["5511987651234", "+55 11 98765-1234"],
  ["551133334444", "+55 11 3333-4444"],
  ["14155552671", "+1 415 555-2671"],
  ["4915112345678", "+49151 1234-5678"],
  ["12345678", "+1234-5678"],
  ["120363041234567890", "120363041234567890"],
  ["", ""],
])("the digits %s are shown as %s", (digits, shown) => {
  expect(formatPhone(digits)).toBe(shown);
});
