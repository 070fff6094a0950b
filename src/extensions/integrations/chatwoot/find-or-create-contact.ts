import { alternativeNumber } from "../../../core/contacts/contacts.ts";
import type {
  ChatwootApi,
  ChatwootContact,
  ChatwootResult,
  ContactFilter,
  NewChatwootContact,
} from "./api/chatwoot-api.ts";
import type { ChatwootError } from "./api/chatwoot-error.ts";
import { explainIdentityError } from "./api/explain-identity-error.ts";

/** A person or a group on WhatsApp. */
export interface ChatwootPerson {
  /** By phone if it is known. */
  jid: string;
  phone: string | null;
  lid: string | null;
  /** The displayed name. */
  name: string | null;
  is_group: boolean;
}

/** A Chatwoot contact as the gateway stores it. */
export interface MappedContact {
  contact_id: number;
  /** The inbox's id of the contact; it stays even if the phone becomes known later. */
  source_id: string;
  /** The last name that the gateway set; it does not change a name that an agent typed. */
  name: string;
  phone: string | null;
}

interface ContactOptions {
  chatwoot: ChatwootApi;
  mergeBrazil: boolean;
  /** Signs the identifiers of contacts. */
  hmacToken: string | undefined;
  pictureOf(person: ChatwootPerson): Promise<string | undefined>;
}

/** Finds or creates a person's contact. Safe to repeat. */
export async function findOrCreateContact(
  options: ContactOptions,
  person: ChatwootPerson,
): Promise<ChatwootResult<MappedContact>> {
  const { chatwoot, mergeBrazil, pictureOf } = options;
  const source_id = person.jid;
  const known = await findVariants(chatwoot, person);
  if (!known.ok) return known;
  const reused = await useOtherFormat(chatwoot, person, known.value);
  if (!reused.ok) return reused;
  const name = nameOf(person);
  const avatar_url = await pictureOf(person);
  const fields = {
    source_id,
    identifier: person.jid,
    name,
    ...(person.phone && { phone_number: `+${person.phone}` }),
    ...(avatar_url && { avatar_url }),
  };
  const found = await upsert(options, person, fields);
  if (!found.ok) return found;
  const contact_id = mergeBrazil ? await mergeVariants(chatwoot, found.value, known.value) : found.value.id;
  return { ok: true, value: { contact_id, source_id, name, phone: person.phone } };
}

async function upsert(
  { chatwoot, hmacToken }: ContactOptions,
  person: ChatwootPerson,
  fields: NewChatwootContact,
): Promise<ChatwootResult<ChatwootContact>> {
  const made = await chatwoot.upsertContact(fields);
  if (made.ok) return made;
  if (made.error.reason === "taken") return useExisting(chatwoot, person, made.error);
  return { ok: false, error: await explainIdentityError(chatwoot, hmacToken, made.error) };
}

/** A phone, never a LID: LIDs have the same length, and Chatwoot would treat one as a number. */
function nameOf({ name, phone, jid, is_group }: ChatwootPerson): string {
  if (is_group) return `${name ?? jid.split("@")[0]} (GROUP)`;
  return name ?? (phone === null ? "WhatsApp" : `+${phone}`);
}

/** Contacts with either format of a number that has two, or with the identifier that the gateway sets. */
async function findVariants(
  chatwoot: ChatwootApi,
  person: ChatwootPerson,
): Promise<ChatwootResult<ChatwootContact[]>> {
  const other = person.phone === null ? undefined : alternativeNumber(person.phone);
  if (other === undefined) return { ok: true, value: [] };
  const found = await chatwoot.findContacts([
    { attribute_key: "phone_number", value: `+${person.phone}` },
    { attribute_key: "phone_number", value: `+${other}` },
    { attribute_key: "identifier", value: person.jid },
  ]);
  if (found.ok) return { ok: true, value: found.value.payload };
  return isPassing(found.error) ? found : { ok: true, value: [] };
}

/** A contact that has only the other format of the number is the same person. */
async function useOtherFormat(
  chatwoot: ChatwootApi,
  { jid, phone }: ChatwootPerson,
  known: readonly ChatwootContact[],
): Promise<ChatwootResult<null>> {
  const oldest = oldestOf(known);
  const isThere = known.some(
    ({ phone_number, identifier }) => phone_number === `+${phone}` || identifier === jid,
  );
  if (!oldest || isThere) return { ok: true, value: null };
  return addToInbox(chatwoot, oldest.id, jid);
}

/** An existing membership is a success too. */
async function addToInbox(
  chatwoot: ChatwootApi,
  contactId: number,
  jid: string,
): Promise<ChatwootResult<null>> {
  const added = await chatwoot.addToInbox(contactId, jid);
  // Chatwoot returns 500 for a `source_id` of another contact, also on retries; the upsert finds that
  // contact.
  if (added.ok || added.error.status_code === 500 || !isPassing(added.error))
    return { ok: true, value: null };
  return added;
}

/**
 * Returns the remaining contact: the oldest, whose values Chatwoot prefers, as agents have worked with it
 * longest.
 */
async function mergeVariants(
  chatwoot: ChatwootApi,
  found: ChatwootContact,
  known: readonly ChatwootContact[],
): Promise<number> {
  const others = known.filter(({ id }) => id !== found.id);
  const base = oldestOf([found, ...others]) ?? found;
  let contactId = found.id;
  for (const contact of [found, ...others]) {
    if (contact.id === base.id) continue;
    const merged = await chatwoot.mergeContacts(base.id, contact.id);
    if (merged.ok && contact.id === found.id) contactId = base.id;
    if (merged.ok && isBareName(base) && !isBareName(contact))
      await chatwoot.updateContact(base.id, { name: contact.name ?? "" });
  }
  return contactId;
}

function oldestOf(contacts: readonly ChatwootContact[]): ChatwootContact | undefined {
  return contacts.toSorted((one, other) => one.id - other.id)[0];
}

/** A name that was not typed by an agent. */
function isBareName({ name }: ChatwootContact): boolean {
  return /^(\+?\d*|WhatsApp)$/.test(name ?? "");
}

/** Uses the existing contact with this phone or identifier, which the inbox does not contain yet. */
async function useExisting(
  chatwoot: ChatwootApi,
  person: ChatwootPerson,
  error: ChatwootError,
): Promise<ChatwootResult<ChatwootContact>> {
  const { phone, jid } = person;
  const byPhone = phone === null ? undefined : await findBy(chatwoot, "phone_number", `+${phone}`);
  const found = byPhone ?? (await findBy(chatwoot, "identifier", jid));
  if (!found) return { ok: false, error };
  const added = await addToInbox(chatwoot, found.id, jid);
  return added.ok ? { ok: true, value: found } : added;
}

async function findBy(
  chatwoot: ChatwootApi,
  attribute_key: ContactFilter["attribute_key"],
  value: string,
): Promise<ChatwootContact | undefined> {
  const found = await chatwoot.findContacts([{ attribute_key, value }]);
  return found.ok ? found.value.payload[0] : undefined;
}

/**
 * Updates later changes: a phone behind a LID, or another name. Returns only the contact that is current from
 * now on. A rejected update never stops a message.
 */
export async function updateContact(
  { chatwoot }: ContactOptions,
  known: MappedContact,
  person: ChatwootPerson,
): Promise<MappedContact> {
  const current =
    known.phone === null && person.phone ? await addPhone(chatwoot, known, person.phone) : known;
  const name = nameOf(person);
  if (name === current.name || (person.name === null && !person.is_group)) return current;
  const shown = await chatwoot.contact(current.contact_id);
  const now = shown.ok ? (shown.value.payload.name ?? "") : undefined;
  const isSetByGateway =
    now !== undefined && ["", current.name, person.phone, `+${person.phone}`].includes(now);
  if (isSetByGateway) await chatwoot.updateContact(current.contact_id, { name });
  return { ...current, name };
}

/** The contact with the phone remains. */
async function addPhone(chatwoot: ChatwootApi, known: MappedContact, phone: string): Promise<MappedContact> {
  const phone_number = `+${phone}`;
  const updated = await chatwoot.updateContact(known.contact_id, { phone_number });
  if (updated.ok) return { ...known, phone };
  if (updated.error.reason !== "taken") return known;
  const owner = await findBy(chatwoot, "phone_number", phone_number);
  if (!owner || owner.id === known.contact_id) return known;
  const merged = await chatwoot.mergeContacts(owner.id, known.contact_id);
  return merged.ok ? { ...known, contact_id: owner.id, phone } : known;
}

function isPassing({ failure }: ChatwootError): boolean {
  return failure.final === undefined;
}
