import { otherSpelling } from "../../contacts/contacts.ts";
import type { Answer, Chatwoot } from "./api.ts";
import type { Refusal } from "./refusal.ts";

/** Somebody, or a group, as WhatsApp knows them. */
export interface Person {
  /** By phone where that is known. */
  jid: string;
  phone: string | null;
  lid: string | null;
  /** The name that they go by. */
  name: string | null;
  is_group: boolean;
}

/** A contact in Chatwoot, as we remember it. */
export interface KnownContact {
  contact_id: number;
  /** What the inbox calls the contact; it stays also when its phone becomes known later. */
  source_id: string;
  /** The name that we gave last; one that an agent typed is not ours to change. */
  name: string;
  phone: string | null;
}

interface PeopleOptions {
  chatwoot: Chatwoot;
  mergeBrazil: boolean;
  pictureOf(person: Person): Promise<string | undefined>;
}

/** Finds or makes the contact of somebody. Safe to repeat. */
export async function makeContact(options: PeopleOptions, person: Person): Promise<Answer<KnownContact>> {
  const { chatwoot, mergeBrazil, pictureOf } = options;
  const source_id = person.jid;
  const adopted = await adoptOtherSpelling(options, person);
  if (!adopted.ok) return adopted;
  const name = nameOf(person);
  const avatar_url = await pictureOf(person);
  const given = {
    ...{ source_id, identifier: person.jid, name },
    ...(person.phone && { phone_number: `+${person.phone}` }),
    ...(avatar_url && { avatar_url }),
  };
  const made = await chatwoot.upsertContact(given);
  const found =
    made.ok || made.refusal.reason !== "taken" ? made : await adopt(chatwoot, person, made.refusal);
  if (!found.ok) return found;
  if (mergeBrazil) await mergeSpellings(chatwoot, person, found.value.id);
  return { ok: true, value: { contact_id: found.value.id, source_id, name, phone: person.phone } };
}

/** A phone, never a LID: those are as long, and Chatwoot would take one for a number. */
function nameOf({ name, phone, jid, is_group }: Person): string {
  if (is_group) return `${name ?? jid.split("@")[0]} (GROUP)`;
  return name ?? (phone === null ? "WhatsApp" : `+${phone}`);
}

/** Somebody who is there under the other spelling of the number is the same person. */
async function adoptOtherSpelling({ chatwoot }: PeopleOptions, person: Person): Promise<Answer<null>> {
  const other = person.phone === null ? undefined : otherSpelling(person.phone);
  if (other === undefined) return { ok: true, value: null };
  const found = await chatwoot.findContacts("phone_number", [`+${person.phone}`, `+${other}`]);
  if (!found.ok) return isPassing(found.refusal) ? found : { ok: true, value: null };
  const [first] = found.value.payload;
  const isExact = found.value.payload.some((one) => one.phone_number === `+${person.phone}`);
  if (!first || isExact) return { ok: true, value: null };
  const added = await chatwoot.addToInbox(first.id, person.jid);
  return added.ok || !isPassing(added.refusal) ? { ok: true, value: null } : added;
}

async function mergeSpellings(chatwoot: Chatwoot, { phone }: Person, base: number): Promise<void> {
  const other = phone === null ? undefined : otherSpelling(phone);
  if (other === undefined) return;
  const found = await chatwoot.findContacts("phone_number", [`+${other}`]);
  const twin = found.ok ? found.value.payload.find(({ id }) => id !== base) : undefined;
  if (twin) await chatwoot.mergeContacts(base, twin.id);
}

/** The phone or the identifier is somebody's whom the inbox does not know yet. */
async function adopt(chatwoot: Chatwoot, person: Person, refusal: Refusal) {
  const byPhone =
    person.phone === null ? undefined : await chatwoot.findContacts("phone_number", [`+${person.phone}`]);
  const owner = byPhone?.ok ? byPhone.value.payload[0] : undefined;
  const byName = owner ? undefined : await chatwoot.findContacts("identifier", [person.jid]);
  const found = owner ?? (byName?.ok ? byName.value.payload[0] : undefined);
  if (!found) return { ok: false as const, refusal };
  const added = await chatwoot.addToInbox(found.id, person.jid);
  if (!added.ok && isPassing(added.refusal)) return added;
  return { ok: true as const, value: found };
}

/**
 * What became known of somebody since: a phone behind a private address, or another name. Only the contact that this is
 * from now on is answered; that an update is refused never stops a message.
 */
export async function refreshContact(
  { chatwoot }: PeopleOptions,
  known: KnownContact,
  person: Person,
): Promise<KnownContact> {
  const learned =
    known.phone === null && person.phone ? await addPhone(chatwoot, known, person.phone) : known;
  const name = nameOf(person);
  if (name === learned.name || (person.name === null && !person.is_group)) return learned;
  const shown = await chatwoot.contact(learned.contact_id);
  const now = shown.ok ? (shown.value.payload.name ?? "") : undefined;
  const isOurs = now !== undefined && ["", learned.name, person.phone, `+${person.phone}`].includes(now);
  if (isOurs) await chatwoot.updateContact(learned.contact_id, { name });
  return { ...learned, name };
}

/** The one with the phone is the one that stays. */
async function addPhone(chatwoot: Chatwoot, known: KnownContact, phone: string): Promise<KnownContact> {
  const phone_number = `+${phone}`;
  const updated = await chatwoot.updateContact(known.contact_id, { phone_number });
  if (updated.ok) return { ...known, phone };
  if (updated.refusal.reason !== "taken") return known;
  const found = await chatwoot.findContacts("phone_number", [phone_number]);
  const owner = found.ok ? found.value.payload[0] : undefined;
  if (!owner || owner.id === known.contact_id) return known;
  const merged = await chatwoot.mergeContacts(owner.id, known.contact_id);
  return merged.ok ? { ...known, contact_id: owner.id, phone } : known;
}

function isPassing({ verdict }: Refusal): boolean {
  return verdict.verdict === "retry";
}
