import { proto, toNumber } from "baileys";
import type { Identity, Jid, MessageId, NetworkEvent, PollContent } from "../../../driver.ts";
import { openMessage } from "../message-fields.ts";
import { readPoll, voteTime } from "../poll/read-poll.ts";
import { textOf } from "../read-content.ts";
import { type EncryptedChange, secretIn } from "./message-secret.ts";

/** What is encrypted under the secret of another message: an edit of any kind, a poll's new option, a vote, and others. */
export interface SealedEvent {
  type: "sealed";
  kind: SealedKind;
  change: EncryptedChange;
  chat: Jid;
  /** The message that it is about. */
  id: MessageId;
  from_me: boolean;
  by: Identity;
  at: Date;
}

export type SealedKind = "message" | "event" | "poll" | "option" | "vote" | "reaction" | "comment";

const { EVENT_EDIT, MESSAGE_EDIT } = proto.Message.SecretEncryptedMessage.SecretEncType;

/** By `secretEncType`; the last two are newer than Baileys' proto. */
const EDITS: Readonly<Record<number, Pick<SealedEvent, "kind"> & Pick<EncryptedChange, "uses">>> = {
  [EVENT_EDIT]: { kind: "event", uses: ["Event Edit"] },
  [MESSAGE_EDIT]: { kind: "message", uses: ["Message Edit"] },
  4: { kind: "poll", uses: ["Poll Edit"] },
  // Clients do not agree on its name.
  5: { kind: "option", uses: ["Poll Add Option", "Poll Edit"] },
};

const REACTION = { kind: "reaction", uses: ["Enc Reaction"] } as const;
const COMMENT = { kind: "comment", uses: ["Enc Comment"] } as const;
const VOTE = { kind: "vote", uses: ["Poll Vote"] } as const;

/** Undefined if the message is encrypted in no such way; `change_ignored` if it cannot be read. */
export function readSealed(
  body: proto.IMessage,
  { chat, from_me, by, at }: Pick<SealedEvent, "chat" | "from_me" | "by" | "at">,
): SealedEvent | Extract<NetworkEvent, { type: "change_ignored" }> | undefined {
  const { secretEncryptedMessage: edit, encReactionMessage: reaction, encCommentMessage: comment } = body;
  if (body.pollUpdateMessage) return readSealedVote(body.pollUpdateMessage, { chat, from_me, by, at });
  const sealed = edit ?? reaction ?? comment;
  const what = edit ? EDITS[edit.secretEncType ?? 0] : reaction ? REACTION : COMMENT;
  if (!sealed) return undefined;
  if (!what) return { type: "change_ignored", reason: "unknown_kind" };
  const { targetMessageKey, encPayload: payload, encIv: iv } = sealed;
  if (!targetMessageKey?.id || !payload || !iv) return { type: "change_ignored", reason: "undecryptable" };
  const { kind, uses } = what;
  const id = targetMessageKey.id as MessageId;
  return { type: "sealed", kind, change: { uses, payload, iv }, chat, id, from_me, by, at };
}

function readSealedVote(
  { pollCreationMessageKey, vote, senderTimestampMs }: proto.Message.IPollUpdateMessage,
  { at, ...about }: Pick<SealedEvent, "chat" | "from_me" | "by" | "at">,
): ReturnType<typeof readSealed> {
  const id = pollCreationMessageKey?.id as MessageId | null | undefined;
  const { encPayload: payload, encIv: iv } = vote ?? {};
  if (!id || !payload || !iv) return { type: "change_ignored", reason: "undecryptable" };
  const { kind, uses } = VOTE;
  return {
    type: "sealed",
    kind,
    change: { uses, payload, iv },
    id,
    ...about,
    at: voteTime(at, senderTimestampMs),
  };
}

/** The new text of an edited message, or the caption of its file; undefined if it has none, or is another message's. */
export function readEdit(
  plaintext: Uint8Array,
  { kind, id, ...made }: Pick<SealedEvent, "kind" | "id" | "from_me" | "at">,
): { text: string; at: Date; poll?: PollContent } | undefined {
  const message = decode(proto.Message, plaintext);
  const { key, editedMessage, timestampMs } = message?.protocolMessage ?? {};
  if (key?.id && key.id !== id) return undefined;
  const edited = editedMessage ?? message;
  const text = (edited && editedTextOf(edited)) ?? (kind === "event" ? eventTextOf(plaintext) : undefined);
  const poll = edited && readPoll(openMessage(edited));
  return text === undefined ? undefined : { text, at: editTime(made, timestampMs), ...(poll && { poll }) };
}

/** Some clients encrypt the event itself instead of a message. */
function eventTextOf(plaintext: Uint8Array): string | undefined {
  const eventMessage = decode(proto.Message.EventMessage, plaintext);
  return eventMessage?.name ? textOf({ eventMessage }) : undefined;
}

/** A file without a caption removes it; a message without text is none. */
export function editedTextOf(message: proto.IMessage): string | undefined {
  const { imageMessage, videoMessage, documentMessage } = openMessage(message);
  const file = imageMessage ?? videoMessage ?? documentMessage;
  return file ? (file.caption ?? "") : textOf(message);
}

const DAY_MS = 86_400_000;

/**
 * The time of an edit by its author's clock, since a copy that is sent again may have a later stanza. Own edits are also
 * made by the gateway, so that only the network's clock orders them.
 */
export function editTime(
  { from_me, at }: Pick<SealedEvent, "from_me" | "at">,
  timestampMs: proto.Message.IProtocolMessage["timestampMs"],
): Date {
  const ms = toNumber(timestampMs);
  return !from_me && Math.abs(ms - at.getTime()) < DAY_MS ? new Date(ms) : at;
}

export function readReactionText(plaintext: Uint8Array): string | undefined {
  const reaction = decode(proto.Message.ReactionMessage, plaintext);
  return reaction && (reaction.text ?? "");
}

/** A comment as a message of its own, with the secret around it. */
export function readComment(plaintext: Uint8Array, around: proto.IMessage): proto.IMessage | undefined {
  const comment = decode(proto.Message, plaintext);
  if (!comment || secretIn(comment)) return comment;
  comment.messageContextInfo = around.messageContextInfo;
  return comment;
}

function decode<T>(type: { decode(bytes: Uint8Array): T }, bytes: Uint8Array): T | undefined {
  try {
    return type.decode(bytes);
  } catch {
    return undefined;
  }
}
