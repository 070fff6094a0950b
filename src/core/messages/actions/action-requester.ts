import { sql } from "kysely";
import type { Engine } from "../../../engine/engine.ts";
import { addJobs } from "../../../engine/job-store.ts";
import type { Jid, MediaType, MessageId } from "../../../network/driver.ts";
import { newMessageId, phoneOfJid } from "../../../network/jid.ts";
import type { Db, Trx } from "../../../platform/db/database.ts";
import { GatewayError, invalidField } from "../../../platform/gateway-error.ts";
import {
  type Conversations,
  canonicalNumberOf,
  type FindCountry,
  type NumberResolver,
  type RecipientInput,
  resolveForInstance,
} from "../../contacts/contacts.ts";
import { type MessageRow, selectMessages } from "../log/message-view.ts";
import { findMe, isAdmin } from "../log/record-message-change.ts";
import type { OutcomeWatch } from "../send/outcome/outcome-watch.ts";
import { SEND_ERROR, sendErrorToGatewayError } from "../send/send-error.ts";
import { type ReadInstance, requireConnected, type SendingInstance } from "../send/sending-instance.ts";
import { actionGroup } from "./action-groups.ts";
import type { ActionRow } from "./action-runner.ts";

export interface ActionRequesterDeps {
  db: Db;
  engine: Engine;
  watch: OutcomeWatch;
  readInstance: ReadInstance;
  ackTimeoutMs: number;
  conversations: Conversations;
  numbers: NumberResolver;
  findCountry: FindCountry;
}

/** An action on messages of one chat. */
export interface ActionRequest {
  instance_id: number;
  action: ActionRow["action"];
  message_ids: string[];
  /** The chat; needed only when the messages are not in the log. */
  target: RecipientInput;
  body?: ActionRow["body"];
}

const STATUS = {
  react: "sent",
  read: "read",
  edit: "edited",
  delete: "deleted",
  delete_for_me: "deleted",
  pin: "pinned",
  star: "starred",
} as const;

/** Their key in the network needs what only the log knows: who wrote the message. */
const NEED_LOG: ReadonlySet<ActionRow["action"]> = new Set(["pin", "star", "delete_for_me"]);

/** Runs the action in the session's lane, and returns once the network has accepted it. */
export function createActionRequester(deps: ActionRequesterDeps) {
  const { db, engine, watch, readInstance, ackTimeoutMs } = deps;

  return async (request: ActionRequest) => {
    const instance = await requireConnected(readInstance, request.instance_id);
    const { jid, targets, edited, sent_at } = await findTargets(deps, instance, request);
    const body = { ...request.body, ...(request.action === "edit" && edited), ...(sent_at && { sent_at }) };
    const id = await db
      .transaction()
      .execute((trx) => queueAction(trx, instance, { ...request, jid, targets, body }, ackTimeoutMs));
    engine.wake([instance.lane]);
    await watch.waitFor(id, ackTimeoutMs);
    const error = await endWaiting(db, id);
    const [message_id = ""] = request.message_ids;
    if (error) throw sendErrorToGatewayError(error, { message_id, id });
    const isUndone = request.body?.seconds === 0 || request.body?.starred === false;
    const status = body.played ? "played" : STATUS[request.action];
    return { message_id, jid, status: isUndone ? `un${status}` : status };
  };
}

/**
 * Queues an action, which waits up to `holdMs` for its session. Its own job group keeps it independent of
 * sends with an unknown outcome. The caller wakes the lane after the commit.
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
  /** What an edit leaves unchanged: the media type and the mentions. */
  edited?: { media_type?: MediaType; mentions?: Jid[] };
  /** Of a message that only the own phone deletes, in ISO 8601. */
  sent_at?: string | undefined;
}

async function findTargets(
  deps: ActionRequesterDeps,
  instance: SendingInstance,
  { action, message_ids, target, body }: ActionRequest,
): Promise<Targets> {
  const named = await findNamed(deps, instance, target);
  const logged = await selectMessages(deps.db)
    .where("m.instance_id", "=", instance.id)
    .where("m.message_id", "in", message_ids)
    .execute();
  const rows = inOneChat(named === undefined ? logged : await findInChat(deps, instance, logged, named));
  for (const row of rows) requireAllowed(action, row);
  if (NEED_LOG.has(action) && rows.length === 0)
    throw new GatewayError("MESSAGE_NOT_FOUND", "The message is not in the log of the instance.");
  if (rows[0]) await requireRole(deps.db, action, rows[0]);
  if (body?.played) requirePlayable(rows);
  const byId = new Map<string, MessageRow>(rows.map((row) => [row.message_id, row]));
  const jid = rows[0]?.jid ?? named;
  if (!jid) throw notLogged();
  const content = rows[0]?.content;
  return {
    jid,
    sent_at: action === "delete_for_me" ? rows[0]?.sent_at.toISOString() : undefined,
    targets: message_ids.map((id) => toTarget(action, id, byId.get(id))),
    edited: {
      ...(content?.kind === "media" && { media_type: content.media_type }),
      ...(content?.mentions && { mentions: content.mentions }),
    },
  };
}

/** Finds the named chat under its stored address. */
async function findNamed(
  { conversations, numbers, findCountry }: ActionRequesterDeps,
  instance: SendingInstance,
  target: RecipientInput,
): Promise<Jid | undefined> {
  if (Object.values(target).every((value) => value === undefined)) return undefined;
  const { jid } = await resolveForInstance(findCountry, instance.id, target);
  return numbers.resolve(instance, await conversations.addressOf(instance.id, jid));
}

/** The messages in the named chat. Throws VALIDATION_ERROR if all of them are in other chats. */
async function findInChat(
  { conversations }: ActionRequesterDeps,
  instance: SendingInstance,
  logged: MessageRow[],
  named: Jid,
): Promise<MessageRow[]> {
  const addresses = await Promise.all(logged.map(({ jid }) => conversations.addressOf(instance.id, jid)));
  const rows = logged.filter((_, at) => isSamePerson(addresses[at] ?? named, named));
  if (rows.length === 0 && logged.length > 0)
    throw invalidField("number", "is not the chat of the message", "not_found");
  return rows;
}

/** A group message has the same id in every log, so one log may contain it in several chats. */
function inOneChat(rows: MessageRow[]): MessageRow[] {
  if (new Set(rows.map((row) => row.jid)).size > 1)
    throw invalidField("message_ids", "must all belong to one chat", "not_found");
  return rows;
}

/** One chat can have a number in two formats. */
function isSamePerson(jid: Jid, named: Jid): boolean {
  const [phone, other] = [phoneOfJid(jid), phoneOfJid(named)];
  return (
    jid === named ||
    (phone !== null && other !== null && canonicalNumberOf(phone) === canonicalNumberOf(other))
  );
}

function notLogged(): GatewayError {
  return new GatewayError(
    "MESSAGE_NOT_FOUND",
    "The message is not in the log. Name its chat with number or jid.",
  );
}

/** A message that is not in the log counts as ours if the action allows only our own messages. */
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
/** How long the network allows a change of a message. */
const WINDOW_MS = { edit: 15 * MINUTE, delete: 60 * 60 * MINUTE } as const;

const NOT_SENT: ReadonlySet<string> = new Set(["scheduled", "pending", "failed", "cancelled"]);

/** An edit of a file changes its caption. */
const EDITABLE: ReadonlySet<string> = new Set(["text", "image", "video", "document"]);

/** Throws the reason before the network would reject the action. */
function requireAllowed(action: ActionRow["action"], row: MessageRow): void {
  if (row.deleted_at) throw conflict("deleted", "The message has been deleted.");
  if (NOT_SENT.has(row.status)) {
    throw conflict("not_sent", "The message has not been sent.");
  }
  if (action === "read" && row.from_me)
    throw conflict("own", "A message that this instance has sent cannot be marked as read.");
  if (action !== "edit" && action !== "delete") return;
  if (!row.from_me && !(action === "delete" && row.chat_type === "group"))
    throw conflict("not_own", "Only messages that this instance has sent can be changed.");
  if (action === "edit" && !EDITABLE.has(row.type))
    throw conflict(
      "not_text",
      "Only a text, or the caption of an image, a video or a document, can be edited.",
    );
  if (Date.now() - row.sent_at.getTime() > WINDOW_MS[action]) {
    throw conflict("too_late", "The network allows this only for a while after the message was sent.");
  }
}

/** Only an admin deletes what another member of the group wrote, or pins in a locked group. */
async function requireRole(
  db: Db,
  action: ActionRow["action"],
  { instance_id, jid, chat_type, from_me }: MessageRow,
): Promise<void> {
  if (chat_type !== "group") return;
  const needsAdmin =
    (action === "delete" && !from_me) || (action === "pin" && (await isLocked(db, instance_id, jid)));
  if (needsAdmin && !(await isAdmin(db, instance_id, jid, await findMe(db, instance_id))))
    throw conflict("not_admin", "Only an admin of the group may do that.");
}

async function isLocked(db: Db, instanceId: number, group: Jid): Promise<boolean> {
  const found = await db
    .selectFrom("group_chat")
    .select("locked")
    .where("instance_id", "=", instanceId)
    .where("jid", "=", group)
    .executeTakeFirst();
  return found?.locked === true;
}

/** Other messages have no such mark on a phone. */
function requirePlayable(rows: readonly MessageRow[]): void {
  const isPlayable = ({ content }: MessageRow) =>
    content.kind === "media" && (content.media_type === "ptt" || content.ptv || content.view_once);
  if (!rows.every(isPlayable))
    throw conflict(
      "not_playable",
      "Only a voice note, a round video or a file that phones show once can be marked as played.",
    );
}

function conflict(reason: string, message: string): GatewayError {
  return new GatewayError("CONFLICT", message, { details: { reason } });
}

/** Marks that the caller no longer waits. Returns the action's error, or null if it succeeded. */
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
