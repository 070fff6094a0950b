import type { Engine } from "../engine/engine.ts";
import { updateRecipientStatus } from "../features/campaigns/update-recipient-status.ts";
import { recordChatUpdate } from "../features/chats/record-chat-update.ts";
import type { SuppressionList } from "../features/consent/consent.ts";
import type { Conversations } from "../features/contacts/contacts.ts";
import { createLeadFollower } from "../features/crm/crm.ts";
import { type EventDraft, recordEvents } from "../features/events/events.ts";
import { createGroupFetcher } from "../features/groups/group-fetcher.ts";
import { recordGroupChange } from "../features/groups/record-group-change.ts";
import { createAutoReader } from "../features/messages/inbound/auto-reader.ts";
import { createInboundRecorder } from "../features/messages/inbound/inbound-recorder.ts";
import {
  type IncomingPhoneCall,
  queuePhoneCallRejection,
} from "../features/messages/inbound/phone-call-rejecter.ts";
import { type MessageChange, recordMessageChange } from "../features/messages/log/record-message-change.ts";
import { createReceiptRecorder, type MessageReceipt } from "../features/messages/receipts/record-receipts.ts";
import { saveProfileOnInstance } from "../features/profile/profile.ts";
import type { ConnectionRecorder } from "../features/sessions/connection-recorder.ts";
import { isConnectionEvent } from "../features/sessions/find-status-transition.ts";
import type { LiveSettings } from "../features/sessions/live-settings.ts";
import { recordAttention } from "../features/sessions/record-attention.ts";
import type { NetworkEvent, NetworkMessage, Session } from "../network/driver.ts";
import { isGroupJid } from "../network/jid.ts";
import type { Db } from "../platform/db/database.ts";
import type { Log } from "../platform/log/log.ts";
import { cleanText } from "../platform/text/clean-text.ts";

export interface SessionEventRecorderOptions {
  db: Db;
  engine: Engine;
  conversations: Conversations;
  recorder: ConnectionRecorder;
  live: LiveSettings;
  connectedSession: (instanceId: number) => Session | undefined;
  suppression: SuppressionList;
  log: Log;
}

/** The instance that a session belongs to. */
export interface SessionInstance {
  id: number;
  account_id: number;
}

export type RecordSessionEvent = (instance: SessionInstance, event: NetworkEvent) => Promise<void>;

/** Stores the events of sessions, each kind in its feature; resolves once the event is stored. */
export function createSessionEventRecorder(parts: SessionEventRecorderOptions): RecordSessionEvent {
  const { db, conversations, recorder, live } = parts;
  const told = createToldRecorder(parts);
  const learnGroup = createGroupFetcher(parts);
  const take = createMessageTaker(parts, told.receipt, learnGroup);

  return async (instance, event) => {
    if (isConnectionEvent(event)) return recorder.record(instance.id, event);
    switch (event.type) {
      case "message":
        return take(instance, event.message);
      case "message_status":
        if (event.participant) learnGroup(instance, event.chat);
        return told.receipt({ instance_id: instance.id, ...event });
      case "message_edited":
      case "message_deleted":
      case "message_reaction":
        return told.change(instance, event);
      case "attention":
        return recordAttention(parts, instance.id, event.code);
      case "call_received":
        return recordCall(parts, instance.id, event);
      case "group_updated":
        return recordGroupChange(parts, instance, event, await live.get(instance.id));
      case "contact_updated":
        return conversations.updateContact(instance, event.contact);
      case "profile_updated":
        return saveProfileOnInstance(db, instance.id, { profile_name: cleanText(event.name) });
      case "chat_updated":
        return void (await recordChatUpdate(parts, instance, event));
    }
  };
}

function createMessageTaker(
  parts: SessionEventRecorderOptions,
  receipt: (receipt: MessageReceipt) => Promise<void>,
  learnGroup: ReturnType<typeof createGroupFetcher>,
) {
  const { db, engine, conversations, live } = parts;
  const inbound = createInboundRecorder(db, engine, conversations, createLeadFollower(parts.suppression));
  const markRead = createAutoReader({ ...parts, record: receipt });

  return async (instance: SessionInstance, message: NetworkMessage): Promise<void> => {
    const { ignore_groups, read_messages } = await live.get(instance.id);
    if (ignore_groups && message.chat_type === "group") return;
    await inbound.record(instance, message);
    if (message.chat_type === "group" && !message.history) learnGroup(instance, message.chat);
    if (read_messages) markRead(instance.id, message);
  };
}

/** Stores receipts and changes of logged messages in the right chat, whichever address the network reports. */
function createToldRecorder({ db, engine, conversations, live }: SessionEventRecorderOptions) {
  const receipts = createReceiptRecorder(db, engine, updateRecipientStatus);
  return {
    async receipt({ participant: told, ...receipt }: MessageReceipt): Promise<void> {
      const { instance_id, chat: address } = receipt;
      const participant = told && (await conversations.identify(instance_id, told));
      await conversations.withCurrentAddress(instance_id, address, (chat) =>
        receipts.record({ ...receipt, chat, ...(participant && { participant }) }),
      );
    },

    async change(instance: SessionInstance, told: MessageChange): Promise<void> {
      const { id } = instance;
      await conversations.learnPair(instance, told.chat, told.by);
      const change = { ...told, by: await conversations.identify(id, told.by) };
      const isOfIgnored = isGroupJid(told.chat) && (await live.get(id)).ignore_groups;
      await conversations.withCurrentAddress(id, told.chat, (chat) =>
        recordMessageChange(db, engine, id, { ...change, chat }, isOfIgnored),
      );
    },
  };
}

/** Stores the event of a phone call, and rejects the call if the instance rejects calls. */
async function recordCall(
  { db, engine }: SessionEventRecorderOptions,
  instanceId: number,
  call: IncomingPhoneCall,
): Promise<void> {
  const lanes = await db.transaction().execute(async (trx) => {
    const touched = await queuePhoneCallRejection(trx, instanceId, call);
    return [...touched, ...(await recordEvents(trx, [toNotice(instanceId, call)]))];
  });
  engine.wake(lanes);
}

function toNotice(instance_id: number, { at, from, call_id, video }: IncomingPhoneCall): EventDraft {
  const data = { call_id, from, video, at: at.toISOString() };
  return { event: "call.received", instance_id, chat: from.jid, data };
}
