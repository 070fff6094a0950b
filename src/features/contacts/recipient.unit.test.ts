import { expect, test } from "vitest";
import { GatewayError } from "../../platform/gateway-error.ts";
import { resolveRecipient } from "./recipient.ts";

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

test("the recipient's jid overrides number, and number overrides phone", () => {
  const all = { jid: "5511999990001@s.whatsapp.net", number: "5511999990002", phone: "5511999990003" };
  expect(resolveRecipient(all).phone).toBe("5511999990001");
  expect(resolveRecipient({ ...all, jid: undefined }).phone).toBe("5511999990002");
  expect(resolveRecipient({ phone: all.phone }).phone).toBe("5511999990003");
});

test("a LID is never treated as a phone", () => {
  expect(resolveRecipient({ jid: "251234567890123@lid" })).toMatchObject({
    phone: null,
    lid: "251234567890123@lid",
  });
});

test("a national number gets a country code only if a default country is set", () => {
  expect(resolveRecipient({ number: "(11) 99999-0001" }, "BR").phone).toBe("5511999990001");
  expect(resolveRecipient({ number: "5511999990001" }, "BR").phone).toBe("5511999990001");
  expect(resolveRecipient({ number: "+351912345678" }, "BR").phone).toBe("351912345678");
  expect(resolveRecipient({ number: "11999990001" }).phone).toBe("11999990001");
});

test("a number with the prefix 00 is international, whatever the default country is", () => {
  for (const number of ["005511999990004", "00 55 11 99999-0004", "0055(11)99999 0004"])
    for (const country of [undefined, "BR", "US"])
      expect(resolveRecipient({ number }, country).phone).toBe("5511999990004");
});

test("a number that begins with 0 is rejected for its missing country code without a default", () => {
  expect(() => resolveRecipient({ number: "011999990004" })).toThrow("number: has no country code");
  expect(resolveRecipient({ number: "011999990004" }, "BR").phone).toBe("5511999990004");
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
