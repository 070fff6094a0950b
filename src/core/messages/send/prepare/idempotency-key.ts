import { sql } from "kysely";
import type { Db } from "../../../../platform/db/database.ts";
import { GatewayError } from "../../../../platform/gateway-error.ts";
import { fingerprint } from "../../../../platform/secrets/fingerprint.ts";
import { type MessageRow, selectMessages } from "../../log/message-view.ts";

/** The key of a request: for 24 hours, the same route, key and body identify the same message. */
export interface IdempotencyKey {
  route: string;
  key: string;
  /** Hex SHA-256 of the body. */
  fingerprint: string;
}

/** The key of a request: its header, else the client's own message id. */
export function idempotencyOf(
  route: string,
  header: string | undefined,
  input: { client_message_id?: string },
): IdempotencyKey | null {
  const key = header ? `key:${header}` : input.client_message_id && `client:${input.client_message_id}`;
  return key ? { route, key, fingerprint: fingerprint(input) } : null;
}

/** The message of an earlier request with the key. Throws if that request had another body. */
export async function findEarlierMessage(
  db: Db,
  instanceId: number,
  { route, key, fingerprint: expected }: IdempotencyKey,
): Promise<MessageRow | undefined> {
  const found = await db
    .selectFrom("idempotency")
    .select(["message", "fingerprint"])
    .where("instance_id", "=", instanceId)
    .where("route", "=", route)
    .where("key", "=", key)
    .where("created_at", ">", sql<Date>`now() - interval '24 hours'`)
    .executeTakeFirst();
  const row = found && (await selectMessages(db).where("m.id", "=", found.message).executeTakeFirst());
  if (row && found.fingerprint.toString("hex") !== expected) {
    throw new GatewayError(
      "IDEMPOTENCY_MISMATCH",
      key.startsWith("client:")
        ? "The client_message_id was already used with another body. Use a new id for a new message."
        : "The Idempotency-Key was already used with another body. Use a new key for a new request.",
    );
  }
  return row;
}

/** Keys count for 24 hours; in one more hour, a request that has just read a key finds its message. */
export async function deleteExpiredKeys(db: Db): Promise<void> {
  await db
    .deleteFrom("idempotency")
    .where("created_at", "<", sql<Date>`now() - interval '25 hours'`)
    .execute();
}
