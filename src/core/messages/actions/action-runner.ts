import { type Selectable, sql } from "kysely";
import type { Engine, Job, JobResult } from "../../../engine/engine.ts";
import { retryUntilCommitted } from "../../../engine/retry-until-committed.ts";
import type {
  EditOptions,
  Jid,
  MediaType,
  MessageId,
  MessageRef,
  SendResult,
  Session,
} from "../../../network/driver.ts";
import type { Db, Trx } from "../../../platform/db/database.ts";
import { withTimeout } from "../../../platform/limits/with-timeout.ts";
import type { SendError } from "../../../platform/send-reasons.ts";
import type { ActionTable } from "../../../tables.ts";
import { recordEvents } from "../../events/events.ts";
import { applyMessageChange, findMe, type MessageChange } from "../log/record-message-change.ts";
import { recordReceipts } from "../receipts/record-receipts.ts";
import { SEND_ERROR, toSendError } from "../send/send-error.ts";

export interface ActionRunnerOptions {
  db: Db;
  engine: Engine;
  connectedSession: (instanceId: number) => Session | undefined;
}

export interface ActionRow extends Omit<Selectable<ActionTable>, "jid" | "message_id" | "target" | "body"> {
  jid: Jid;
  message_id: MessageId;
  target: Omit<MessageRef, "chat">[];
  /** With a media type, the text is a caption. */
  body: {
    text?: string;
    media_type?: MediaType;
    mentions?: Jid[];
    reaction?: string;
    seconds?: number;
    starred?: boolean;
    played?: boolean;
    /** ISO 8601. */
    sent_at?: string;
  };
}

type OpenAction = ActionRow & { left_ms: number };

const TRY_AGAIN_MS = 1000;
const MOST_DOUBLINGS = 4;

/** Runs actions on messages, such as reactions, edits and read marks. */
export function createActionRunner({ db, engine, connectedSession }: ActionRunnerOptions) {
  return async (job: Job): Promise<JobResult> => {
    const action = await findOpen(db, (job.ref as { action: number }).action);
    if (!action) return { end: "done" };
    if (action.left_ms <= 0) return finish(job, action, SEND_ERROR.notConfirmed);
    const session = connectedSession(action.instance_id);
    if (!session || !engine.isSafe()) return again();
    const acting = perform(session, action);
    if (!acting) return finish(job, action, SEND_ERROR.notSupported);
    const result = await withTimeout(acting, action.left_ms);
    if (result) return decide(job, action, result);
    void acting.then((late) => recordLate(job, action, late)).catch(() => {});
    return finish(job, action, SEND_ERROR.notConfirmed);
  };

  async function decide(job: Job, action: OpenAction, result: SendResult): Promise<JobResult> {
    if (result.outcome === "accepted") return finish(job, action, null, result.at);
    if (result.outcome === "refused") return finish(job, action, toSendError(result));
    // Doubles the wait, since each attempt may cost the network several queries.
    return again(TRY_AGAIN_MS * 2 ** Math.min(job.attempts, MOST_DOUBLINGS));
  }

  async function recordLate(job: Job, action: OpenAction, late: SendResult): Promise<void> {
    if (late.outcome === "accepted") await decide(job, action, late);
  }

  async function finish(
    job: Job,
    action: OpenAction,
    error: SendError | null,
    at = new Date(),
  ): Promise<JobResult> {
    // Retried, since without the commit the action would run twice.
    const lanes = await retryUntilCommitted(engine, job.lane, () =>
      db.transaction().execute((trx) => recordEnd(trx, job, action, error, at)),
    );
    engine.wake(lanes);
    engine.publish("outcome", String(action.id));
    return { end: "committed", deleted: true };
  }
}

function again(ms = TRY_AGAIN_MS): JobResult {
  return { end: "retry", at: new Date(Date.now() + ms) };
}

function findOpen(db: Db, id: number): Promise<OpenAction | undefined> {
  return db
    .selectFrom("action")
    .selectAll()
    .select(sql<number>`(extract(epoch from deadline - now()) * 1000)::float8`.as("left_ms"))
    .where("id", "=", id)
    .where("outcome_at", "is", null)
    .$castTo<OpenAction>()
    .executeTakeFirst();
}

/** Undefined if the session lacks the capability. */
function perform(
  session: Session,
  { action, jid: chat, message_id: id, target, body }: ActionRow,
): Promise<SendResult> | undefined {
  const targets = target.map((one) => ({ ...one, chat }));
  const [first] = targets;
  if (!first) throw new Error("An action needs a message.");
  switch (action) {
    case "react":
      return session.react?.(first, body.reaction ?? "", { id });
    case "edit":
      return session.edit?.(first, body.text ?? "", { id, ...editOf(body) });
    case "delete":
      return session.deleteForEveryone?.(first, { id });
    case "delete_for_me":
      return session.deleteForMe?.({ ...first, at: new Date(body.sent_at ?? 0) }, { id });
    case "pin":
      return session.pin?.(first, body.seconds ?? 0, { id });
    case "star":
      return session.star?.(first, body.starred === true, { id });
    case "read":
      return session.markRead?.(chat, targets, { played: body.played === true });
  }
}

function editOf({ media_type, mentions }: ActionRow["body"]): Omit<EditOptions, "id"> {
  return { ...(media_type && { media_type }), ...(mentions && { mentions }) };
}

/** An acknowledgement counts even after the caller's timeout; it is reported once. */
async function recordEnd(
  trx: Trx,
  job: Job,
  action: OpenAction,
  error: SendError | null,
  at: Date,
): Promise<number[]> {
  const isDone = error === null;
  const ended = await trx
    .updateTable("action")
    .set({ outcome_at: sql<Date>`now()`, error: error && JSON.stringify(error) })
    .where("id", "=", action.id)
    .where(({ eb, or }) =>
      or([eb("outcome_at", "is", null), ...(isDone ? [eb(sql`error ->> 'code'`, "=", "SEND_TIMEOUT")] : [])]),
    )
    .returning("id")
    .executeTakeFirst();
  await trx.deleteFrom("job").where("id", "=", job.id).execute();
  return ended && isDone ? recordChange(trx, action, at) : [];
}

/** Records a change made by this instance like a change made by another participant. */
async function recordChange(trx: Trx, action: ActionRow, at: Date): Promise<number[]> {
  const { instance_id, jid: chat, target, body } = action;
  const change = await toChange(trx, action, at);
  if (change) return recordEvents(trx, (await applyMessageChange(trx, instance_id, change)).events);
  if (action.action !== "read") return [];
  const ids = target.map(({ id }) => id);
  const status = body.played ? "played" : "read";
  return recordReceipts(trx, [{ instance_id, chat, ids, from_me: false, status, at }]);
}

async function toChange(trx: Trx, action: ActionRow, at: Date): Promise<MessageChange | undefined> {
  const [first] = action.target;
  if (!first || action.action === "read" || action.action === "delete_for_me") return undefined;
  const { id, from_me } = first;
  const { reaction = "", text = "", seconds = 0, starred = false } = action.body;
  const about = { chat: action.jid, id, from_me, by: await findMe(trx, action.instance_id), at };
  switch (action.action) {
    case "react":
      return { type: "message_reaction", ...about, reaction };
    case "edit":
      return { type: "message_edited", ...about, text };
    case "delete":
      return { type: "message_deleted", ...about };
    case "pin":
      return { type: "message_pinned", ...about, seconds };
    case "star":
      return { type: "message_starred", ...about, starred };
  }
}

const RETAINED = sql`interval '1 day'`;

/** Deletes actions that ended long ago. */
export async function deleteOldActions(db: Db): Promise<void> {
  await db.deleteFrom("action").where("created_at", "<", sql<Date>`now() - ${RETAINED}`).execute();
}
