import { expect, test } from "vitest";
import { GatewayError } from "../../platform/gateway-error.ts";
import {
  alternativeNumber,
  canonicalNumberOf,
  numberVariantsOf,
  searchedNumbers,
} from "../../platform/phone/number-variants.ts";
import { resolveRecipient } from "./recipient.ts";

const BRAZIL = { code: "BR", isSet: true };

test.each([
  ["5531987654321", "553187654321"],
  ["5511961234567", "551161234567"],
  ["5215512345678", "525512345678"],
  ["5491123456789", "541123456789"],
])("%s and %s are two formats of one number, with one key of the person", (long, short) => {
  expect(alternativeNumber(long)).toBe(short);
  expect(alternativeNumber(short)).toBe(long);
  expect(canonicalNumberOf(long)).toBe(canonicalNumberOf(short));
  expect(numberVariantsOf(short)).toEqual([short, long]);
});

test.each([
  ["a landline of Brazil", "553133334444"],
  ["a mobile that is too long", "55319876543210"],
  ["an area that does not exist", "5501987654321"],
  ["a number of another country", "351912345678"],
  ["a number of the United States", "12025550123"],
])("%s has only one format", (_, number) => {
  expect(alternativeNumber(number)).toBeUndefined();
  expect(canonicalNumberOf(number)).toBe(number);
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

test.each([
  ["5511999990001", "5511999990001@s.whatsapp.net"],
  ["+55 (11) 99999-0001", "5511999990001@s.whatsapp.net"],
  ["55.11.99999.0001", "5511999990001@s.whatsapp.net"],
  ["5511999990001@c.us", "5511999990001@s.whatsapp.net"],
  ["5511999990001:12@s.whatsapp.net", "5511999990001@s.whatsapp.net"],
  ["120363025246125486@g.us", "120363025246125486@g.us"],
  ["5511999990001-1600000000@g.us", "5511999990001-1600000000@g.us"],
  ["251234567890123@lid", "251234567890123@lid"],
])("the recipient %s becomes %s", (input, jid) => {
  expect(resolveRecipient({ number: input }).jid).toBe(jid);
});

test.each([
  [{ jid: "5511999990001@c.us", number: "+55 (11) 99999-0001", phone: "551199990001" }, "5511999990001"],
  [{ jid: "5511999990001:7@s.whatsapp.net", phone: "(11) 99999-0001" }, "5511999990001"],
  [{ number: "551199990001", phone: "11 99999-0001" }, "551199990001"],
  [{ jid: "251234567890123@lid", number: "5511999990001" }, null],
])("the fields of %j name one recipient", (target, phone) => {
  expect(resolveRecipient(target, BRAZIL).phone).toBe(phone);
});

test.each([
  [{ jid: "5511999990001@s.whatsapp.net", number: "5511999990002" }, "jid", "number"],
  [{ jid: "5511999990001@s.whatsapp.net", phone: "(11) 99999-0002" }, "jid", "phone"],
  [{ number: "5511999990001", phone: "+55 21 99999-0001" }, "number", "phone"],
  [{ jid: "120363025246125486@g.us", number: "5511999990001" }, "jid", "number"],
  [{ jid: "120363025246125486@g.us", number: "120363025246125487@g.us" }, "jid", "number"],
  [{ jid: "251234567890123@lid", number: "251234567890124@lid" }, "jid", "number"],
  [{ jid: "251234567890123@lid", number: "120363025246125486@g.us" }, "jid", "number"],
])("the fields of %j name two recipients, so they are refused", (target, one, other) => {
  expect(() => resolveRecipient(target, BRAZIL)).toThrow(
    `${one}: names another person or chat than \`${other}\``,
  );
});

test("a damaged number beside a jid is refused", () => {
  const jid = "5511999990001@s.whatsapp.net";
  expect(() => resolveRecipient({ jid, number: "5511999990001.0" })).toThrow(
    "number: was changed by a spreadsheet",
  );
});

test("a LID is never treated as a phone", () => {
  expect(resolveRecipient({ jid: "251234567890123@lid" })).toMatchObject({
    phone: null,
    lid: "251234567890123@lid",
  });
});

test("a national number gets a country code only if a default country is set", () => {
  expect(resolveRecipient({ number: "(11) 99999-0001" }, BRAZIL).phone).toBe("5511999990001");
  expect(resolveRecipient({ number: "5511999990001" }, BRAZIL).phone).toBe("5511999990001");
  expect(resolveRecipient({ number: "+351912345678" }, BRAZIL).phone).toBe("351912345678");
  expect(() => resolveRecipient({ number: "11999990001" })).toThrow("number: has no country code");
});

test("a number with the prefix 00 is international, whatever the default country is", () => {
  for (const number of ["005511999990004", "00 55 11 99999-0004", "0055(11)99999 0004"])
    for (const country of [undefined, BRAZIL, { code: "US", isSet: true }])
      expect(resolveRecipient({ number }, country).phone).toBe("5511999990004");
});

test("a number that begins with 0 is rejected for its missing country code without a default", () => {
  expect(() => resolveRecipient({ number: "011999990004" })).toThrow("number: has no country code");
  expect(resolveRecipient({ number: "011999990004" }, BRAZIL).phone).toBe("5511999990004");
});

test.each([
  "",
  "   ",
  "abc",
  "123456",
  "1234567890123456",
  "5511@example.com",
  "@g.us",
  "a@b@g.us",
  "12 34 x",
])("the recipient %j is rejected with the name of its field", (number) => {
  expect(() => resolveRecipient({ number })).toThrow(GatewayError);
});

test("a request without a recipient is rejected with the missing fields", () => {
  expect(() => resolveRecipient({})).toThrow("one of number, phone or jid is required");
});
