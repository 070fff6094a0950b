import { createDecipheriv, hkdfSync } from "node:crypto";
import { encodeBigEndian, proto, unpadRandomMax16 } from "baileys";
import type { SaidMedia } from "../control.ts";
import type { Handset } from "../handset.ts";
import { filePart, fromMessage, textOf, unwrapped } from "../message-content.ts";
import type { Network } from "../network.ts";
import { type BinaryNode, bytes, node, seconds } from "../protocol/nodes.ts";
import { signalAddress } from "../protocol/signal-end.ts";
import { wrongInAct } from "./check-act.ts";
import type { Envelope } from "./envelope.ts";
import { sendReceipt } from "./receipts.ts";
import { warningOf } from "./timers.ts";

const TAG_BYTES = 16;

const ASKS = 5;

/**
 * A phone receives a message: decrypts and stores it and sends a receipt, or requests a retry. Returns the message if
 * it is a request of an own device.
 */
export async function listen(
  network: Network,
  handset: Handset,
  envelope: Envelope,
): Promise<proto.IMessage | undefined> {
  if (handset.person.opaque) {
    acknowledge(network, handset, envelope);
    return undefined;
  }
  const { book } = network;
  const { id, from } = envelope;
  const { phone } = handset.person;
  const entry = { by: phone, from: from.person.phone, id, chat: chatOf(handset, envelope), at: Date.now() };
  try {
    const message = await open(handset, envelope);
    const whole = message.deviceSentMessage?.message ?? message;
    const said = openUnderSecret(handset, envelope, whole);
    book.decryption({ ...entry, kind: kindOf(whole), text: textOf(said) });
    if (envelope.peer) return said;
    note(network, handset, envelope, said);
    acknowledge(network, handset, envelope);
  } catch (error) {
    book.decryption({ ...entry, kind: "unreadable", error: String(error) });
    if (handset.kept(id)) acknowledge(network, handset, envelope);
    else await requestRetry(handset, envelope);
  }
  return undefined;
}

const BESIDES = ["messageContextInfo", "senderKeyDistributionMessage"];

const kindOf = (message: proto.IMessage): string =>
  Object.keys(unwrapped(message)).find((key) => !BESIDES.includes(key)) ?? "empty";

async function open(handset: Handset, { enc, from, to }: Envelope): Promise<proto.IMessage> {
  const author = signalAddress(from.person.lid, from.number);
  const whole: proto.IMessage = {};
  for (const one of enc) {
    const type = one.attrs.type;
    const padded =
      type === "skmsg" && to.kind === "group"
        ? await handset.signal.openForGroup(to.group.jid, author, bytes(one))
        : await handset.signal.open(author, {
            type: type === "pkmsg" ? type : "msg",
            ciphertext: bytes(one),
          });
    const part = proto.Message.decode(unpadRandomMax16(padded));
    const key = part.senderKeyDistributionMessage;
    if (key) await handset.signal.learnGroupKey(author, key);
    Object.assign(whole, part);
  }
  return whole;
}

/** Acknowledges repeated messages too, but records them once. */
function acknowledge(network: Network, handset: Handset, { id, from, to, list }: Envelope): void {
  if (from.person === handset.person) return;
  const receipt = { by: handset, of: from.person, chat: to, list, ids: [id] };
  const delay = network.settings.receiptDelayMs;
  if (delay <= 0) sendReceipt(receipt);
  else setTimeout(() => sendReceipt(receipt), delay);
}

/** Asks the sending device for a message again. */
export async function requestRetry(
  handset: Handset,
  { id, from, to, at }: Pick<Envelope, "id" | "from" | "to" | "at">,
): Promise<void> {
  const count = handset.countRetry(id);
  if (count > ASKS) return;
  const { creds } = handset.signal;
  const content = [
    node("retry", { count, id, t: seconds(at), v: 1, error: 0 }),
    node("registration", {}, Buffer.from(encodeBigEndian(creds.registrationId))),
  ];
  if (count > 1) content.push(await keysNode(handset));
  sendReceipt({ by: handset, of: from.person, chat: to, ids: [id], type: "retry", content, device: from });
}

async function keysNode(handset: Handset): Promise<BinaryNode> {
  const { identity, signedPreKey, preKey } = await handset.bundle();
  const keyNode = (tag: string, { id, value }: { id: number; value: Uint8Array }, more: BinaryNode[] = []) =>
    node(tag, {}, [
      node("id", {}, Buffer.from(encodeBigEndian(id, 3))),
      node("value", {}, Buffer.from(value)),
      ...more,
    ]);
  return node("keys", {}, [
    node("type", {}, Buffer.from([5])),
    node("identity", {}, Buffer.from(identity)),
    ...(preKey ? [keyNode("key", preKey)] : []),
    keyNode("skey", signedPreKey, [node("signature", {}, Buffer.from(signedPreKey.signature))]),
  ]);
}

const chatOf = (handset: Handset, { from, to }: Envelope): string => {
  if (to.kind === "group") return to.group.jid;
  return from.person === handset.person ? to.person.jid() : from.person.jid();
};

function note(network: Network, handset: Handset, envelope: Envelope, message: proto.IMessage): void {
  const { id, from, to, at, type, attrs, list } = envelope;
  const who = {
    chat: chatOf(handset, envelope),
    from: from.person.phone,
    from_me: from.person === handset.person,
    at: Date.now(),
  };
  const warning = from.number > 0 && warningOf(handset, from.person, to, message);
  if (warning) network.book.unhandled.push(`message ${id}, which will not disappear: ${warning}`);
  const wrong = from.number > 0 && wrongInAct(handset, envelope, message);
  if (wrong) network.book.unhandled.push(`act ${id}: ${wrong}`);
  const action = actionOf(message);
  if (action) {
    if (!handset.kept(id)) handset.see({ ...who, ...action });
  } else if (kindOf(message) !== "empty") {
    const content = fromMessage(message, (jid) => isPerson(handset, jid));
    handset.see({ ...who, type: "message", id, content, times: 1 });
  }
  handset.store({ id, from: from.person, device: from, to, at, message, type, attrs, list });
}

const isPerson = ({ person }: Handset, jid: string): boolean =>
  [person.jid("pn"), person.jid("lid")].includes(jid.replace(/:\d+@/, "@"));

type Action =
  | { type: "edited"; id: string; text: string; media_type?: SaidMedia["media_type"] }
  | { type: "deleted"; id: string }
  | { type: "reaction"; id: string; reaction: string }
  | { type: "pinned"; id: string; seconds: number };

function actionOf(message: proto.IMessage): Action | undefined {
  const { protocolMessage: protocol, reactionMessage: reaction, pinInChatMessage: pin } = unwrapped(message);
  const { Type } = proto.Message.ProtocolMessage;
  if (reaction) return { type: "reaction", id: reaction.key?.id ?? "", reaction: reaction.text ?? "" };
  if (pin) {
    const seconds = message.messageContextInfo?.messageAddOnDurationInSecs ?? 0;
    return { type: "pinned", id: pin.key?.id ?? "", seconds };
  }
  const id = protocol?.key?.id ?? "";
  if (protocol?.type === Type.REVOKE) return { type: "deleted", id };
  if (protocol?.type === Type.MESSAGE_EDIT) {
    const edited = protocol.editedMessage ?? {};
    const file = filePart(edited);
    return { type: "edited", id, text: textOf(edited) ?? "", ...(file && { media_type: file.type }) };
  }
  return undefined;
}

/**
 * Decrypts a reaction or an edit with its message's secret. Other or undecryptable messages are returned unchanged.
 * In a community's announcement group phones show no other reactions.
 */
function openUnderSecret(handset: Handset, envelope: Envelope, message: proto.IMessage): proto.IMessage {
  const { to } = envelope;
  if (message.reactionMessage && to.kind === "group" && to.group.isOfCommunity) return {};
  const { encReactionMessage: reaction, secretEncryptedMessage: edit } = message;
  const plaintext = decrypt(handset, envelope, reaction ?? edit, reaction ? "Enc Reaction" : "Message Edit");
  if (!plaintext) return message;
  if (edit) return proto.Message.decode(plaintext);
  const key = reaction?.targetMessageKey ?? {};
  return { reactionMessage: { ...proto.Message.ReactionMessage.decode(plaintext), key } };
}

/** The key names both people with the chat's addressing; the reacting person by LID. */
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
