import { createDecipheriv, hkdfSync } from "node:crypto";
import { proto } from "baileys";
import type { Envelope } from "./envelope.ts";
import type { Handset } from "./handset.ts";

const TAG_BYTES = 16;

/**
 * What a phone shows of a reaction or an edit that is encrypted under the secret of its message; the message as it is if it
 * is none, or cannot be read. In the announcement group of a community phones show no other reaction.
 */
export function openUnderSecret(
  handset: Handset,
  envelope: Envelope,
  message: proto.IMessage,
): proto.IMessage {
  const { to } = envelope;
  if (message.reactionMessage && to.kind === "group" && to.group.isOfCommunity) return {};
  const { encReactionMessage: reaction, secretEncryptedMessage: edit } = message;
  const plaintext = decrypt(handset, envelope, reaction ?? edit, reaction ? "Enc Reaction" : "Message Edit");
  if (!plaintext) return message;
  if (edit) return proto.Message.decode(plaintext);
  const key = reaction?.targetMessageKey ?? {};
  return { reactionMessage: { ...proto.Message.ReactionMessage.decode(plaintext), key } };
}

/** The key names both people as the chat does; the one who reacts by LID. */
function decrypt(
  handset: Handset,
  { from, to }: Envelope,
  sealed: proto.Message.IEncReactionMessage | null | undefined,
  use: string,
): Buffer | undefined {
  const { targetMessageKey, encPayload, encIv } = sealed ?? {};
  const id = targetMessageKey?.id ?? "";
  const stored = handset.kept(id);
  const secret = stored?.message.messageContextInfo?.messageSecret;
  if (!stored || !secret || !encPayload || !encIv) return undefined;
  const usual = to.kind === "group" ? to.group.addressing : to.addressing;
  const author = stored.from.jid(usual);
  const sender = from.person.jid(use === "Enc Reaction" ? "lid" : usual);
  const key = new Uint8Array(hkdfSync("sha256", secret, "", id + author + sender + use, 32));
  const decipher = createDecipheriv("aes-256-gcm", key, encIv, { authTagLength: TAG_BYTES });
  decipher.setAuthTag(encPayload.subarray(-TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(encPayload.subarray(0, -TAG_BYTES)), decipher.final()]);
  } catch {
    return undefined;
  }
}
