import { proto } from "baileys";
import type { Handset } from "../handset.ts";
import { addressJid, type Envelope } from "./envelope.ts";

const { PIN_FOR_ALL } = proto.Message.PinInChatMessage.Type;

/** Why a phone would not show a pin that a linked device sent; undefined if it does. */
export function wrongInPin(
  handset: Handset,
  { from, to, attrs, enc }: Envelope,
  { pinInChatMessage: pin, messageContextInfo: info }: proto.IMessage,
): string | undefined {
  const { key, type, senderTimestampMs } = pin ?? {};
  const stored = handset.kept(key?.id ?? "");
  const isGroup = to.kind === "group";
  const isOwn = stored?.from === from.person;
  const wanted = stored && isGroup && !isOwn ? stored.from.jid(to.group.addressing) : undefined;
  const seconds = info?.messageAddOnDurationInSecs ?? 0;
  if (attrs?.edit !== "2") return `the stanza says edit ${attrs?.edit}`;
  if (enc.some((one) => one.attrs["decrypt-fail"] !== "hide")) return "a failed decryption would be shown";
  if (!stored) return `there is no message ${key?.id}`;
  if (key?.remoteJid !== addressJid(to)) return `the key names the chat ${key?.remoteJid}`;
  if (key?.fromMe !== isOwn) return `the key says that the message is the sender's: ${key?.fromMe}`;
  if ((key?.participant || undefined) !== wanted) return `the key names ${key?.participant}, not ${wanted}`;
  if (!Number(senderTimestampMs)) return "it has no time";
  if (type === PIN_FOR_ALL && ![86_400, 604_800, 2_592_000].includes(seconds)) return `${seconds} seconds`;
  return undefined;
}
