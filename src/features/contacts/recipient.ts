import type { Jid } from "../../network/driver.ts";
import { groupJid, lidJid, phoneJid } from "../../network/jid.ts";
import { invalidField } from "../../platform/gateway-error.ts";
import { foldSigns } from "../../platform/phone/fold-phone-text.ts";
import { readPhoneNumber } from "../../platform/phone/read-phone-number.ts";

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

/** A person or group by number or JID; `field` is the name of the request's field. */
export function readAddress(field: string, text: string, defaultCountry?: string): Recipient {
  const trimmed = foldSigns(text).trim();
  return trimmed.includes("@") ? readJid(field, trimmed) : toPerson(readDigits(field, text, defaultCountry));
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
  if (!/^[1-9]\d{6,14}$/.test(id))
    throw invalidField(field, "must have 7 to 15 digits before the @, with country and area code");
  return toPerson(id);
}

/** The digits of a LID stay as they are: the network's directory knows whose they are. */
function readDigits(field: string, text: string, defaultCountry?: string): string {
  const country = defaultCountry === undefined ? undefined : { code: defaultCountry, isSet: true };
  const reading = readPhoneNumber(text, country);
  const digits = reading.is === "refused" ? reading.lid : reading.digits;
  if (digits !== null) return digits;
  const { issue, code, params } = reading as Exclude<typeof reading, { is: "number" }>;
  throw invalidField(field, issue, { code, params });
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
