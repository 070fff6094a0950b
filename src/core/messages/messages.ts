import { sql } from "kysely";
import type { Engine } from "../../engine/engine.ts";
import type { NetworkEvent, ReachableSession, Session } from "../../network/driver.ts";
import { isUndecrypted, type NetworkMessage } from "../../network/network-message.ts";
import type { Db } from "../../platform/db/database.ts";
import { GatewayError, invalidField } from "../../platform/gateway-error.ts";
import type { Caller, Handlers } from "../../platform/http/handler.ts";
import { withTimeout } from "../../platform/limits/with-timeout.ts";
import type { Log } from "../../platform/log/log.ts";
import type { SendError } from "../../platform/send-reasons.ts";
import { addressesOf } from "../contacts/contacts.ts";
import { type EventDraft, recordEvents } from "../events/events.ts";
import { getInstance } from "../instances/instances.ts";
import { queueReplacedFile } from "../media/media.ts";
import { type ActionRequesterDeps, createActionRequester, queueAction } from "./actions/action-requester.ts";
import { setPresence } from "./actions/set-presence.ts";
import type { messagesContract } from "./contract.ts";
import { type IncomingPhoneCall, queuePhoneCallRejection } from "./inbound/phone-call-rejecter.ts";
import { listMessages, type MessageFilter, readMessages } from "./log/list-messages.ts";
import {
  isNamed,
  type MessageRow,
  type StoredContent,
  type StoredMedia,
  selectMessages,
  toQuoted,
  toStoredMessageView,
} from "./log/message-view.ts";
import type { pollsContract } from "./polls/contract.ts";
import { listVotes } from "./polls/list-votes.ts";
import { listReceipts } from "./receipts/list-receipts.ts";
import type { MessageReceipt } from "./receipts/message-receipt.ts";
import { scheduledHandlers } from "./scheduled/scheduled-handlers.ts";
import { createSendHandler, type HandleSendDeps } from "./send/handle-send.ts";
import { insertMessages, type NewMessage } from "./send/insert-messages.ts";
import { deleteOutgoing, loadOutgoingContent, touchOutgoing } from "./send/outgoing-file.ts";
import { inferKind } from "./send/prepare/read-content.ts";
import {
  type MediaOptions,
  type PictureInput,
  type PictureSource,
  readMedia,
  readPicture,
  showsCaption,
} from "./send/prepare/read-media.ts";
import { requireQueue } from "./send/prepare-send.ts";
import { outcomeEvents } from "./send/record-outcome.ts";
import { createInstanceReader } from "./send/sending-instance.ts";

const TOGETHER_MS = 250;

const TIMEOUT_MS = 20_000;

interface AutoReaderOptions {
  /** The live session of an instance on this node, while it is connected. */
  connectedSession: (instanceId: number) => Session | undefined;
  record: (receipt: MessageReceipt) => Promise<void>;
  log: Log;
}

/** A better copy of the file of a message. */
export type FileReplacement = Extract<NetworkEvent, { type: "message_file_replaced" }>;

export type { InboundFollower } from "./inbound/apply-inbound-messages.ts";
export { createInboundRecorder, type InboundWriter } from "./inbound/inbound-recorder.ts";
export type { InboundRow } from "./inbound/insert-inbound-messages.ts";
export { type MessageChange, recordMessageChange } from "./log/record-message-change.ts";
export { openOfMessage } from "./log/seal-for-message.ts";
export { toQuestion } from "./polls/read-ask-input.ts";
export { type RefusedVoteReason, type ReportedVote, recordVote } from "./polls/record-vote.ts";
export type { MessageReceipt } from "./receipts/message-receipt.ts";
export type { ReceiptRecorder } from "./receipts/record-receipts.ts";
export type { MessageCounters } from "./record/create-message-counters.ts";
export type { QuickReplyChat } from "./send/prepare-send.ts";
export type {
  MediaOptions,
  MessageFilter,
  MessageRow,
  NewMessage,
  PictureInput,
  PictureSource,
  StoredContent,
  StoredMedia,
};
export {
  deleteOutgoing,
  insertMessages,
  listMessages,
  loadOutgoingContent,
  outcomeEvents,
  queueAction,
  readMedia,
  readMessages,
  readPicture,
  requireQueue,
  selectMessages,
  showsCaption,
  toQuoted,
  toStoredMessageView,
  touchOutgoing as keepOutgoing,
};

export interface MessageDeps extends Omit<HandleSendDeps & ActionRequesterDeps, "readInstance"> {
  /** The live session of an instance, on this node or another, while it is connected. */
  findSession: (instanceId: number) => Promise<ReachableSession | undefined>;
}

type MessageHandlers = Handlers<typeof messagesContract & typeof pollsContract>;

export function messageHandlers(deps: MessageDeps): MessageHandlers {
  const shared = { ...deps, readInstance: createInstanceReader(deps.db) };
  return {
    ...sendHandlers(shared),
    ...actionHandlers(shared),

    setPresence: ({ input, signal }) => setPresence(shared, input, signal),

    async getMessage({ input: { id, messageId } }) {
      const row = await getRow(deps.db, id, messageId);
      const { client_message_id, metadata } = row;
      const error = row.error as SendError | null;
      return { ...toStoredMessageView(row), error, client_message_id, metadata };
    },

    ...scheduledHandlers(deps),

    async getMessageReceipts({ input: { id, messageId } }) {
      return listReceipts(deps.db, await getRow(deps.db, id, messageId));
    },

    async listVotes({ input: { id, messageId } }) {
      return listVotes(deps.db, await getRow(deps.db, id, messageId));
    },
  };
}

async function getRow(db: Db, instanceId: number, messageId: string): Promise<MessageRow> {
  return selectMessages(db)
    .where("m.instance_id", "=", instanceId)
    .where(isNamed(messageId))
    .executeTakeFirstOrThrow(() => new GatewayError("MESSAGE_NOT_FOUND", "There is no such message."));
}

type SendRoutes = Extract<keyof MessageHandlers, `send${string}`> | "ask" | "forwardMessage";

function sendHandlers(deps: HandleSendDeps): Pick<MessageHandlers, SendRoutes> {
  const send = createSendHandler(deps);
  return {
    sendText: (call) => send("send-text", call.input.id, "text", call),
    sendMedia: (call) => send("send-media", call.input.id, "media", call),
    sendLocation: (call) => send("send-location", call.input.id, "location", call),
    sendContact: (call) => send("send-contact", call.input.id, "contact", call),
    sendReply: (call) => send("send-reply", call.input.id, "reply", call),
    sendPoll: ({ input, ...call }) =>
      send("send-poll", input.id, "poll", { ...call, input: { ...input, poll: input } }),
    ask({ input, ...call }) {
      // Of a question it says until when answers count, and not until when a scheduled send may begin.
      const { expires_at: _, ...others } = input;
      return send("ask", input.id, "ask", { ...call, input: { ...others, ask: input } });
    },
    forwardMessage: (call) => send("forward", call.input.id, "forward", call),

    async send(call) {
      const instanceId = await chooseInstance(deps, call.caller, call.input.instance_id);
      return send("send", instanceId, inferKind(call.input), call);
    },
  };
}

type ActionRoutes = "react" | "editMessage" | "deleteMessage" | "pinMessage" | "starMessage" | "markRead";

function actionHandlers(deps: ActionRequesterDeps): Pick<MessageHandlers, ActionRoutes> {
  const act = createActionRequester(deps);
  return {
    react: ({ input: { id, message_id, reaction, ...target } }) =>
      act({ instance_id: id, action: "react", message_ids: [message_id], target, body: { reaction } }),

    editMessage: ({ input: { id, message_id, text, ...target } }) =>
      act({ instance_id: id, action: "edit", message_ids: [message_id], target, body: { text } }),

    deleteMessage: ({ input: { id, message_id, for_everyone, ...target } }) =>
      act({
        instance_id: id,
        action: for_everyone ? "delete" : "delete_for_me",
        message_ids: [message_id],
        target,
      }),

    pinMessage: ({ input: { id, message_id, pinned, seconds, ...target } }) =>
      act({
        instance_id: id,
        action: "pin",
        message_ids: [message_id],
        target,
        body: { seconds: pinned ? seconds : 0 },
      }),

    starMessage: ({ input: { id, message_id, starred, ...target } }) =>
      act({ instance_id: id, action: "star", message_ids: [message_id], target, body: { starred } }),

    async markRead({ input: { id, message_id, message_ids: several, played, ...target } }) {
      const message_ids = [...new Set([several ?? message_id ?? []].flat())];
      if (message_ids.length === 0)
        throw invalidField(
          "message_id",
          "is required: the id of a message, or several in message_ids",
          "missing",
        );
      const request = { instance_id: id, action: "read", message_ids, target } as const;
      return { ...(await act({ ...request, ...(played && { body: { played } }) })), message_ids };
    },
  };
}

/** A key sends from its own instance; a signed-in user names an instance of the account. */
async function chooseInstance(
  { db }: HandleSendDeps,
  caller: Caller,
  named: number | undefined,
): Promise<number> {
  if (caller.kind === "key") {
    if (named === undefined || named === caller.instance_id) return caller.instance_id;
    throw new GatewayError(
      "INSTANCE_FORBIDDEN",
      "This API key belongs to another instance. Use the key of the instance that the request names.",
    );
  }
  if (caller.kind !== "user")
    throw new GatewayError("FORBIDDEN", "Sending needs an API key or a signed-in user.");
  if (named === undefined)
    throw invalidField("instance_id", "is required: the instance that sends", "missing");
  return (await getInstance(db, named, caller)).id;
}

/** Stores the event of a phone call, and queues a rejection if the instance rejects calls. */
export async function recordPhoneCall(
  db: Db,
  engine: Pick<Engine, "wake">,
  instanceId: number,
  call: IncomingPhoneCall,
): Promise<void> {
  const lanes = await db.transaction().execute(async (trx) => {
    const touched = await queuePhoneCallRejection(trx, instanceId, call);
    return [...touched, ...(await recordEvents(trx, [toEvent(instanceId, call)]))];
  });
  engine.wake(lanes);
}

function toEvent(instance_id: number, { at, from, call_id, video }: IncomingPhoneCall): EventDraft {
  const data = { call_id, from, video, at: at.toISOString() };
  return { event: "call.received", instance_id, chat: from.jid, data };
}

/** Replaces the file of a logged message of the same person, and fetches it again; ignores all others. */
export async function replaceFile(
  db: Db,
  engine: Engine,
  instanceId: number,
  replacement: FileReplacement,
): Promise<void> {
  const lanes = await db.transaction().execute(async (trx) => {
    const row = await selectMessages(trx)
      .where("m.instance_id", "=", instanceId)
      .where("m.message_id", "=", replacement.id)
      .where("m.jid", "in", addressesOf(replacement.chat))
      .where("m.deleted_at", "is", null)
      .forUpdate("m")
      .executeTakeFirst();
    if (!row || !isReplaceable(row, replacement)) return [];
    const { mime_type, size, sha256, seconds, ref } = replacement.file;
    const content = JSON.stringify({ mime_type, size, sha256, seconds, ref });
    await trx
      .updateTable("message")
      .set({ content: sql<string>`content || ${content}::jsonb` })
      .where("id", "=", row.id)
      .execute();
    return queueReplacedFile(trx, row.id);
  });
  engine.wake(lanes);
}

function isReplaceable(
  { content, from_me, sender }: MessageRow,
  { by, file, ...other }: FileReplacement,
): boolean {
  if (content.kind !== "media" || content.media_type !== file.media_type) return false;
  if (content.sha256 === file.sha256 || from_me !== other.from_me) return false;
  return sender?.jid === by.jid || (by.lid !== null && sender?.lid === by.lid);
}

/** Marks messages as read in the background; messages of a chat that arrive together share one request. */
export function createAutoReader({ connectedSession, record, log }: AutoReaderOptions) {
  const waiting = new Map<string, { instance_id: number; messages: NetworkMessage[] }>();

  async function markRead(key: string): Promise<void> {
    const { instance_id, messages } = waiting.get(key) ?? { instance_id: 0, messages: [] };
    waiting.delete(key);
    const [first] = messages;
    if (!first) return;
    const { chat } = first;
    const targets = messages.map(({ id, sender }) => ({ chat, id, from_me: false, sender: sender.jid }));
    const marking = connectedSession(instance_id)?.markRead?.(chat, targets);
    const result = marking && (await withTimeout(marking, TIMEOUT_MS));
    if (result?.outcome !== "accepted") return;
    const ids = messages.map(({ id }) => id);
    await record({ instance_id, chat, ids, from_me: false, status: "read", at: result.at });
  }

  return (instance_id: number, message: NetworkMessage): void => {
    if (message.from_me || message.history || isUndecrypted(message)) return;
    const key = `${instance_id} ${message.chat}`;
    const together = waiting.get(key);
    if (together) return void together.messages.push(message);
    waiting.set(key, { instance_id, messages: [message] });
    const fail = (error: unknown) =>
      log.warn({ err: error, instance_id }, "messages could not be marked as read");
    setTimeout(() => void markRead(key).catch(fail), TOGETHER_MS).unref();
  };
}
