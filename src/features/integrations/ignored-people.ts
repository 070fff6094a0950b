import { phoneJid } from "../../network/ids.ts";
import { spellingsOf } from "../contacts/contacts.ts";

interface Addressed {
  jid: string;
  lid: string | null;
  phone: string | null;
}

/** Whether a list of jids, LIDs and numbers names somebody; a number does so in any spelling. */
export function isListed(list: readonly string[], { jid, lid, phone }: Addressed): boolean {
  const phones = phone === null ? [] : spellingsOf(phone);
  const names: (string | null)[] = [jid, lid, ...phones, ...phones.map(phoneJid)];
  return list.some((one) => names.includes(one.replace(/^\+/, "")));
}
