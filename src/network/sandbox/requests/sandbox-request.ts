import type { Content, InboundContent, Jid, MessageId, MessageRef, QuotedMessage } from "../../driver.ts";
import { isGroupJid, newMessageId, phoneJid } from "../../jid.ts";
import type { InboxEntry } from "../inbox/inbox-entry.ts";
import type { LoggedInDevice } from "../pairing/log-in.ts";
import { behaviourOf, phoneOf, type SandboxPerson } from "../sandbox-numbers.ts";
import type { SandboxTiming } from "../sandbox-timing.ts";

/** An inbox entry that the network itself sends back after a delay. */
export type DelayedInboxEntry = InboxEntry & { after_ms: number };

/** One request of a session as it reaches the network. */
export interface SandboxRequest {
  device: number;
  session: string;
  /** Phone of the session. */
  me: string;
  /** The recipient's name for this chat. */
  my_chat: Jid;
  action: "send" | "edit" | "delete" | "react" | "pin" | "star" | "delete_for_me" | "presence";
  message_id: string | null;
  target_id: string | null;
  chat: string | null;
  /** Phone of the recipient, if the chat is with one person. */
  phone: string | null;
  kind: string | null;
  content: unknown;
  /** The text that a reply to this message quotes. */
  text: string | null;
  /** The test number's behaviour, used if no instance has paired the number. */
  rule: string;
  /** For the recipient's devices. */
  peer: InboxEntry | null;
  /** For the other devices of the sender's phone. */
  own: InboxEntry | null;
  replies: DelayedInboxEntry[];
}

/** Source and destination of a request. */
export interface RequestContext {
  me: LoggedInDevice;
  session: string;
  to: Jid;
  timing: SandboxTiming;
}

export function sendRequest(transport: RequestContext, content: Content, id: MessageId): SandboxRequest {
  const { me, to } = transport;
  const at = new Date().toISOString();
  const text = quoteTextOf(content);
  const message = { id, sender: personOf(me), at };
  const peerContent = content.quoted
    ? { ...content, quoted: quotedForPeer(content.quoted, transport) }
    : content;
  return {
    ...requestOf(transport, "send", id),
    kind: content.kind === "media" ? content.media_type : content.kind,
    content,
    text,
    peer: {
      kind: "message",
      body: {
        ...message,
        from_me: false,
        content: peerContent,
        receipt: { phone: me.phone, chat: to },
      },
    },
    own: { kind: "message", body: { ...message, from_me: true, content } },
    replies: repliesTo(transport, id, text ?? `[${content.kind}]`),
  };
}

export function editRequest(
  transport: RequestContext,
  target: MessageRef,
  text: string,
  id: MessageId,
): SandboxRequest {
  const body = { id: target.id, by: personOf(transport.me), text };
  return {
    ...requestOf(transport, "edit", id, target.id),
    content: { text },
    peer: { kind: "edited", body: { ...body, from_me: false } },
    own: { kind: "edited", body: { ...body, from_me: true } },
  };
}

export function deleteRequest(transport: RequestContext, target: MessageRef, id: MessageId): SandboxRequest {
  const body = { id: target.id, by: personOf(transport.me) };
  return {
    ...requestOf(transport, "delete", id, target.id),
    peer: { kind: "deleted", body: { ...body, from_me: !target.from_me } },
    own: { kind: "deleted", body: { ...body, from_me: target.from_me } },
  };
}

export function reactRequest(
  transport: RequestContext,
  target: MessageRef,
  reaction: string,
  id: MessageId,
): SandboxRequest {
  const body = { id: target.id, by: personOf(transport.me), reaction };
  return {
    ...requestOf(transport, "react", id, target.id),
    content: { reaction },
    peer: { kind: "reaction", body: { ...body, from_me: !target.from_me } },
    own: { kind: "reaction", body: { ...body, from_me: target.from_me } },
  };
}

export function pinRequest(
  transport: RequestContext,
  target: MessageRef,
  seconds: number,
  id: MessageId,
): SandboxRequest {
  const body = { id: target.id, by: personOf(transport.me), seconds };
  return {
    ...requestOf(transport, "pin", id, target.id),
    content: { seconds },
    peer: { kind: "pinned", body: { ...body, from_me: !target.from_me } },
    own: { kind: "pinned", body: { ...body, from_me: target.from_me } },
  };
}

/** Only the sender's own devices hear of it. */
export function starRequest(
  transport: RequestContext,
  target: MessageRef,
  starred: boolean,
  id: MessageId,
): SandboxRequest {
  const body = { id: target.id, from_me: target.from_me, by: personOf(transport.me), starred };
  return {
    ...requestOf(transport, "star", id, target.id),
    content: { starred },
    own: { kind: "starred", body },
    rule: "accepted",
  };
}

/** Nobody hears of it: the phone keeps no copy here. */
export function deleteForMeRequest(
  transport: RequestContext,
  target: MessageRef,
  id: MessageId,
): SandboxRequest {
  return { ...requestOf(transport, "delete_for_me", id, target.id), rule: "accepted" };
}

export function presenceRequest(
  transport: Omit<RequestContext, "to">,
  presence: string,
  to: Jid | undefined,
): SandboxRequest {
  const nowhere = { ...transport, to: to ?? phoneJid(transport.me.phone) };
  return { ...requestOf(nowhere, "presence", null), kind: presence, rule: "accepted" };
}

function requestOf(
  { me, session, to, timing }: RequestContext,
  action: SandboxRequest["action"],
  message_id: MessageId | null,
  target_id: MessageId | null = null,
): SandboxRequest {
  const phone = phoneOf(to);
  const isUnknown = phone === null && to.endsWith("@lid");
  return {
    device: me.device,
    session,
    me: me.phone,
    my_chat: phoneJid(me.phone),
    action,
    message_id,
    target_id,
    chat: to,
    phone,
    kind: null,
    content: null,
    text: null,
    rule: isUnknown ? "missing" : behaviourOf(phone, timing).rule,
    peer: null,
    own: null,
    replies: [],
  };
}

function repliesTo({ me, to, timing }: RequestContext, id: MessageId, text: string): DelayedInboxEntry[] {
  const { deliveredMs, readMs, echoMs } = behaviourOf(phoneOf(to), timing);
  const replies: DelayedInboxEntry[] = [];
  const status = (state: "delivered" | "read", after_ms: number) =>
    replies.push({ kind: "status", body: { ids: [id], from_me: true, status: state }, after_ms });
  if (deliveredMs !== undefined) status("delivered", deliveredMs);
  if (readMs !== undefined) status("read", readMs);
  if (echoMs !== undefined) replies.push(echoOf(phoneOf(to) ?? me.phone, text, echoMs));
  return replies;
}

function echoOf(phone: string, text: string, after_ms: number): DelayedInboxEntry {
  const body = {
    id: newMessageId(),
    from_me: false,
    sender: { phone, push_name: "Echo" },
    content: { kind: "text" as const, text: `echo: ${text}` },
    at: new Date(Date.now() + after_ms).toISOString(),
  };
  return { kind: "message", body, after_ms };
}

/** The text that a quote of this content shows. */
export function quoteTextOf(content: InboundContent): string | null {
  switch (content.kind) {
    case "text":
      return content.text;
    case "media":
      return content.caption ?? null;
    case "location":
    case "contact":
      return content.name ?? null;
    case "unsupported":
      return null;
  }
}

// Converts a quote to the recipient's view; in a group, a quote of another member may not be the recipient's.
function quotedForPeer(quoted: QuotedMessage, { me, to }: RequestContext): QuotedMessage {
  if (quoted.from_me) return { ...quoted, from_me: false, sender: phoneJid(me.phone) };
  return isGroupJid(to) ? quoted : { ...quoted, from_me: true, sender: undefined };
}

function personOf({ phone, push_name }: LoggedInDevice): SandboxPerson {
  return { phone, push_name };
}
