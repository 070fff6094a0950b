import { sql } from "kysely";
import type { Trx } from "../../platform/db/database.ts";
import { createApiKey, digestApiKey } from "./api-key.ts";

/** Gives an instance a key; only this result contains it. */
export async function issueApiKey(
  trx: Trx,
  instance: { id: number; account_id: number },
  scope: "instance" | "account" = "instance",
): Promise<{ id: number; api_key: string }> {
  const api_key = createApiKey();
  const { id } = await trx
    .insertInto("api_key")
    .values({
      account_id: instance.account_id,
      instance_id: instance.id,
      scope,
      digest: digestApiKey(api_key),
      last4: api_key.slice(-4),
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  return { id, api_key };
}

/**
 * Ends the instance's keys, at once or `graceSeconds` from now, and issues one of the same scope. Returns the
 * digests of the ended keys. The caller holds the lock on the instance's row.
 */
export async function rotateApiKey(
  trx: Trx,
  instance: { id: number; account_id: number },
  graceSeconds: number,
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
  const { api_key } = await issueApiKey(trx, instance, newest?.scope);
  return { api_key, ended: ended.map(({ digest }) => digest) };
}
