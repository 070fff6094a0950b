import { deserialize, serialize } from "node:v8";
import { sql } from "kysely";
import type { Trx } from "../../platform/db.ts";
import { GatewayError } from "../../platform/errors.ts";
import type { SecretBox } from "../../platform/secret-box.ts";

/** A request of an account that may come twice: same route, key and body have one answer, for 24 hours. */
export interface OnceRequest {
  account_id: number;
  route: string;
  key: string;
  /** Hex SHA-256 of the body. */
  fingerprint: string;
}

/**
 * Claims the key in the transaction of what it stands for; undefined: it was free. Else the answer of the first request,
 * whose end has been waited for. Throws IDEMPOTENCY_MISMATCH for another body.
 */
export async function claimAnswer(
  trx: Trx,
  box: SecretBox,
  { account_id, route, key, fingerprint }: OnceRequest,
): Promise<{ answer: unknown } | undefined> {
  const digest = Buffer.from(fingerprint, "hex");
  const claimed = await sql`
    insert into account_idempotency as i (account_id, route, key, fingerprint)
    values (${account_id}, ${route}, ${key}, ${digest})
    on conflict (account_id, route, key) do update
      set fingerprint = excluded.fingerprint, answer = null, created_at = now()
      where i.created_at < now() - interval '24 hours'
    returning i.key`.execute(trx);
  if (claimed.rows.length > 0) return undefined;
  const first = await trx
    .selectFrom("account_idempotency")
    .select(["fingerprint", "answer"])
    .where("account_id", "=", account_id)
    .where("route", "=", route)
    .where("key", "=", key)
    .executeTakeFirstOrThrow();
  if (!first.fingerprint.equals(digest)) {
    throw new GatewayError("IDEMPOTENCY_MISMATCH", "The Idempotency-Key was used with another body.");
  }
  if (!first.answer) throw new Error("An answer was claimed and committed without being kept.");
  return { answer: deserialize(Buffer.from(box.open(first.answer), "base64")) };
}

/** Keeps the answer, sealed, since it may hold what is shown once. */
export async function keepAnswer(
  trx: Trx,
  box: SecretBox,
  { account_id, route, key }: OnceRequest,
  answer: unknown,
): Promise<void> {
  await trx
    .updateTable("account_idempotency")
    .set({ answer: box.seal(serialize(answer).toString("base64")) })
    .where("account_id", "=", account_id)
    .where("route", "=", route)
    .where("key", "=", key)
    .execute();
}
