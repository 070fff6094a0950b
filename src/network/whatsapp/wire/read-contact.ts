import type { Contact } from "baileys";
import type { NetworkEvent } from "../../driver.ts";
import { isGroupJid, isLidJid } from "../../jid.ts";
import type { IdentityStore } from "../keys/identity-store.ts";
import { plainJid } from "./plain-jid.ts";

/** The event of new data about a person; undefined without any, and for groups and ourselves. */
export async function readContact(
  { id, lid, phoneNumber, name, notify, verifiedName }: Partial<Contact>,
  identities: IdentityStore,
): Promise<NetworkEvent | undefined> {
  const address = plainJid(id);
  if (!address || isGroupJid(address) || identities.isMe(address)) return undefined;
  const other = isLidJid(address) ? phoneNumber : lid;
  if (!other && !name && !notify && !verifiedName) return undefined;
  const person = await identities.identify(address, other);
  if (!person) return undefined;
  return {
    type: "contact_updated",
    contact: {
      jid: isLidJid(person.jid) ? null : person.jid,
      lid: isLidJid(person.jid) ? person.jid : person.lid,
      phone: person.phone,
      name: name || null,
      push_name: notify || null,
      verified_name: verifiedName || null,
    },
  };
}
