import { createHash } from "node:crypto";
import { sql } from "kysely";
import type { Db } from "../../platform/db.ts";
import { GatewayError } from "../../platform/errors.ts";
import { type MessageRow, selectMessages } from "./message-view.ts";

/** The request that a key stands for: same route, key and body are the same message, for 24 hours. */
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

/** The message that an earlier request with the key has left; the same key with another body is refused. */
export async function findEarlier(
  db: Db,
  instanceId: number,
  { route, key, fingerprint }: IdempotencyKey,
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
  if (row && found.fingerprint.toString("hex") !== fingerprint) {
    throw new GatewayError("IDEMPOTENCY_MISMATCH", "The Idempotency-Key was used with another body.");
  }
  return row;
}

function fingerprint(body: unknown): string {
  return createHash("sha256").update(canonicalJson(body)).digest("hex");
}

/** JSON with the keys of each object in one order. */
function canonicalJson(value: unknown): string {
  if (value instanceof Uint8Array) return createHash("sha256").update(value).digest("hex");
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const entries = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, field]) => `${JSON.stringify(key)}:${canonicalJson(field)}`).join(",")}}`;
}
