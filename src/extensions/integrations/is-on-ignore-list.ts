import { z } from "zod";
import { numberVariantsOf, readAddress } from "../../core/contacts/contacts.ts";
import { phoneJid } from "../../network/jid.ts";
import { GatewayError } from "../../platform/gateway-error.ts";
import { trimmedText } from "../../platform/text/bounded-text.ts";

/** People and groups by JID, LID or number, as `isOnIgnoreList` compares them. */
export const ignoreList = z
  .array(
    trimmedText(100)
      .min(1)
      .transform((entry) => readEntry(entry) ?? entry),
  )
  .max(1_000);

/** What no list that is saved now may contain. */
export const isReadableEntry = (entry: string) => readEntry(entry) !== undefined;
export const UNREADABLE_ENTRY = "must be JIDs, or numbers with + and the country code";

function readEntry(entry: string): string | undefined {
  try {
    const { jid, phone } = readAddress("ignore_jids", entry);
    return entry.includes("@") ? jid : (phone ?? jid);
  } catch (error) {
    if (error instanceof GatewayError) return undefined;
    throw error;
  }
}

interface PersonAddress {
  jid: string;
  lid: string | null;
  phone: string | null;
}

/** Whether a list of JIDs, LIDs and numbers contains a person; a number matches in any format. */
export function isOnIgnoreList(list: readonly string[], { jid, lid, phone }: PersonAddress): boolean {
  const phones = phone === null ? [] : numberVariantsOf(phone);
  const names: (string | null)[] = [jid, lid, ...phones, ...phones.map(phoneJid)];
  return list.some((one) => names.includes(one.replace(/^\+/, "")));
}
