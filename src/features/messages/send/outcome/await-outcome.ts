import { sql } from "kysely";
import { createBatchLoader } from "../../../../engine/batch-queue.ts";
import type { Engine } from "../../../../engine/engine.ts";
import { type Db, isTransientDatabaseError, type Trx } from "../../../../platform/db/database.ts";
import { PREPARED_STATEMENT } from "../../../../platform/db/prepared-statement.ts";
import { recordEvents } from "../../../events/events.ts";
import { selectMessages } from "../../log/message-view.ts";
import { failedEvent } from "../../message-events.ts";
import { deleteOutgoing } from "../outgoing-file.ts";
import { SEND_ERROR } from "../send-error.ts";
import type { MessageOutcome, OutcomeWatch } from "./outcome-watch.ts";

export interface AwaitOutcomeDeps {
  db: Db;
  engine: Engine;
  watch: OutcomeWatch;
  sendHoldMs: number;
}

/** The result of the wait for a sync send. */
export interface WaitResult {
  left: MessageOutcome | "never_begun" | "unknown";
  /** Why the outcome is unknown. */
  cause?: unknown;
}

/** Waits for the outcome of a send; after `timeoutMs`, ends the wait and returns the known state. */
export type AwaitOutcome = (id: number, timeoutMs: number) => Promise<WaitResult>;

export function createOutcomeWaiter({ db, engine, watch, sendHoldMs }: AwaitOutcomeDeps): AwaitOutcome {
  const decided = createBatchLoader<number, MessageOutcome | undefined>({
    load: (ids) => findDecided(db, ids),
  });

  async function awaitOutcome(id: number, timeoutMs: number): Promise<WaitResult> {
    const outcome = (await watch.waitFor(id, timeoutMs)) ?? (await decided.load(id));
    if (outcome) return { left: outcome };
    const left = await abandonWait(db, engine, id, sendHoldMs);
    if (left === "never_begun") return { left };
    return { left: (left === "not_waiting" && (await decided.load(id))) || "unknown" };
  }

  return (id, timeoutMs) => awaitOutcome(id, timeoutMs).catch(unknownIfTransient);
}

/** The send may have gone out: if the caller retried soon, the message would go out twice. */
function unknownIfTransient(error: unknown): WaitResult {
  if (!isTransientDatabaseError(error)) throw error;
  return { left: "unknown", cause: error };
}

async function findDecided(db: Db, ids: number[]): Promise<(MessageOutcome | undefined)[]> {
  const { rows } = await sql<MessageOutcome>`${PREPARED_STATEMENT}
    select id, message_id, jid, status, sent_at, error from message
    where id = any(${ids}::bigint[]) and outcome_at is not null`.execute(db);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => byId.get(id));
}

/** What is left: no waiting send, one that never began, or one whose outcome an event reports. */
type AbandonedSend = "not_waiting" | "never_begun" | "begun";

/**
 * Ends the wait for a sync send. The same statement fails a send that has not begun, so that it never begins
 * later, and its key becomes free. A send that has begun continues with the time limit of an async send. A
 * send whose wait has already ended does not change.
 */
async function abandonWait(db: Db, engine: Engine, id: number, holdMs: number): Promise<AbandonedSend> {
  const { left, lanes } = await db.transaction().execute((trx) => leave(trx, id, holdMs));
  engine.wake(lanes);
  return left;
}

async function leave(
  trx: Trx,
  id: number,
  holdMs: number,
): Promise<{ left: AbandonedSend; lanes: number[] }> {
  const { rows } = await sql<{ has_begun: boolean; upload: string | null }>`
    with waiting as (
      select id, submitted_at is not null as has_begun, content ->> 'upload' as upload
      from message where id = ${id} and outcome_at is null and mode = 'sync' for update
    )
    update message m set mode = 'async',
      deadline = case when w.has_begun then m.deadline + ${holdMs} * interval '1 millisecond' else m.deadline end,
      status = case when w.has_begun then m.status else 'failed' end,
      outcome_at = case when w.has_begun then null else now() end,
      error = case when w.has_begun then null else ${JSON.stringify(SEND_ERROR.notBegun)}::jsonb end,
      content = case when w.has_begun then m.content else m.content - 'upload' end
    from waiting w where m.id = w.id
    returning w.has_begun, w.upload`.execute(trx);
  const [row] = rows;
  if (!row) return { left: "not_waiting", lanes: [] };
  if (row.has_begun) return { left: "begun", lanes: [] };
  return { left: "never_begun", lanes: await forget(trx, id, row.upload) };
}

async function forget(trx: Trx, id: number, upload: string | null): Promise<number[]> {
  if (upload !== null) await deleteOutgoing(trx, [upload]);
  await trx.deleteFrom("idempotency").where("message", "=", id).execute();
  const row = await selectMessages(trx).where("m.id", "=", id).executeTakeFirstOrThrow();
  return recordEvents(trx, [failedEvent(row)]);
}
