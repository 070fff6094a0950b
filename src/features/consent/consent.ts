import { createHmac } from "node:crypto";
import { sql } from "kysely";
import type { Db, Trx } from "../../platform/db.ts";
import { readKeptKey } from "../../platform/kept-key.ts";
import type { SecretBox } from "../../platform/secret-box.ts";
import { otherSpelling } from "../contacts/contacts.ts";

/** Those of the phones (digits) whose last word on this purpose, as persons or as leads, is that they agree. */
export async function findConsenting(
  db: Db | Trx,
  accountId: number,
  purpose: string,
  phones: readonly string[],
): Promise<Set<string>> {
  if (phones.length === 0) return new Set();
  const rows = await db
    .selectFrom("consent_state")
    .select("phone")
    .where("account_id", "=", accountId)
    .where("purpose", "=", purpose)
    .where(
      "subject",
      "in",
      phones.map((phone) => `phone:${phone}`),
    )
    .where("granted", "=", true)
    .execute();
  return new Set(rows.flatMap(({ phone }) => phone ?? []));
}

/** Somebody who is not to be written to by campaigns. */
export interface Suppressed {
  account_id: number;
  /** Digits. */
  phone: string;
}

/** Phones that have opted out, kept as digests only, so that the list stays when the people's data are erased. */
export interface Suppression {
  /** Adds to the list what is not on it yet. */
  add(db: Db | Trx, people: readonly Suppressed[], reason: string): Promise<void>;
  remove(db: Db | Trx, person: Suppressed): Promise<void>;
  /** Those of the phones that are on the list. */
  among(db: Db | Trx, accountId: number, phones: readonly string[]): Promise<Set<string>>;
}

export async function createSuppression(db: Db, box: SecretBox): Promise<Suppression> {
  // A bare hash of a phone is undone in seconds by trying all phones; a keyed one needs the key.
  const pepper = await readKeptKey(db, box, "suppression");
  const digestOf = ({ account_id, phone }: Suppressed) =>
    createHmac("sha256", pepper)
      .update(`${account_id} ${oneSpelling(phone)}`)
      .digest();

  return {
    async add(db, people, reason) {
      const rows = people
        .map((person) => ({ account_id: person.account_id, digest: digestOf(person) }))
        .sort((a, b) => a.account_id - b.account_id || Buffer.compare(a.digest, b.digest));
      await sql`
        insert into suppression (account_id, digest, reason)
        select account_id, digest, ${reason}
        from unnest(${rows.map((row) => row.account_id)}::bigint[], ${rows.map((row) => row.digest)}::bytea[])
          as x (account_id, digest)
        on conflict do nothing`.execute(db);
    },

    async remove(db, person) {
      await db
        .deleteFrom("suppression")
        .where("account_id", "=", person.account_id)
        .where("digest", "=", digestOf(person))
        .execute();
    },

    async among(db, account_id, phones) {
      if (phones.length === 0) return new Set();
      const digests = new Map(phones.map((phone) => [phone, digestOf({ account_id, phone })]));
      const rows = await db
        .selectFrom("suppression")
        .select("digest")
        .where("account_id", "=", account_id)
        .where("digest", "in", [...digests.values()])
        .execute();
      const found = new Set(rows.map(({ digest }) => digest.toString("hex")));
      return new Set(phones.filter((phone) => found.has(digests.get(phone)?.toString("hex") ?? "")));
    },
  };
}

/** A number that can be written in two ways is one number. */
function oneSpelling(phone: string): string {
  return [phone, otherSpelling(phone) ?? phone].toSorted()[0] ?? phone;
}
