import type { Jid } from "../../network/driver.ts";
import { groupJid, lidJid, phoneJid } from "../../network/jid.ts";
import { invalidField } from "../../platform/gateway-error.ts";
import { areDifferent, differentAddresses } from "../../platform/http/input/refuse-different-addresses.ts";
import { foldSigns } from "../../platform/phone/fold-phone-text.ts";
import { type PhoneCountry, readPhoneNumber } from "../../platform/phone/read-phone-number.ts";
import type { FindCountry } from "./find-country.ts";

/** Each names the recipient; the first of `jid`, `number` and `phone` is dialled. */
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
  /** The country whose code a number without one got. */
  assumed_country?: string;
}

const SERVERS: Record<string, string> = {
  "s.whatsapp.net": "s.whatsapp.net",
  "c.us": "s.whatsapp.net",
  "g.us": "g.us",
  lid: "lid",
};

/** Resolves a target to a chat. A number without its country code needs a country that a setting names. */
export function resolveRecipient(target: RecipientInput, country?: PhoneCountry): Recipient {
  const [first, ...others] = FIELDS.flatMap((name) => {
    const sent = (target[name] ?? "").trim();
    if (sent === "") return [];
    const who = readAddress(name, sent, country);
    return [{ name, text: who.jid, who }];
  });
  if (!first)
    throw invalidField("number", "one of number, phone or jid is required", "one_of_required", {
      fields: "number, phone, jid",
    });
  const other = others.find((one) => areDifferent(first, one));
  if (other) throw differentAddresses(first.name, other.name);
  return first.who;
}

const FIELDS = ["jid", "number", "phone"] as const;

/** The recipient of a request to an instance, whose settings name the country. */
export async function resolveForInstance(
  findCountry: FindCountry,
  instance_id: number,
  target: RecipientInput,
): Promise<Recipient> {
  return resolveRecipient(
    target,
    await findCountry({ instance_id }, [target.jid, target.number, target.phone]),
  );
}

/** A person or group by number or JID; `field` is the name of the request's field. */
export function readAddress(field: string, text: string, country?: PhoneCountry): Recipient {
  const trimmed = foldSigns(text).trim();
  return trimmed.includes("@") ? readJid(field, trimmed) : readNumber(field, text, country);
}

function readJid(field: string, jid: string): Recipient {
  const [user = "", server = ""] = jid.split("@");
  const known = SERVERS[server.toLowerCase()];
  if (known === undefined || jid.split("@").length !== 2) {
    throw invalidField(field, "must end in @s.whatsapp.net, @g.us or @lid", "not_a_jid");
  }
  const id = user.replace(/:\d+$/, "");
  if (known === "g.us") {
    if (!/^\d{5,25}(-\d{1,15})?$/.test(id))
      throw invalidField(field, "is not the JID of a group, such as 120363025246125486@g.us", "not_a_jid");
    return { jid: groupJid(id), phone: null, lid: null, type: "group" };
  }
  if (known === "lid") {
    if (!/^\d{5,20}$/.test(id)) throw invalidField(field, "is not a LID", "not_a_jid");
    return { jid: lidJid(id), phone: null, lid: lidJid(id), type: "contact" };
  }
  if (!/^[1-9]\d{6,14}$/.test(id))
    throw invalidField(
      field,
      "must have 7 to 15 digits before the @, with country and area code",
      "not_a_jid",
    );
  return toPerson(id);
}

/** The digits of a LID stay as they are: the network's directory knows whose they are. */
function readNumber(field: string, text: string, country?: PhoneCountry): Recipient {
  const reading = readPhoneNumber(text, country);
  if (reading.is === "number") return toPerson(reading.digits);
  const digits = reading.is === "refused" ? reading.lid : reading.digits;
  const { issue, code, params } = reading;
  if (digits === null) throw invalidField(field, issue, code, params);
  return {
    ...toPerson(digits),
    ...(code === "assumed_country" && { assumed_country: String(params.country) }),
  };
}

function toPerson(digits: string): Recipient {
  return { jid: phoneJid(digits), phone: digits, lid: null, type: "contact" };
}

/** The digits of a person who must have a phone, such as the one on a contact card. */
export function readPhone(field: string, text: string, country?: PhoneCountry): string {
  const { phone } = readAddress(field, text, country);
  if (phone === null) throw invalidField(field, "must be a phone number", "not_a_number");
  return phone;
}
