import type { Engine } from "../../engine/engine.ts";
import type { NetworkEvent, NetworkMessage, Session } from "../../network/driver.ts";
import { isGroupJid } from "../../network/jid.ts";
import type { Db } from "../../platform/db/database.ts";
import type { Log } from "../../platform/log/log.ts";
import { cleanText } from "../../platform/text/clean-text.ts";
import { recordChatUpdate } from "../chats/chats.ts";
import type { Conversations } from "../contacts/contacts.ts";
import { createGroupFetcher, recordGroupChange } from "../groups/groups.ts";
import {
  createAutoReader,
  createInboundRecorder,
  type InboundMessageWriter,
  type MessageChange,
  type MessageReceipt,
  type ReceiptRecorder,
  recordMessageChange,
  recordPhoneCall,
} from "../messages/messages.ts";
import { saveProfileOnInstance } from "../profile/profile.ts";
import type { ConnectionRecorder } from "./connection-recorder.ts";
import { isConnectionEvent } from "./find-status-transition.ts";
import type { LiveSettings } from "./live-settings.ts";
import { recordAttention } from "./record-attention.ts";

export interface SessionEventRecorderDeps {
  db: Db;
  engine: Engine;
  log: Log;
  conversations: Conversations;
  connections: ConnectionRecorder;
  live: LiveSettings;
  /** The live session of an instance on this node, while it is connected. */
  connectedSession: (instanceId: number) => Session | undefined;
  inbound: InboundMessageWriter;
  receipts: ReceiptRecorder;
}

/** The instance that a session belongs to. */
export interface SessionInstance {
  id: number;
  account_id: number;
}

export type RecordSessionEvent = (instance: SessionInstance, event: NetworkEvent) => Promise<void>;

/** Stores the events of sessions through their features; resolves once the event is stored. */
export function createSessionEventRecorder(deps: SessionEventRecorderDeps): RecordSessionEvent {
  const { db, engine, log, conversations, connections, live, connectedSession } = deps;
  const recordReceipt = createAddressedReceiptRecorder(deps);
  const fetchGroup = createGroupFetcher({ db, log, connectedSession });
  const recordMessage = createMessageRecorder(deps, recordReceipt, fetchGroup);

  return async (instance, event) => {
    if (isConnectionEvent(event)) return connections.record(instance.id, event);
    switch (event.type) {
      case "message":
        return recordMessage(instance, event.message);
      case "message_status":
        if (event.participant) fetchGroup(instance, event.chat);
        return recordReceipt({ instance_id: instance.id, ...event });
      case "message_edited":
      case "message_deleted":
      case "message_reaction":
        return recordAddressedChange(deps, instance, event);
      case "attention":
        return recordAttention({ db, engine }, instance.id, event.code);
      case "call_received":
        return recordPhoneCall(db, engine, instance.id, event);
      case "group_updated":
        return recordGroupChange({ db, engine }, instance, event, await live.get(instance.id));
      case "contact_updated":
        return conversations.updateContact(instance, event.contact);
      case "profile_updated":
        return saveProfileOnInstance(db, instance.id, { profile_name: cleanText(event.name) });
      case "chat_updated":
        return void (await recordChatUpdate({ db, conversations }, instance, event));
    }
  };
}

/** Stores messages except from ignored groups, and marks them as read if the instance is set so. */
function createMessageRecorder(
  deps: SessionEventRecorderDeps,
  record: (receipt: MessageReceipt) => Promise<void>,
  fetchGroup: ReturnType<typeof createGroupFetcher>,
) {
  const { log, conversations, live, connectedSession } = deps;
  const inbound = createInboundRecorder(conversations, deps.inbound);
  const markRead = createAutoReader({ connectedSession, record, log });

  return async (instance: SessionInstance, message: NetworkMessage): Promise<void> => {
    const { ignore_groups, read_messages } = await live.get(instance.id);
    if (ignore_groups && message.chat_type === "group") return;
    await inbound.record(instance, message);
    if (message.chat_type === "group" && !message.history) fetchGroup(instance, message.chat);
    if (read_messages) markRead(instance.id, message);
  };
}

/** Stores receipts in the right chat, for either address that the network reports. */
function createAddressedReceiptRecorder({ conversations, receipts }: SessionEventRecorderDeps) {
  return async ({ participant: reported, ...receipt }: MessageReceipt): Promise<void> => {
    const { instance_id, chat: address } = receipt;
    const participant = reported && (await conversations.identify(instance_id, reported));
    await conversations.withCurrentAddress(instance_id, address, (chat) =>
      receipts.record({ ...receipt, chat, ...(participant && { participant }) }),
    );
  };
}

/** Stores changes of logged messages in the right chat, for either address that the network reports. */
async function recordAddressedChange(
  { db, engine, conversations, live }: SessionEventRecorderDeps,
  instance: SessionInstance,
  reported: MessageChange,
): Promise<void> {
  const { id } = instance;
  await conversations.linkIdentity(instance, reported.chat, reported.by);
  const change = { ...reported, by: await conversations.identify(id, reported.by) };
  const isOfIgnored = isGroupJid(reported.chat) && (await live.get(id)).ignore_groups;
  await conversations.withCurrentAddress(id, reported.chat, (chat) =>
    recordMessageChange(db, engine, id, { ...change, chat }, isOfIgnored),
  );
}
