import { type CountryCode, parsePhoneNumberFromString } from "libphonenumber-js/min";
import type { Jid } from "../../network/driver.ts";
import { groupJid, lidJid, phoneJid } from "../../network/jid.ts";
import { invalidField } from "../../platform/gateway-error.ts";

/** One of the three names a recipient; `jid` wins over `number`, `number` over `phone`. */
export interface RecipientInput {
  jid?: string;
  number?: string;
  phone?: string;
}

/** A chat address that the network understands: a person by phone or LID, or a group. */
export interface Recipient {
  jid: Jid;
  /** Digits only; null for groups and LIDs. */
  phone: string | null;
  lid: Jid | null;
  type: "contact" | "group";
}

const SERVERS: Record<string, string> = {
  "s.whatsapp.net": "s.whatsapp.net",
  "c.us": "s.whatsapp.net",
  "g.us": "g.us",
  lid: "lid",
};

/** Resolves a target to a chat; `defaultCountry` (ISO code) prefixes national numbers only if it is set. */
export function resolveRecipient(target: RecipientInput, defaultCountry?: string): Recipient {
  const field = target.jid !== undefined ? "jid" : target.number !== undefined ? "number" : "phone";
  const text = (target[field] ?? "").trim();
  if (text === "") throw invalidField("number", "one of number, phone or jid is required");
  return readAddress(field, text, defaultCountry);
}

/** A person or group by digits or JID; `field` is the name of the request's field. */
export function readAddress(field: string, text: string, defaultCountry?: string): Recipient {
  const trimmed = text.trim();
  return trimmed.includes("@")
    ? readJid(field, trimmed)
    : toPerson(readDigits(field, trimmed, defaultCountry));
}

function readJid(field: string, jid: string): Recipient {
  const [user = "", server = ""] = jid.split("@");
  const known = SERVERS[server.toLowerCase()];
  if (known === undefined || jid.split("@").length !== 2) {
    throw invalidField(field, "must end in @s.whatsapp.net, @g.us or @lid");
  }
  const id = user.replace(/:\d+$/, "");
  if (known === "g.us") {
    if (!/^\d{5,25}(-\d{1,15})?$/.test(id))
      throw invalidField(field, "is not the JID of a group, such as 120363025246125486@g.us");
    return { jid: groupJid(id), phone: null, lid: null, type: "group" };
  }
  if (known === "lid") {
    if (!/^\d{5,20}$/.test(id)) throw invalidField(field, "is not a LID");
    return { jid: lidJid(id), phone: null, lid: lidJid(id), type: "contact" };
  }
  return toPerson(readDigits(field, id));
}

/** A number that begins with + or 00 has its country code; any other gets the default country's. */
function readDigits(field: string, text: string, defaultCountry?: string): string {
  const bare = text.replace(/[+()\-.\s]/g, "");
  if (!/^\d+$/.test(bare)) throw invalidField(field, "may contain only digits, spaces and + ( ) - .");
  const isInternational = text.startsWith("+") || bare.startsWith("00");
  const dialled = bare.replace(/^00/, "");
  const digits = defaultCountry && !isInternational ? withCountry(dialled, defaultCountry) : dialled;
  if (digits.length < 7 || digits.length > 15) {
    throw invalidField(field, "must have 7 to 15 digits, with country and area code");
  }
  if (digits.startsWith("0")) throw invalidField(field, WITHOUT_COUNTRY);
  return digits;
}

const WITHOUT_COUNTRY =
  "has no country code. Send it in international format, for example 5511999990004, or set WAYGATE_DEFAULT_COUNTRY";

function withCountry(digits: string, country: string): string {
  const parsed = parsePhoneNumberFromString(digits, country as CountryCode);
  return parsed?.isValid() ? parsed.number.slice(1) : digits;
}

/**
 * Whether the digits are no valid phone in any country, and so may be a LID; a real phone never counts as
 * one.
 */
export function isImpossiblePhone(digits: string): boolean {
  return parsePhoneNumberFromString(`+${digits}`)?.isValid() !== true;
}

function toPerson(digits: string): Recipient {
  return { jid: phoneJid(digits), phone: digits, lid: null, type: "contact" };
}

/** The digits of a person who must have a phone, such as the one on a contact card. */
export function readPhone(field: string, text: string, defaultCountry?: string): string {
  const { phone } = readAddress(field, text, defaultCountry);
  if (phone === null) throw invalidField(field, "must be a phone number");
  return phone;
}
