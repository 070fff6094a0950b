import { sql } from "kysely";
import type { Engine } from "../../engine/engine.ts";
import { addJobs } from "../../engine/jobs.ts";
import type { Jid, MessageId } from "../../network/driver.ts";
import { newMessageId } from "../../network/ids.ts";
import type { Db, Trx } from "../../platform/db.ts";
import { GatewayError, invalidField } from "../../platform/errors.ts";
import { resolveTarget, type Target } from "../contacts/contacts.ts";
import { actionGroup } from "./action-groups.ts";
import type { OutcomeWatch } from "./await-outcome.ts";
import { type MessageRow, selectMessages } from "./message-view.ts";
import type { ActionRow } from "./run-action.ts";
import { SEND_ERROR, toGatewayError } from "./send-error.ts";
import { type ReadInstance, requireConnected, type SendingInstance } from "./sending-instance.ts";

export interface ActorDeps {
  db: Db;
  engine: Engine;
  watch: OutcomeWatch;
  readInstance: ReadInstance;
  ackTimeoutMs: number;
  defaultCountry?: string;
}

/** Something to be done to messages of one chat. */
export interface ActionRequest {
  instance_id: number;
  action: ActionRow["action"];
  message_ids: string[];
  /** The chat; needed only when the messages are not in the log. */
  target: Target;
  body?: ActionRow["body"];
}

const STATUS = { react: "sent", read: "read", edit: "edited", delete: "deleted" } as const;

/** Does it through the session's lane, and answers once the network has taken it. */
export function createActor(deps: ActorDeps) {
  const { db, engine, watch, readInstance, ackTimeoutMs } = deps;

  return async (request: ActionRequest) => {
    const { jid, targets } = await findTargets(deps, request);
    const instance = await requireConnected(readInstance, request.instance_id);
    const id = await db
      .transaction()
      .execute((trx) => queueAction(trx, instance, { ...request, jid, targets }, ackTimeoutMs));
    engine.wake([instance.lane]);
    await watch.wait(id, ackTimeoutMs);
    const error = await endWaiting(db, id);
    const [message_id = ""] = request.message_ids;
    if (error) throw toGatewayError(error, { message_id, id });
    return { message_id, jid, status: STATUS[request.action] };
  };
}

/**
 * Queues an action, which waits up to `holdMs` for its session. Apart from the sends in the lane: what is done to
 * messages of a chat does not wait for a send in doubt there. The caller wakes the lane after the commit.
 */
export async function queueAction(
  trx: Trx,
  instance: Pick<SendingInstance, "id" | "account_id" | "lane">,
  { jid, targets, action, body = {} }: Pick<ActionRequest, "action" | "body"> & Targets,
  holdMs: number,
): Promise<number> {
  const { id } = await trx
    .insertInto("action")
    .values({
      account_id: instance.account_id,
      instance_id: instance.id,
      jid,
      message_id: newMessageId(),
      target: JSON.stringify(targets),
      action,
      body: JSON.stringify(body),
      deadline: sql<Date>`now() + ${holdMs} * interval '1 millisecond'`,
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  const ref = { do: "act", action: id };
  await addJobs(trx, [{ lane: instance.lane, prio: 0, pos: id, grp: actionGroup(jid), ref }]);
  return id;
}

interface Targets {
  jid: Jid;
  targets: ActionRow["target"];
}

async function findTargets(
  { db, defaultCountry }: ActorDeps,
  { instance_id, action, message_ids, target }: ActionRequest,
): Promise<Targets> {
  const named = isNamed(target) ? resolveTarget(target, defaultCountry).jid : undefined;
  const logged = await selectMessages(db)
    .where("m.instance_id", "=", instance_id)
    .where("m.message_id", "in", message_ids)
    .execute();
  const rows = inOneChat(logged, named);
  for (const row of rows) requireAllowed(action, row);
  const byId = new Map<string, MessageRow>(rows.map((row) => [row.message_id, row]));
  const jid = rows[0]?.jid ?? named;
  if (!jid) throw notLogged();
  return { jid, targets: message_ids.map((id) => toTarget(action, id, byId.get(id))) };
}

function isNamed(target: Target): boolean {
  return Object.values(target).some((value) => value !== undefined);
}

/** A message of a group has the same id in every log, and may stand in several chats of one. */
function inOneChat(logged: MessageRow[], named: Jid | undefined): MessageRow[] {
  const inNamed = logged.filter((row) => row.jid === named);
  const rows = inNamed.length > 0 ? inNamed : logged;
  if (new Set(rows.map((row) => row.jid)).size > 1) throw invalidField("message_ids", "must be of one chat");
  return rows;
}

function notLogged(): GatewayError {
  return new GatewayError(
    "MESSAGE_NOT_FOUND",
    "The message is not in the log: name its chat by number or jid.",
  );
}

/** A message that is not in the log is taken for ours where only ours can be meant. */
function toTarget(
  action: ActionRow["action"],
  id: string,
  row: MessageRow | undefined,
): ActionRow["target"][number] {
  if (!row) return { id: id as MessageId, from_me: action === "edit" || action === "delete" };
  const { message_id, from_me, sender } = row;
  return { id: message_id, from_me, ...(sender && { sender: sender.jid }) };
}

const MINUTE = 60_000;
/** How long the network lets a message be changed. */
const WINDOW_MS = { edit: 15 * MINUTE, delete: 60 * 60 * MINUTE } as const;

/** Refuses what the network would refuse, with the reason. */
function requireAllowed(action: ActionRow["action"], row: MessageRow): void {
  if (row.deleted_at) throw conflict("deleted", "The message has been deleted.");
  if (row.status === "pending" || row.status === "failed" || row.status === "cancelled") {
    throw conflict("not_sent", "The message has not been sent.");
  }
  if (action === "react" || action === "read") return;
  if (!row.from_me) throw conflict("not_own", "Only messages that this instance has sent can be changed.");
  if (action === "edit" && row.type !== "text") throw conflict("not_text", "Only a text can be edited.");
  if (Date.now() - row.sent_at.getTime() > WINDOW_MS[action]) {
    throw conflict("too_late", "The network allows this only for a while after the message was sent.");
  }
}

function conflict(reason: string, message: string): GatewayError {
  return new GatewayError("CONFLICT", message, { details: { reason } });
}

/** The action's error, or null when it was done; whoever comes later finds that nobody waits any more. */
async function endWaiting(db: Db, id: number) {
  await db
    .updateTable("action")
    .set({ outcome_at: sql<Date>`now()`, error: JSON.stringify(SEND_ERROR.notConfirmed) })
    .where("id", "=", id)
    .where("outcome_at", "is", null)
    .execute();
  const { error } = await db
    .selectFrom("action")
    .select("error")
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  return error;
}
