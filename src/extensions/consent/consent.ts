import { createHmac } from "node:crypto";
import { sql } from "kysely";
import { canonicalNumberOf, numberVariantsOf } from "../../core/contacts/contacts.ts";
import { lidJid } from "../../network/jid.ts";
import { loadSealedKey } from "../../platform/config/load-sealed-key.ts";
import type { Db, Trx } from "../../platform/db/database.ts";
import type { SecretBox } from "../../platform/secrets/secret-box.ts";

/** One word alone: a sentence that contains it is no opt-out. */
const OPT_OUT = /^["'\s]*(stop|sair|parar|cancelar)[."'!\s]*$/i;

/** The phones (digits) whose latest record for this purpose, as a phone or a lead, grants consent. */
export async function findConsenting(
  db: Db | Trx,
  accountId: number,
  purpose: string,
  phones: readonly string[],
): Promise<Set<string>> {
  if (phones.length === 0) return new Set();
  const rows = await db
    .selectFrom("consent_state")
    .select("subject")
    .where("account_id", "=", accountId)
    .where("purpose", "=", purpose)
    .where("subject", "in", phones.map(subjectOf))
    .where("granted", "=", true)
    .execute();
  const agreed = new Set(rows.map(({ subject }) => subject));
  return new Set(phones.filter((phone) => agreed.has(subjectOf(phone))));
}

/** All formats of a number are one subject of consent. */
function subjectOf(phone: string): string {
  return `phone:${canonicalNumberOf(phone)}`;
}

/** Carries what a lead decided over to its phone: a withdrawal always, a grant where the phone has no decision. */
export async function copyConsentToPhone(trx: Trx, leadId: number, phone: string): Promise<void> {
  await sql`
    insert into consent (account_id, lead_id, phone, purpose, consent_type, granted, text_version, text_hash, channel)
    select s.account_id, s.lead_id, ${phone}, s.purpose, s.consent_type, s.granted, s.text_version, s.text_hash, 'merge'
    from lead l join consent_state s on s.account_id = l.account_id and s.subject = 'lead:' || l.id
    left join consent_state p on p.account_id = s.account_id and p.purpose = s.purpose
      and p.subject = 'phone:' || canonical_number(${phone})
    where l.id = ${leadId} and p.granted is distinct from s.granted and (not s.granted or p.granted is null)`.execute(
    trx,
  );
}

/** A person who has opted out of campaigns. */
export interface SuppressedPerson {
  account_id: number;
  /** Digits, or the LID of a person whose phone is not known. */
  phone: string;
}

/** Opted-out phones, stored as digests only, so that the list survives an erasure of personal data. */
export interface SuppressionList {
  /** Adds the phones that are not on the list yet. */
  add(db: Db | Trx, persons: readonly SuppressedPerson[], reason: string): Promise<void>;
  remove(db: Db | Trx, person: SuppressedPerson & { lid: string | null }): Promise<void>;
  /** Those of the phones that are on the list. */
  findListed(db: Db | Trx, accountId: number, phones: readonly string[]): Promise<Set<string>>;
}

export async function createSuppressionList(db: Db, box: SecretBox): Promise<SuppressionList> {
  // A bare hash of a phone is undone in seconds by trying all phones; a keyed one needs the key.
  const pepper = await loadSealedKey(db, box, "suppression");
  const digestOf = ({ account_id, phone }: SuppressedPerson) =>
    createHmac("sha256", pepper)
      .update(`${account_id} ${canonicalNumberOf(phone)}`)
      .digest();

  return {
    async add(db, persons, reason) {
      const rows = persons
        .map((person) => ({ account_id: person.account_id, digest: digestOf(person) }))
        .sort((a, b) => a.account_id - b.account_id || Buffer.compare(a.digest, b.digest));
      await sql`
        insert into suppression (account_id, digest, reason)
        select account_id, digest, ${reason}
        from unnest(${rows.map((row) => row.account_id)}::bigint[], ${rows.map((row) => row.digest)}::bytea[])
          as x (account_id, digest)
        on conflict do nothing`.execute(db);
    },

    async remove(db, { account_id, phone, lid }) {
      const names = await findNames(db, account_id, lid === null ? [phone] : [phone, lid]);
      const digests = names.map(({ name }) => digestOf({ account_id, phone: name }));
      await db
        .deleteFrom("suppression")
        .where("account_id", "=", account_id)
        .where("digest", "in", digests)
        .execute();
    },

    async findListed(db, account_id, phones) {
      if (phones.length === 0) return new Set();
      const names = await findNames(db, account_id, phones);
      const digests = names.map(({ name }) => digestOf({ account_id, phone: name }));
      const rows = await db
        .selectFrom("suppression")
        .select("digest")
        .where("account_id", "=", account_id)
        .where("digest", "in", digests)
        .execute();
      const found = new Set(rows.map(({ digest }) => digest.toString("hex")));
      const listed = names.filter((_, at) => found.has(digests[at]?.toString("hex") ?? ""));
      return new Set(listed.map(({ phone }) => phone));
    },
  };
}

/**
 * Each phone, the same digits as those of a LID, and the LID under which the owner may have opted out before the phone was
 * known.
 */
async function findNames(
  db: Db | Trx,
  accountId: number,
  phones: readonly string[],
): Promise<{ phone: string; name: string }[]> {
  const forms = phones.flatMap((phone) => numberVariantsOf(phone).map((form) => ({ phone, form })));
  // Joined by equality, so that no plan compares each phone with each contact.
  const { rows } = await sql<{ phone: string; name: string }>`
    select x.phone, c.lid as name
    from unnest(${forms.map(({ phone }) => phone)}::text[], ${forms.map(({ form }) => form)}::text[]) as x (phone, form)
    join contact c on c.account_id = ${accountId} and c.phone = x.form and c.lid is not null`.execute(db);
  const own = phones.flatMap((phone) => [phone, lidJid(phone)].map((name) => ({ phone, name })));
  return [...own, ...rows];
}

/** Whether a contact who writes this text opts out of campaigns. */
export function isOptOut(text: string): boolean {
  return OPT_OUT.test(text);
}
