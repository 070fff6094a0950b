import { expect, test } from "vitest";
import { otherSpelling, personOf, spellingsOf } from "./number-candidates.ts";

test.each([
  ["5531987654321", "553187654321"],
  ["5511961234567", "551161234567"],
  ["5215512345678", "525512345678"],
  ["5491123456789", "541123456789"],
])("%s and %s are two spellings of one number", (long, short) => {
  expect(otherSpelling(long)).toBe(short);
  expect(otherSpelling(short)).toBe(long);
});

test.each([
  ["a landline of Brazil", "553133334444"],
  ["a mobile that is too long", "55319876543210"],
  ["an area that does not exist", "5501987654321"],
  ["a number of another country", "351912345678"],
  ["a number of the United States", "12025550123"],
])("%s has one spelling", (_, number) => {
  expect(otherSpelling(number)).toBeUndefined();
});

test.each([
  ["5531987654321", "553187654321"],
  ["5215512345678", "525512345678"],
  ["5491123456789", "541123456789"],
])("%s and %s are one person, under one key", (long, short) => {
  expect(personOf(long)).toBe(personOf(short));
  expect(spellingsOf(short)).toEqual([short, long]);
  expect(personOf("351912345678")).toBe("351912345678");
});
