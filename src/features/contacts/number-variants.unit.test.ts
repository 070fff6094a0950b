import { expect, test } from "vitest";
import {
  alternativeNumber,
  canonicalNumberOf,
  numberVariantsOf,
  searchedNumbers,
} from "./number-variants.ts";

test.each([
  ["5531987654321", "553187654321"],
  ["5511961234567", "551161234567"],
  ["5215512345678", "525512345678"],
  ["5491123456789", "541123456789"],
])("%s and %s are two formats of one number", (long, short) => {
  expect(alternativeNumber(long)).toBe(short);
  expect(alternativeNumber(short)).toBe(long);
});

test.each([
  ["a landline of Brazil", "553133334444"],
  ["a mobile that is too long", "55319876543210"],
  ["an area that does not exist", "5501987654321"],
  ["a number of another country", "351912345678"],
  ["a number of the United States", "12025550123"],
])("%s has only one format", (_, number) => {
  expect(alternativeNumber(number)).toBeUndefined();
});

test.each([
  ["5531987654321", "553187654321"],
  ["5215512345678", "525512345678"],
  ["5491123456789", "541123456789"],
])("%s and %s are one person with one key", (long, short) => {
  expect(canonicalNumberOf(long)).toBe(canonicalNumberOf(short));
  expect(numberVariantsOf(short)).toEqual([short, long]);
  expect(canonicalNumberOf("351912345678")).toBe("351912345678");
});

test.each([
  ["the prefix 00", "00 55 31 98765-4321"],
  ["a plus, brackets and blanks", "+55 (31) 98765-4321"],
  ["the address of the person", "5531987654321@s.whatsapp.net"],
  ["the address of other gateways", "5531987654321@c.us"],
])("a search for a number with %s finds both of its formats", (_, text) => {
  expect(searchedNumbers(text)).toEqual(["5531987654321", "553187654321"]);
});

test("a search for part of a number or for a LID uses its digits, and a search for a name uses none", () => {
  expect(searchedNumbers("0004")).toEqual(["0004"]);
  expect(searchedNumbers("100011999990058@lid")).toEqual(["100011999990058"]);
  for (const text of ["Bia 2", "120363040000000000@g.us", "7", "@lid"])
    expect(searchedNumbers(text)).toEqual([]);
});
