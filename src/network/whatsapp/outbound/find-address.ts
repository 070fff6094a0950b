import type { WASocket } from "baileys";
import type { Jid, SendResult } from "../../driver.ts";
import { isGroupJid, isLidJid, phoneOfJid } from "../../jid.ts";
import type { AccountFacts } from "../keys/account-facts.ts";
import type { IdentityStore } from "../keys/identity-store.ts";
import { findNumbers } from "../operations/find-numbers.ts";
import type { DeviceLookup } from "./device-lookup.ts";
import type { MemberAddressesOptions } from "./member-addresses.ts";
import { NO_RECIPIENT, NOBODY_REACHED } from "./send-refusals.ts";

export interface FindAddressOptions {
  sock: WASocket;
  identities: IdentityStore;
  facts: AccountFacts;
  devices: DeviceLookup;
  groupOf: MemberAddressesOptions["groupOf"];
}

/** Where a message to this chat goes, with its devices found; otherwise why it cannot go. */
export async function findAddress(options: FindAddressOptions, chat: Jid): Promise<Jid | SendResult> {
  const { identities, facts, devices, groupOf } = options;
  if (isGroupJid(chat)) {
    // The network itself refuses a message to a group that it does not show us.
    const group = await groupOf(chat).catch(() => undefined);
    return group && !(await devices.reachesGroup(group)) ? NOBODY_REACHED : chat;
  }
  const address = await identities.addressOf(chat);
  const isLidMissing = facts.isLidMigrated && !isLidJid(address);
  if (identities.isMe(chat) || (!isLidMissing && (await devices.reaches(address)))) return address;
  return lookUp(options, chat);
}

/** Of a person whose LID is unknown, or for whom the network names no device. */
async function lookUp(
  { sock, identities, devices }: FindAddressOptions,
  chat: Jid,
): Promise<Jid | SendResult> {
  const phone = (await identities.identify(chat))?.phone;
  if (phone) {
    const registered = await findNumbers(sock, [phone]);
    if (!registered.has(phone)) return NO_RECIPIENT;
  }
  const better = await identities.addressOf(chat);
  return (await devices.reaches(better)) ? better : NOBODY_REACHED;
}

/** Looks up the LID of a person if the account needs it and knows the number only. */
export async function addressWithLid(
  { sock, identities, facts }: FindAddressOptions,
  chat: Jid,
): Promise<Jid> {
  const address = await identities.addressOf(chat);
  const phone = phoneOfJid(address);
  if (phone === null || !facts.isLidMigrated) return address;
  await findNumbers(sock, [phone]);
  return identities.addressOf(chat);
}

/** The person's LID if `address` is the number, otherwise the number. */
export async function otherAddressOf(
  { sock, identities }: FindAddressOptions,
  chat: Jid,
  address: Jid,
): Promise<Jid | undefined> {
  const person = await identities.identify(chat);
  if (!person?.phone) return undefined;
  if (isLidJid(address)) return person.jid;
  return person.lid ?? (await findNumbers(sock, [person.phone])).get(person.phone)?.lid ?? undefined;
}
