import { proto } from "baileys";
import type { Handset } from "../handset.ts";
import { addressJid, type Envelope } from "./envelope.ts";

const { PIN_FOR_ALL } = proto.Message.PinInChatMessage.Type;
const { REVOKE } = proto.Message.ProtocolMessage.Type;

/** Why a phone would not do what a linked device sent about a message; undefined if it does, or for other messages. */
export function wrongInAct(
  handset: Handset,
  envelope: Envelope,
  message: proto.IMessage,
): string | undefined {
  const { pinInChatMessage: pin, protocolMessage: protocol } = message;
  if (pin) return wrongInKey(handset, envelope, pin.key) ?? wrongInPin(envelope, message);
  return protocol?.type === REVOKE ? wrongInRevoke(handset, envelope, protocol.key) : undefined;
}

/** An admin deletes another member's message under the number 8. */
function wrongInRevoke(
  handset: Handset,
  envelope: Envelope,
  key: proto.IMessageKey | null | undefined,
): string | undefined {
  const { attrs, from } = envelope;
  const writer = handset.kept(key?.id ?? "")?.from;
  // The phone may not have got what it has to delete.
  if (!writer) return undefined;
  const edit = writer === from.person ? "7" : "8";
  return attrs?.edit === edit ? wrongInKey(handset, envelope, key) : `the stanza says edit ${attrs?.edit}`;
}

function wrongInPin(
  { attrs, enc }: Envelope,
  { pinInChatMessage: pin, messageContextInfo: info }: proto.IMessage,
): string | undefined {
  const seconds = info?.messageAddOnDurationInSecs ?? 0;
  if (attrs?.edit !== "2") return `the stanza says edit ${attrs?.edit}`;
  if (enc.some((one) => one.attrs["decrypt-fail"] !== "hide")) return "a failed decryption would be shown";
  if (!Number(pin?.senderTimestampMs)) return "it has no time";
  const isKnown = pin?.type !== PIN_FOR_ALL || [86_400, 604_800, 2_592_000].includes(seconds);
  return isKnown ? undefined : `no phone offers ${seconds} seconds`;
}

/** The key is written from the point of view of the sender, and names people as the chat does. */
function wrongInKey(
  handset: Handset,
  { from, to }: Envelope,
  key: proto.IMessageKey | null | undefined,
): string | undefined {
  const stored = handset.kept(key?.id ?? "");
  if (!stored) return `there is no message ${key?.id}`;
  const isOwn = stored.from === from.person;
  const writer = to.kind === "group" && !isOwn ? stored.from.jid(to.group.addressing) : undefined;
  if (key?.remoteJid !== addressJid(to)) return `the key names the chat ${key?.remoteJid}`;
  if (key?.fromMe !== isOwn) return `the key says that the message is the sender's: ${key?.fromMe}`;
  return (key?.participant || undefined) === writer ? undefined : `the key names ${key?.participant}`;
}
