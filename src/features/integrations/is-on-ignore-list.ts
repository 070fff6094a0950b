import { phoneJid } from "../../network/jid.ts";
import { numberVariantsOf } from "../contacts/contacts.ts";

interface PersonAddress {
  jid: string;
  lid: string | null;
  phone: string | null;
}

/** Whether a list of jids, LIDs and numbers names somebody; a number does so in any spelling. */
export function isOnIgnoreList(list: readonly string[], { jid, lid, phone }: PersonAddress): boolean {
  const phones = phone === null ? [] : numberVariantsOf(phone);
  const names: (string | null)[] = [jid, lid, ...phones, ...phones.map(phoneJid)];
  return list.some((one) => names.includes(one.replace(/^\+/, "")));
}
