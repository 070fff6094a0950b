import type { WASocket } from "baileys";
import type { Jid } from "../../driver.ts";
import { isLidJid, phoneOfJid } from "../../jid.ts";
import type { AccountFacts } from "../keys/account-facts.ts";
import type { IdentityStore } from "../keys/identity-store.ts";
import { findNumbers } from "../operations/find-numbers.ts";
import type { DeviceLookup } from "./device-lookup.ts";

interface Directory {
  sock: WASocket;
  identities: IdentityStore;
  facts: AccountFacts;
  devices: DeviceLookup;
}

/**
 * The people of an audience who have a device, and ourselves; empty if nobody else has one. The network refuses a story
 * of a migrated account to numbers, so those are looked up.
 */
export async function findAudience(
  { sock, identities, facts, devices }: Directory,
  people: readonly Jid[],
): Promise<Jid[]> {
  const addressAll = () => Promise.all(people.map((jid) => identities.addressOf(jid)));
  const before = await addressAll();
  const phones = before.flatMap((jid) => phoneOfJid(jid) ?? []);
  const isMissing = facts.isLidMigrated && phones.length > 0;
  if (isMissing) await findNumbers(sock, phones);
  const known = isMissing ? await addressAll() : before;
  const others = [...new Set(known)].filter(
    (jid) => !identities.isMe(jid) && (isLidJid(jid) || !facts.isLidMigrated),
  );
  const reached = others.length > 0 ? await devices.reachable(others) : [];
  const { me } = identities;
  const own = facts.isLidMigrated ? (me.lid ?? me.jid) : me.jid;
  if (reached.length === 0) return [];
  await devices.learnOwn(own);
  return [...reached, own];
}
