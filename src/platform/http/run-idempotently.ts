import { deserialize, serialize } from "node:v8";
import { sql } from "kysely";
import type { Db, Trx } from "../db/database.ts";
import { GatewayError } from "../gateway-error.ts";
import { type EncryptionContext, encryptionContextOf, type SecretBox } from "../secrets/secret-box.ts";
import { OkResponse } from "./handler.ts";

/** A repeatable request: the same route, key and body get the same response for 24 hours. */
export interface IdempotentRequest {
  account_id: number;
  route: string;
  key: string;
  /** Hex SHA-256 of the body. */
  fingerprint: string;
}

/**
 * Claims the key in the transaction of its request; undefined: the key was free. Else waits for the first
 * request and returns its response. Throws IDEMPOTENCY_MISMATCH for another body.
 */
export async function claimIdempotencyKey(
  trx: Trx,
  box: SecretBox,
  { account_id, route, key, fingerprint }: IdempotentRequest,
): Promise<{ response: unknown } | undefined> {
  const digest = Buffer.from(fingerprint, "hex");
  // The first request may take longer than other statements wait for a locked row.
  await sql`set local lock_timeout = '10s'`.execute(trx);
  const claimed = await sql`
    insert into account_idempotency as i (account_id, route, key, fingerprint)
    values (${account_id}, ${route}, ${key}, ${digest})
    on conflict (account_id, route, key) do update
      set fingerprint = excluded.fingerprint, response = null, created_at = now()
      where i.created_at < now() - interval '24 hours'
    returning i.key`.execute(trx);
  if (claimed.rows.length > 0) return undefined;
  const earlier = await findStoredResponse(trx, box, { account_id, route, key, fingerprint });
  if (!earlier) throw new Error("A claimed Idempotency-Key has gone.");
  return earlier;
}

/** The stored response of the key; undefined: none. Throws IDEMPOTENCY_MISMATCH for another body. */
export async function findStoredResponse(
  db: Db | Trx,
  box: SecretBox,
  { account_id, route, key, fingerprint }: IdempotentRequest,
): Promise<{ response: unknown } | undefined> {
  const first = await db
    .selectFrom("account_idempotency")
    .select(["fingerprint", "response"])
    .where("account_id", "=", account_id)
    .where("route", "=", route)
    .where("key", "=", key)
    .where("created_at", ">=", sql<Date>`now() - interval '24 hours'`)
    .executeTakeFirst();
  if (!first) return undefined;
  if (!first.fingerprint.equals(Buffer.from(fingerprint, "hex"))) {
    throw new GatewayError(
      "IDEMPOTENCY_MISMATCH",
      "The Idempotency-Key was already used with another body. Use a new key for a new request.",
    );
  }
  if (!first.response) throw new Error("The Idempotency-Key was claimed and committed without a response.");
  return {
    response: deserialize(
      Buffer.from(box.open(first.response, responseContext({ account_id, route, key })), "base64"),
    ),
  };
}

/** Stores the response sealed, since it may contain a secret that is shown once. */
export async function storeResponse(
  trx: Trx,
  box: SecretBox,
  { account_id, route, key }: IdempotentRequest,
  response: unknown,
): Promise<void> {
  const context = responseContext({ account_id, route, key });
  await trx
    .updateTable("account_idempotency")
    .set({ response: box.seal(serialize(response).toString("base64"), context) })
    .where("account_id", "=", account_id)
    .where("route", "=", route)
    .where("key", "=", key)
    .execute();
}

function responseContext({
  account_id,
  route,
  key,
}: Omit<IdempotentRequest, "fingerprint">): EncryptionContext {
  return encryptionContextOf("account_idempotency", "response", account_id, route, key);
}

/** Runs a request and stores its response in one commit, or returns the key's stored response. */
export async function runIdempotently<Answer>(
  { db, box }: { db: Db; box: SecretBox },
  once: IdempotentRequest | undefined,
  work: (trx: Trx) => Promise<Answer>,
): Promise<Answer | OkResponse<Answer>> {
  return db.transaction().execute(async (trx) => {
    const earlier = once && (await claimIdempotencyKey(trx, box, once));
    if (earlier) return replayedResponse(earlier.response as Answer);
    const response = await work(trx);
    if (once) await storeResponse(trx, box, once, response);
    return response;
  });
}

/** The response of an earlier request. */
export function replayedResponse<Answer>(response: Answer): OkResponse<Answer> {
  return new OkResponse(response, { headers: { "idempotent-replayed": "true" } });
}

/** A key is valid for 24 hours; one more hour lets a request that just found it read its response. */
export async function deleteExpiredResponses(db: Db): Promise<void> {
  await db
    .deleteFrom("account_idempotency")
    .where("created_at", "<", sql<Date>`now() - interval '25 hours'`)
    .execute();
}
