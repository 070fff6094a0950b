import type { InboundContent, Jid, MessageId, MessageStatus, NetworkEvent } from "../../driver.ts";
import { isGroupJid } from "../../jid.ts";
import type { ChatState, Label, LabelAssignment, Presence } from "../../session-operations.ts";
import { identityOf, type SandboxPerson } from "../sandbox-numbers.ts";
import { type GroupEvent, toGroupUpdate } from "./group-event.ts";

/** The content of an inbox entry, by kind; chat and time have columns of their own. */
export type InboxEntry =
  | {
      kind: "message";
      body: {
        id: MessageId;
        from_me: boolean;
        sender: SandboxPerson;
        content: InboundContent;
        at: string;
        /** The phone that receives the delivery status, and its name for the chat. */
        receipt?: { phone: string; chat: Jid };
      };
    }
  | {
      kind: "status";
      body: {
        ids: MessageId[];
        from_me: boolean;
        status: MessageStatus;
        /** In a group: the member. */
        by?: SandboxPerson | null;
      };
    }
  | { kind: "edited"; body: { id: MessageId; from_me: boolean; by: SandboxPerson; text: string } }
  | { kind: "deleted"; body: { id: MessageId; from_me: boolean; by: SandboxPerson } }
  | { kind: "reaction"; body: { id: MessageId; from_me: boolean; by: SandboxPerson; reaction: string } }
  | { kind: "vote"; body: { id: MessageId; from_me: boolean; by: SandboxPerson; options: string[] } }
  | { kind: "pinned"; body: { id: MessageId; from_me: boolean; by: SandboxPerson; seconds: number } }
  | { kind: "starred"; body: { id: MessageId; from_me: boolean; by: SandboxPerson; starred: boolean } }
  | { kind: "call"; body: { from: SandboxPerson; call_id: string; video: boolean } }
  | { kind: "group"; body: GroupEvent }
  | { kind: "join_request"; body: { who: SandboxPerson; method: string } }
  | { kind: "presence"; body: { who: SandboxPerson; presence: Presence; last_seen_at: string | null } }
  | { kind: "contact"; body: SandboxPerson & { name: string | null; verified_name: string | null } }
  | { kind: "chat"; body: ChatStateUpdate }
  | { kind: "story"; body: { id: MessageId; by: SandboxPerson; content: InboundContent } }
  | { kind: "viewed"; body: { ids: MessageId[]; by: SandboxPerson } }
  | { kind: "label"; body: { label: Label; is_deleted: boolean } }
  | { kind: "labelled"; body: LabelAssignment };

/** The change of a chat; its time is text in a stored entry. */
export type ChatStateUpdate = Omit<ChatState, "muted_until"> & { muted_until?: string | Date | null };

/** An entry as read from the inbox. */
export type QueuedInboxEntry = InboxEntry & { id: number; chat: Jid; at: Date; offline: boolean };

/** One event and the inbox entries that it reports. */
export interface InboxEvent {
  event: NetworkEvent;
  entryIds: number[];
}

/** Converts the entries of one chat to events, in order; merges adjacent equal statuses. */
export function toInboxEvents(entries: readonly QueuedInboxEntry[]): InboxEvent[] {
  const events: InboxEvent[] = [];
  for (const entry of entries) {
    const event = eventOf(entry);
    const last = events.at(-1);
    if (last && event.type === "message_status" && isSameStatus(last.event, event)) {
      last.event = { ...event, ids: [...last.event.ids, ...event.ids] };
      last.entryIds.push(entry.id);
    } else {
      events.push({ event, entryIds: [entry.id] });
    }
  }
  return events;
}

type StatusEvent = Extract<NetworkEvent, { type: "message_status" }>;

function isSameStatus(one: NetworkEvent, other: StatusEvent): one is StatusEvent {
  return (
    one.type === "message_status" &&
    one.status === other.status &&
    one.from_me === other.from_me &&
    one.participant?.jid === other.participant?.jid
  );
}

function eventOf(entry: QueuedInboxEntry): NetworkEvent {
  const { chat, at } = entry;
  switch (entry.kind) {
    case "message":
      return messageEvent(entry);
    case "status":
      return statusEvent(entry.body, chat, at);
    case "edited":
      return { type: "message_edited", chat, at, ...entry.body, by: identityOf(entry.body.by) };
    case "deleted":
      return { type: "message_deleted", chat, at, ...entry.body, by: identityOf(entry.body.by) };
    case "reaction":
      return { type: "message_reaction", chat, at, ...entry.body, by: identityOf(entry.body.by) };
    case "vote":
      return { type: "poll_voted", chat, at, ...entry.body, by: identityOf(entry.body.by) };
    case "pinned":
      return { type: "message_pinned", chat, at, ...entry.body, by: identityOf(entry.body.by) };
    case "starred":
      return { type: "message_starred", chat, at, ...entry.body, by: identityOf(entry.body.by) };
    case "call":
      return { type: "call_received", at, ...entry.body, from: identityOf(entry.body.from) };
    case "group":
      return { type: "group_updated", group: chat, at, change: toGroupUpdate(entry.body) };
    case "presence": {
      const { who, presence, last_seen_at: last } = entry.body;
      const last_seen_at = last === null ? null : new Date(last);
      return { type: "presence_changed", chat, at, who: identityOf(who), presence, last_seen_at };
    }
    case "join_request": {
      const { who, method } = entry.body;
      return { type: "group_join_requested", group: chat, at, who: [identityOf(who)], method };
    }
    case "contact":
      return contactEvent(entry.body);
    case "chat":
      return { type: "chat_updated", chat, change: toChatState(entry.body) };
    case "story":
      return { type: "status_received", at, ...entry.body, by: identityOf(entry.body.by) };
    case "viewed":
      return { type: "status_viewed", at, ...entry.body, by: identityOf(entry.body.by) };
    case "label":
      return { type: "label_changed", ...entry.body };
    case "labelled":
      return { type: "label_assigned", ...entry.body };
  }
}

function statusEvent(
  { by, ...status }: Extract<QueuedInboxEntry, { kind: "status" }>["body"],
  chat: Jid,
  at: Date,
): NetworkEvent {
  return { type: "message_status", chat, at, ...status, ...(by && { participant: identityOf(by) }) };
}

function contactEvent({
  name,
  verified_name,
  ...person
}: Extract<QueuedInboxEntry, { kind: "contact" }>["body"]): NetworkEvent {
  const { jid, lid, phone, push_name } = identityOf(person);
  const contact = { jid: phone === null ? null : jid, lid, phone, name, push_name, verified_name };
  return { type: "contact_updated", contact };
}

export function toChatState({ muted_until, ...state }: ChatStateUpdate): ChatState {
  if (muted_until === undefined) return state;
  return { ...state, muted_until: muted_until === null ? null : new Date(muted_until) };
}

function messageEvent(entry: Extract<QueuedInboxEntry, { kind: "message" }>): NetworkEvent {
  const { id, from_me, sender, content, at } = entry.body;
  const message = {
    id,
    chat: entry.chat,
    chat_type: isGroupJid(entry.chat) ? ("group" as const) : ("contact" as const),
    from_me,
    sender: identityOf(sender),
    content,
    at: new Date(at),
    ...(entry.offline && { offline: true }),
  };
  return { type: "message", message };
}
