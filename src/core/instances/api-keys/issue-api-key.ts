import { type RawBuilder, sql } from "kysely";
import type { Db, Trx } from "../../../platform/db/database.ts";
import { GatewayError } from "../../../platform/gateway-error.ts";
import { statementHooks } from "../../statement-hooks.ts";
import { createApiKey, digestApiKey } from "./api-key.ts";

interface IssuedKey {
  scope?: "instance" | "account" | undefined;
  /** The key before it created it, and no user. */
  is_renewed_by_key?: boolean;
}

/** Gives an instance a key; only this result contains it. */
export async function issueApiKey(
  trx: Trx,
  instance: { id: number; account_id: number },
  { scope = "instance", is_renewed_by_key = false }: IssuedKey = {},
): Promise<{ id: number; api_key: string }> {
  const api_key = createApiKey();
  const { id } = await trx
    .insertInto("api_key")
    .values({
      account_id: instance.account_id,
      instance_id: instance.id,
      scope,
      is_renewed_by_key,
      digest: digestApiKey(api_key),
      last4: api_key.slice(-4),
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  return { id, api_key };
}

/**
 * Keeps a key valid until the commit, so that a renewal also sees what the key makes. The transaction may have begun
 * before the renewal for which it waits here, so its own time says nothing. Throws INVALID_API_KEY.
 */
export async function holdApiKey(trx: Trx, id: number): Promise<void> {
  await trx
    .selectFrom("api_key")
    .select("id")
    .where("id", "=", id)
    .where(({ eb, or }) =>
      or([eb("expires_at", "is", null), eb("expires_at", ">", sql<Date>`clock_timestamp()`)]),
    )
    .forShare()
    .executeTakeFirstOrThrow(
      () =>
        new GatewayError(
          "INVALID_API_KEY",
          "The API key has ended meanwhile. Use the instance's current key.",
        ),
    );
}

export interface KeyRotation {
  /** From now until the old keys end. */
  graceSeconds: number;
  /** Whether the keys of descendants end with them. */
  endsDescendants: boolean;
  /** The old key asked for it, and no user. */
  isByKey: boolean;
  /** Whether links for pairing end too, since the old key may have made them. */
  endsLinks: boolean;
}

/**
 * Ends the instance's keys, at once or later, and issues one of the same scope. Returns the digests of the ended
 * keys. The caller holds the lock on the instance's row.
 */
export async function rotateApiKey(
  trx: Trx,
  instance: { id: number; account_id: number },
  { graceSeconds, endsDescendants, isByKey, endsLinks }: KeyRotation,
): Promise<{ api_key: string; ended: Buffer[] }> {
  const deadline = sql<Date>`now() + make_interval(secs => ${graceSeconds})`;
  const ended = await trx
    .updateTable("api_key")
    .set({ expires_at: sql`least(expires_at, ${deadline})` })
    .where("instance_id", "=", instance.id)
    .returning(["id", "digest", "scope"])
    .execute();
  const newest = ended.toSorted((a, b) => b.id - a.id)[0];
  await trx
    .deleteFrom("api_key")
    .where("instance_id", "=", instance.id)
    .where("expires_at", "<=", sql<Date>`now()`)
    .execute();
  const digests = ended.map(({ digest }) => digest);
  if (endsDescendants) digests.push(...(await endDescendants(trx, instance.id, deadline)));
  if (endsLinks) await endKeyAccess(trx, instance.id, endsDescendants);
  const { api_key } = await issueApiKey(trx, instance, {
    scope: newest?.scope,
    is_renewed_by_key: isByKey,
  });
  return { api_key, ended: digests };
}

/** Ends the keys of descendants at once, and what they have made. Returns the digests of the keys. */
export async function endDescendantAccess(trx: Trx, id: number): Promise<Buffer[]> {
  const ended = await endDescendants(trx, id, sql<Date>`now()`);
  await endKeyAccess(trx, id, true);
  return ended;
}

/** A key that makes an instance now delays the statement, so the next one finds the new instance: until there is none. */
async function endDescendants(trx: Trx, id: number, deadline: RawBuilder<Date>): Promise<Buffer[]> {
  const ended: Buffer[] = [];
  for (;;) {
    const { rows } = await sql<{ digest: Buffer }>`
      ${descendantsOf(id)}
      update api_key set expires_at = ${deadline}
      where instance_id in (select id from descendant) and coalesce(expires_at, 'infinity') > ${deadline}
      returning digest`.execute(trx);
    if (rows.length === 0) return ended;
    ended.push(...rows.map(({ digest }) => digest));
  }
}

/** Ends what the ended keys have made. */
async function endKeyAccess(trx: Trx, id: number, ofDescendants: boolean): Promise<void> {
  const instances = sql`
    ${descendantsOf(id)} select ${id}::bigint union all select id from descendant where ${ofDescendants}`;
  for (const end of statementHooks().endKeyAccess) await end(trx, instances);
}

/** Instances that were created with keys of this instance, or with keys of such instances, newest first. */
export async function findDescendants(
  db: Db | Trx,
  id: number,
  limit: number,
): Promise<{ count: number; newest: { id: number; name: string }[] }> {
  const { rows } = await sql<{ id: number; name: string; count: number }>`
    ${descendantsOf(id)}
    select i.id, i.name, count(*) over () as count from instance i join descendant using (id)
    where i.removed_at is null order by i.id desc limit ${limit}`.execute(db);
  return { count: rows[0]?.count ?? 0, newest: rows.map(({ id, name }) => ({ id, name })) };
}

function descendantsOf(id: number): RawBuilder<unknown> {
  return sql`with recursive descendant as (
    select id from instance where parent_instance_id = ${id}
    union select i.id from instance i join descendant d on i.parent_instance_id = d.id)`;
}
