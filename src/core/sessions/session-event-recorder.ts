import { sql } from "kysely";
import type { Engine } from "../../engine/engine.ts";
import type { AttentionReason, NetworkEvent, NetworkMessage, Session } from "../../network/driver.ts";
import { isGroupJid } from "../../network/jid.ts";
import type { Db } from "../../platform/db/database.ts";
import type { Log } from "../../platform/log/log.ts";
import type { SecretBox } from "../../platform/secrets/secret-box.ts";
import { cleanText } from "../../platform/text/clean-text.ts";
import { recordChatUpdate } from "../chats/chats.ts";
import type { Conversations } from "../contacts/contacts.ts";
import { recordEvents } from "../events/events.ts";
import { createGroupFetcher, recordGroupChange, recordJoinRequests } from "../groups/groups.ts";
import { ATTENTION_MESSAGES, findAndLockInstance, type InstanceRow } from "../instances/instances.ts";
import {
  createAutoReader,
  createInboundRecorder,
  type FileReplacement,
  type InboundWriter,
  type MessageChange,
  type MessageCounters,
  type MessageReceipt,
  type ReceiptRecorder,
  type ReportedVote,
  recordMessageChange,
  recordPhoneCall,
  recordVote,
  replaceFile,
} from "../messages/messages.ts";
import { saveProfileOnInstance } from "../profile/profile.ts";
import type { ConnectionRecorder } from "./connection/connection-recorder.ts";
import { isConnectionEvent } from "./connection/find-status-transition.ts";
import type { LiveSettings } from "./live-settings.ts";
import { recordPresence } from "./record-presence.ts";
import type { PairingCommit } from "./sealed-pairing-store.ts";

/** The network repeats a request that is not handled, and withholds the same messages at each login. */
const SAME_DEMAND_MS = { passkey_challenge: 60_000, queue_withheld: 24 * 3_600_000 } as const;

interface AttentionDeps {
  db: Db;
  engine: Pick<Engine, "wake" | "publish">;
}

export interface SessionEventRecorderDeps {
  db: Db;
  engine: Engine;
  box: SecretBox;
  log: Log;
  conversations: Conversations;
  connections: ConnectionRecorder;
  live: LiveSettings;
  /** The live session of an instance on this node, while it is connected. */
  connectedSession: (instanceId: number) => Session | undefined;
  inbound: InboundWriter<PairingCommit>;
  receipts: ReceiptRecorder;
  counters?: MessageCounters | undefined;
  /** For what extensions store; nothing does without them. */
  followers?: readonly NetworkFollower[];
}

/** What sessions report and core itself does not store. */
export type FollowedEvent = Extract<
  NetworkEvent,
  {
    type: "label_changed" | "label_assigned" | "status_received" | "status_viewed";
  }
>;

/** Resolves once the event is stored, if this extension stores it. */
export type NetworkFollower = (
  instance: SessionInstance,
  event: FollowedEvent,
  conversations: Conversations,
) => Promise<void>;

/** The instance that a session belongs to. */
export interface SessionInstance {
  id: number;
  account_id: number;
}

/** Stores what sessions report through its features. */
export interface SessionEventRecorder {
  /** Resolves once the event is stored. */
  record(instance: SessionInstance, event: NetworkEvent): Promise<void>;
  /**
   * Stores messages and a change of their pairing in one commit. False: nothing was stored, because this node has
   * lost the session.
   */
  recordMessages(
    instance: SessionInstance,
    messages: readonly NetworkMessage[],
    change?: PairingCommit,
  ): Promise<boolean>;
}

export function createSessionEventRecorder(deps: SessionEventRecorderDeps): SessionEventRecorder {
  const { log, connectedSession } = deps;
  const recordReceipt = createAddressedReceiptRecorder(deps);
  const fetchGroup = createGroupFetcher({ db: deps.db, log, connectedSession });
  const recordMessages = createMessageRecorder(deps, recordReceipt, fetchGroup);
  return { record: createEventRecorder(deps, { recordMessages, recordReceipt, fetchGroup }), recordMessages };
}

interface EventParts {
  recordMessages: SessionEventRecorder["recordMessages"];
  recordReceipt: (receipt: MessageReceipt) => Promise<void>;
  fetchGroup: ReturnType<typeof createGroupFetcher>;
}

function createEventRecorder(
  deps: SessionEventRecorderDeps,
  { recordMessages, recordReceipt, fetchGroup }: EventParts,
): SessionEventRecorder["record"] {
  const { db, engine, conversations, connections, live, followers = [] } = deps;
  return async (instance, event) => {
    if (isConnectionEvent(event)) return connections.record(instance.id, event);
    switch (event.type) {
      case "message":
        return void (await recordMessages(instance, [event.message]));
      case "message_status":
        if (event.participant) fetchGroup(instance, event.chat);
        return recordReceipt({ instance_id: instance.id, ...event });
      case "message_edited":
      case "message_deleted":
      case "message_reaction":
      case "message_pinned":
      case "message_starred":
        return recordAddressedChange(deps, instance, event);
      case "poll_voted":
        return recordAddressedVote(deps, instance, event);
      case "change_ignored":
        return deps.counters?.countIgnoredChange(event.reason);
      case "message_file_replaced":
        return replaceAddressedFile(deps, instance, event);
      case "attention":
        return recordAttention({ db, engine }, instance.id, event.code);
      case "call_received":
        return recordPhoneCall(db, engine, instance.id, event);
      case "group_updated":
        return recordGroupChange({ db, engine }, instance, event, await live.get(instance.id));
      case "group_join_requested":
        return recordJoinRequests(deps, instance, event);
      case "presence_changed":
        return recordPresence(deps, instance.id, event);
      case "contact_updated":
        return conversations.updateContact(instance, event.contact);
      case "profile_updated":
        return saveProfileOnInstance(db, instance.id, { profile_name: cleanText(event.name) });
      case "chat_updated":
        return void (await recordChatUpdate({ db, conversations }, instance, event));
      case "status_received":
      case "status_viewed":
      case "label_changed":
      case "label_assigned":
        for (const follow of followers) await follow(instance, event, conversations);
    }
  };
}

/** Stores messages except from ignored groups, and marks them as read if the instance is set so. */
function createMessageRecorder(
  deps: SessionEventRecorderDeps,
  record: EventParts["recordReceipt"],
  fetchGroup: EventParts["fetchGroup"],
): SessionEventRecorder["recordMessages"] {
  const { log, conversations, live, connectedSession } = deps;
  const inbound = createInboundRecorder(conversations, deps.box, deps.inbound);
  const markRead = createAutoReader({ connectedSession, record, log });

  return async (instance, messages, change) => {
    const { ignore_groups, read_messages } = await live.get(instance.id);
    const wanted = messages.filter(({ chat_type }) => !ignore_groups || chat_type !== "group");
    const isSaved = await inbound.record(instance, wanted, change);
    for (const message of wanted) {
      if (message.chat_type === "group" && !message.history) fetchGroup(instance, message.chat);
      if (read_messages) markRead(instance.id, message);
    }
    return isSaved;
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

async function replaceAddressedFile(
  { db, engine, conversations }: SessionEventRecorderDeps,
  { id }: SessionInstance,
  replacement: FileReplacement,
): Promise<void> {
  const by = await conversations.identify(id, replacement.by);
  await conversations.withCurrentAddress(id, replacement.chat, (chat) =>
    replaceFile(db, engine, id, { ...replacement, by, chat }),
  );
}

/** Stores changes of logged messages in the right chat, for either address that the network reports. */
async function recordAddressedChange(
  { db, engine, conversations, live, counters }: SessionEventRecorderDeps,
  instance: SessionInstance,
  reported: MessageChange,
): Promise<void> {
  const { id } = instance;
  await conversations.linkIdentity(instance, reported.chat, reported.by);
  const change = { ...reported, by: await conversations.identify(id, reported.by) };
  const isOfIgnored = isGroupJid(reported.chat) && (await live.get(id)).ignore_groups;
  await conversations.withCurrentAddress(id, reported.chat, async (chat) => {
    const refused = await recordMessageChange(db, engine, id, { ...change, chat }, isOfIgnored);
    if (refused) counters?.countIgnoredChange(refused);
  });
}

/** Stores a vote in the right chat. */
async function recordAddressedVote(
  { db, engine, conversations, live, counters }: SessionEventRecorderDeps,
  instance: SessionInstance,
  reported: ReportedVote,
): Promise<void> {
  const { id } = instance;
  if (isGroupJid(reported.chat) && (await live.get(id)).ignore_groups) return;
  await conversations.linkIdentity(instance, reported.chat, reported.by);
  const by = await conversations.identify(id, reported.by);
  await conversations.withCurrentAddress(id, reported.chat, async (chat) => {
    const refused = await recordVote(db, engine, id, { ...reported, by, chat });
    if (refused) counters?.countIgnoredChange(refused);
  });
}

/** Stores a request of the network that a user must handle, and reports it as `instance.attention`. */
export async function recordAttention({ db, engine }: AttentionDeps, id: number, code: AttentionReason) {
  const lanes = await db.transaction().execute(async (trx) => {
    const row = await findAndLockInstance(trx, id);
    if (!row || isSameDemand(row, code)) return [];
    const since = new Date().toISOString();
    await trx
      .updateTable("instance")
      .set({ attention: JSON.stringify({ code, since }), updated_at: sql<Date>`now()` })
      .where("id", "=", id)
      .execute();
    const data = {
      code,
      message: ATTENTION_MESSAGES[code],
      since,
      phone: row.phone,
      jid: row.jid,
      status: row.status,
    };
    return recordEvents(trx, [{ event: "instance.attention", instance_id: id, chat: "instance", data }]);
  });
  engine.wake(lanes);
  engine.publish("instance", String(id));
}

function isSameDemand({ attention }: InstanceRow, code: AttentionReason): boolean {
  return attention?.code === code && Date.now() - Date.parse(attention.since) < SAME_DEMAND_MS[code];
}
