import { USyncQuery, USyncStatusProtocol, USyncUser, type WASocket } from "baileys";
import type { Identity, Jid } from "../../driver.ts";
import { isGroupJid, isLidJid } from "../../jid.ts";
import type { ContactInfo, ContactName, ContactOperations, NumberCheck } from "../../session-operations.ts";
import type { IdentityStore } from "../keys/identity-store.ts";
import { plainJid } from "../stanzas/plain-jid.ts";
import { readBusinessHours } from "../wire/read-business-hours.ts";
import { changeAppState, resyncAppState } from "./change-app-state.ts";
import { findNumbers } from "./find-numbers.ts";
import type { OperationContext } from "./operation-context.ts";
import { errorCodeOf, OperationError } from "./operation-error.ts";

/** The app state collection of the address book, shared by all devices of an account. */
const ADDRESS_BOOK = "critical_unblock_low";

export function createContactOperations(context: OperationContext): ContactOperations {
  const { pending, sock } = context;
  return {
    check: (numbers) => pending.run(() => check(context, numbers)),
    info: (jid) => pending.run(() => info(context, jid)),
    save: (jid, name) => pending.run(() => save(context, jid, name)),
    setBlocked: (jid, isBlocked) => pending.run(() => setBlocked(context, jid, isBlocked)),
    blocked: () => pending.run(() => blocked(context)),
    synchronise: () =>
      pending.run(async () => {
        await resyncAppState(sock, [ADDRESS_BOOK]);
        return null;
      }),
  };
}

async function check({ sock }: OperationContext, numbers: readonly string[]): Promise<NumberCheck[]> {
  if (numbers.length === 0) return [];
  const found = await findNumbers(sock, numbers);
  return numbers.map((number) => {
    const { jid = null, lid = null, verifiedName = null } = found.get(number) ?? {};
    return { number, jid, lid, verified_name: verifiedName };
  });
}

/** Reads known LIDs from memory, and queries the others at once. */
async function lidsOf(sock: WASocket, jids: Jid[]): Promise<Map<string, Jid>> {
  const pairs = await sock.signalRepository.lidMapping.getLIDsForPNs(jids);
  const lids = new Map<string, Jid>();
  for (const { pn, lid } of pairs ?? []) {
    const plain = plainJid(lid);
    if (plain) lids.set(pn, plain);
  }
  return lids;
}

async function info(context: OperationContext, jid: Jid): Promise<ContactInfo> {
  const { sock } = context;
  const { person, verifiedName } = await findPerson(context, jid);
  const [about, picture_url, business] = await Promise.all([
    aboutOf(context, person.jid),
    pictureOf(context, person.jid),
    businessOf(sock, person.jid),
  ]);
  const is_business = verifiedName !== null || business !== null;
  return { ...person, verified_name: verifiedName, is_business, business, about, picture_url };
}

/** A person's current data from the network; rejected if the number does not exist. */
export async function findPerson(
  context: OperationContext,
  jid: Jid,
): Promise<{ person: Identity; verifiedName: string | null }> {
  const person = await personOf(context.identities, jid);
  // A person with a private number cannot be looked up by it.
  if (person.phone === null) return { person, verifiedName: null };
  const [found] = await check(context, [person.phone]);
  if (!found?.jid) throw noRecipient();
  const known = await context.identities.identify(found.jid, found.lid);
  return { person: known ?? person, verifiedName: found.verified_name };
}

async function personOf(identities: IdentityStore, jid: Jid): Promise<Identity> {
  const person = isGroupJid(jid) ? undefined : await identities.identify(jid);
  if (!person) throw new OperationError("VALIDATION_ERROR", "This is not the address of a person.");
  return person;
}

/** A person's about text; null if they do not show it. Who shows it to contacts only is asked with the person's token. */
export async function aboutOf(
  { sock, tokens }: Pick<OperationContext, "sock" | "tokens">,
  jid: Jid,
): Promise<string | null> {
  const [token = null] = await tokens.tokenNodes(jid);
  const query = new USyncQuery().withUser(new USyncUser().withId(jid));
  // Baileys 7.0.0-rc14 asks without the token.
  query.protocols.push(Object.assign(new USyncStatusProtocol(), { getUserElement: () => token }));
  const { list: [found] = [] } = (await sock.executeUSyncQuery(query)) ?? {};
  const { status } = (found?.status ?? {}) as { status?: string | null };
  return status || null;
}

/**
 * Null if there is no picture, it is hidden from us, or it is not hosted by WhatsApp: clients fetch this URL.
 */
export async function pictureOf(
  { sock, hosts }: Pick<OperationContext, "sock" | "hosts">,
  jid: Jid,
): Promise<string | null> {
  try {
    const url = await sock.profilePictureUrl(jid, "image");
    if (url === undefined || !URL.canParse(url)) return null;
    if (!hosts.allows(new URL(url))) await sock.refreshMediaConn(false);
    return hosts.allows(new URL(url)) ? url : null;
  } catch (error) {
    if (NOT_SHOWN.includes(errorCodeOf(error) ?? 0)) return null;
    throw error;
  }
}

const NOT_SHOWN = [401, 403, 404];

/** Null for a person who is not a business. */
export async function businessOf(sock: WASocket, jid: Jid): Promise<ContactInfo["business"]> {
  const profile = await sock.getBusinessProfile(jid);
  if (!profile) return null;
  const { description, category, email, website, address } = profile;
  const hours = readBusinessHours(profile);
  return {
    ...(description && { description }),
    ...(category && { category }),
    ...(email && { email }),
    ...(website?.length && { website: [...website] }),
    ...(address && { address }),
    ...(hours && { hours }),
  };
}

/** The phone stores the name in its own address book too. */
async function save(context: OperationContext, jid: Jid, name: ContactName): Promise<Identity> {
  const { person } = await findPerson(context, jid);
  const { first_name: firstName, last_name } = name;
  const contact = {
    firstName,
    fullName: last_name ? `${firstName} ${last_name}` : firstName,
    ...(person.lid && { lidJid: person.lid }),
    saveOnPrimaryAddressbook: true,
  };
  await changeAppState(context.sock, { contact }, person.jid);
  return person;
}

/** The network blocks people by LID. Baileys refuses people for whom it knows only one of the two addresses. */
async function setBlocked(
  { sock, identities }: OperationContext,
  jid: Jid,
  isBlocked: boolean,
): Promise<null> {
  const person = await personOf(identities, jid);
  const lid = person.lid ?? (isLidJid(person.jid) ? person.jid : undefined);
  const known = lid ?? (await lidsOf(sock, [person.jid])).get(person.jid);
  if (!known) throw noRecipient();
  const phone = isBlocked && person.phone !== null && { pn_jid: person.jid };
  const item = { jid: known, action: isBlocked ? "block" : "unblock", ...phone };
  await sock.query({
    tag: "iq",
    attrs: { to: "s.whatsapp.net", type: "set", xmlns: "blocklist" },
    content: [{ tag: "item", attrs: item }],
  });
  return null;
}

async function blocked({ sock, identities }: OperationContext): Promise<Jid[]> {
  const addresses = await sock.fetchBlocklist();
  const found = await identities.identifyAll(addresses.map((address) => ({ address: address ?? "" })));
  return found.flatMap((person) => person?.jid ?? []);
}

function noRecipient(): OperationError {
  return new OperationError("RECIPIENT_NOT_FOUND", "The number is not on the network.");
}
