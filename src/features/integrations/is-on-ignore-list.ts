import { phoneJid } from "../../network/jid.ts";
import { numberVariantsOf } from "../contacts/contacts.ts";

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
