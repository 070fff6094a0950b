import { sql } from "kysely";
import type { Db, Trx } from "../../../../platform/db/database.ts";
import { invalidField } from "../../../../platform/gateway-error.ts";
import type { SendInput } from "./read-content.ts";

const DAYS_AHEAD = 366;
/** Of one instance: each of its reads of jobs passes over them. */
const MOST_SCHEDULED = 10_000;
const LONGEST_HOLD_MS = 7 * 86_400_000;

/** When a send is due, and how long after that it may begin; undefined: as long as any async send. */
export interface Schedule {
  send_at: Date;
  hold_ms: number | undefined;
}

/** The schedule of a send; undefined: it goes out now. Throws VALIDATION_ERROR. */
export async function readSchedule(
  db: Db,
  instanceId: number,
  input: Pick<SendInput, "send_at" | "expires_at" | "async" | "async_send" | "send_async" | "mode">,
): Promise<Schedule | undefined> {
  const { send_at, expires_at, async, async_send, send_async, mode } = input;
  if (send_at === undefined) {
    if (expires_at === undefined) return undefined;
    throw invalidField(
      "expires_at",
      "needs send_at: only a scheduled message can expire",
      "not_allowed_here",
    );
  }
  if (mode === "sync" || [async, async_send, send_async].includes(false))
    throw invalidField(
      "send_at",
      "is not possible in a synchronous send: leave out async, or send async true",
      "not_allowed_here",
    );
  const schedule = await readTimes(db, send_at, expires_at);
  const { rows } = await sql`
    select from message where instance_id = ${instanceId} and status = 'scheduled'
    offset ${MOST_SCHEDULED - 1} limit 1`.execute(db);
  if (rows.length > 0)
    throw invalidField(
      "send_at",
      `is refused: ${MOST_SCHEDULED} messages of the instance are scheduled`,
      "too_many",
      {
        max: MOST_SCHEDULED,
      },
    );
  return schedule;
}

/** Checks the times against the clock of the database, which also decides when a message is due. */
export async function readTimes(
  db: Db | Trx,
  sendAt: string,
  expiresAt: string | undefined,
): Promise<Schedule> {
  const send_at = new Date(sendAt);
  const { rows } = await sql<{ now: Date; last: Date }>`
    select now() as now, now() + ${DAYS_AHEAD} * interval '1 day' as last`.execute(db);
  const { now = send_at, last = send_at } = rows[0] ?? {};
  if (send_at <= now) throw invalidField("send_at", "is in the past", "too_low", { min: now.toISOString() });
  if (send_at > last)
    throw invalidField("send_at", `is more than ${DAYS_AHEAD} days from now`, "too_high", {
      max: last.toISOString(),
    });
  if (expiresAt === undefined) return { send_at, hold_ms: undefined };
  const hold_ms = Date.parse(expiresAt) - send_at.getTime();
  if (hold_ms <= 0)
    throw invalidField("expires_at", "is not after send_at", "too_low", { min: send_at.toISOString() });
  if (hold_ms > LONGEST_HOLD_MS)
    throw invalidField("expires_at", "is more than 7 days after send_at", "too_high", {
      max: new Date(send_at.getTime() + LONGEST_HOLD_MS).toISOString(),
    });
  return { send_at, hold_ms };
}
