import { sql } from "kysely";
import type { Engine } from "../../../engine/engine.ts";
import type { Db, Trx } from "../../../platform/db/database.ts";
import { GatewayError } from "../../../platform/gateway-error.ts";
import { type Handlers, OkResponse } from "../../../platform/http/handler.ts";
import {
  microsecondsOf,
  readPage,
  readTimeCursor,
  type TimeCursor,
  timeCursorRow,
  toTimeCursor,
} from "../../../platform/http/input/pagination.ts";
import { recordEvents } from "../../events/events.ts";
import type { messagesContract } from "../contract.ts";
import { isNamed, type MessageRow, selectMessages, toStoredMessageView } from "../log/message-view.ts";
import { scheduledGroup } from "../send/insert-messages.ts";
import { deleteOutgoing } from "../send/outgoing-file.ts";
import { readTimes, type Schedule } from "../send/prepare/read-schedule.ts";
import { outcomeEvents } from "../send/record-outcome.ts";
import { SEND_ERROR } from "../send/send-error.ts";

export interface ScheduledDeps {
  db: Db;
  engine: Engine;
}

type ScheduledHandlers = Pick<
  Handlers<typeof messagesContract>,
  "listScheduled" | "changeScheduled" | "cancelScheduled"
>;

/** Lists, moves and cancels messages that wait for their time. */
export function scheduledHandlers({ db, engine }: ScheduledDeps): ScheduledHandlers {
  return {
    async listScheduled({ input: { id, ...page } }) {
      const { rows, pagination } = await readPage(
        page,
        ({ limit, cursor }) => readScheduled(db, id, limit, cursor),
        toTimeCursor,
      );
      return new OkResponse(rows.map(toScheduledView), { beside: { pagination } });
    },

    async changeScheduled({ input: { id, messageId, send_at, expires_at } }) {
      const { row, lane } = await db.transaction().execute(async (trx) => {
        const found = await lockScheduled(trx, id, messageId);
        await moveTo(trx, found, await readTimes(trx, send_at, expires_at));
        return {
          row: await selectMessages(trx).where("m.id", "=", found.id).executeTakeFirstOrThrow(),
          lane: found.lane,
        };
      });
      engine.wake([lane], { changed: true });
      return toScheduledView(row);
    },

    async cancelScheduled({ input: { id, messageId } }) {
      const { message, lanes } = await db.transaction().execute(async (trx) => {
        const found = await lockScheduled(trx, id, messageId);
        return { message: found, lanes: await cancel(trx, found) };
      });
      engine.wake(lanes);
      return { message_id: message.message_id, jid: message.jid, status: "cancelled" };
    },
  };
}

function readScheduled(
  db: Db,
  instanceId: number,
  limit: number,
  cursor: string | undefined,
): Promise<(MessageRow & TimeCursor)[]> {
  const after = readTimeCursor(cursor);
  return selectMessages(db)
    .select(microsecondsOf(sql`m.send_at`).as("at"))
    .where("m.instance_id", "=", instanceId)
    .where("m.status", "=", "scheduled")
    .$if(after !== undefined, (rest) =>
      rest.where(sql<boolean>`(m.send_at, m.id) > ${timeCursorRow(after ?? { at: 0, id: 0 })}`),
    )
    .orderBy("m.send_at")
    .orderBy("m.id")
    .limit(limit)
    .$castTo<MessageRow & TimeCursor>()
    .execute();
}

function toScheduledView(row: MessageRow) {
  return { ...toStoredMessageView(row), expires_at: row.deadline?.toISOString() ?? null };
}

interface ScheduledMessage {
  id: number;
  message_id: string;
  jid: string;
  status: string;
  upload: string | null;
  /** The lane of its job. */
  lane: number;
}

/** Locks the message, so that it cannot become due meanwhile. Throws MESSAGE_NOT_FOUND and CONFLICT. */
async function lockScheduled(trx: Trx, instanceId: number, messageId: string): Promise<ScheduledMessage> {
  const { rows } = await sql<ScheduledMessage>`
    select m.id, m.message_id, m.jid, m.status, m.content ->> 'upload' as upload, i.lane
    from message m join instance i on i.id = m.instance_id
    where m.instance_id = ${instanceId} and ${isNamed(messageId)} order by m.id limit 1
    for update of m`.execute(trx);
  const [found] = rows;
  if (!found) throw new GatewayError("MESSAGE_NOT_FOUND", "There is no such message.");
  if (found.status === "scheduled") return found;
  const sentence =
    found.status === "cancelled"
      ? "The message is already cancelled."
      : "The message is no longer scheduled.";
  throw new GatewayError("CONFLICT", sentence, { details: { status: found.status } });
}

/** Its time to begin stays as long as it was, unless the request says otherwise. */
async function moveTo(
  trx: Trx,
  { id, lane }: ScheduledMessage,
  { send_at, hold_ms }: Schedule,
): Promise<void> {
  const hold =
    hold_ms === undefined ? sql`(deadline - send_at)` : sql`${hold_ms}::float8 * interval '1 millisecond'`;
  await sql`
    update message set send_at = ${send_at}, deadline = ${send_at}::timestamptz + ${hold} where id = ${id}`.execute(
    trx,
  );
  await sql`update job set run_at = ${send_at} where ${isJobOf(lane, id)}`.execute(trx);
}

/** Returns the lanes to wake after the commit. */
async function cancel(trx: Trx, { id, lane, upload }: ScheduledMessage): Promise<number[]> {
  await sql`
    update message set status = 'cancelled', outcome_at = now(), content = content - 'upload',
      error = ${JSON.stringify(SEND_ERROR.cancelled)}::jsonb
    where id = ${id}`.execute(trx);
  await sql`delete from job where ${isJobOf(lane, id)}`.execute(trx);
  if (upload !== null) await deleteOutgoing(trx, [upload]);
  return recordEvents(trx, await outcomeEvents(trx, [{ id }]));
}

/** For the table `job`: it waits for the time of this message. */
function isJobOf(lane: number, message: number) {
  return sql`lane = ${lane} and prio = 1 and grp = ${scheduledGroup(message)} and ref ->> 'do' = 'send'`;
}
