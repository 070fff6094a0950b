import type { WAMessage } from "baileys";
import type { NetworkEvent } from "../../driver.ts";
import type { IdentityStore } from "../keys/identity-store.ts";
import { readInboundMessage } from "../wire/read-inbound-message.ts";

const AT_ONCE = 50;

/** Reports messages from before the pairing, as history. */
export async function reportHistory(
  messages: readonly WAMessage[],
  identities: IdentityStore,
  report: (event: NetworkEvent) => Promise<void>,
): Promise<void> {
  for (let i = 0; i < messages.length; i += AT_ONCE) {
    const events = await Promise.all(
      messages.slice(i, i + AT_ONCE).map((one) => readHistory(one, identities)),
    );
    await Promise.all(events.map((event) => event && report(event)));
  }
}

async function readHistory(message: WAMessage, identities: IdentityStore): Promise<NetworkEvent | undefined> {
  const event = await readInboundMessage({ message, stanza: toStanzaAttributes(message) }, identities);
  if (event?.type !== "message") return undefined;
  return { type: "message", message: { ...event.message, history: true } };
}

/** The attributes that the message's stanza would have had. */
export function toStanzaAttributes({ key, messageTimestamp }: WAMessage): Record<string, string> {
  const chat = key.remoteJid ?? "";
  const writer = key.participant || undefined;
  return {
    from: chat,
    id: key.id ?? "",
    t: String(messageTimestamp ?? ""),
    ...(key.fromMe && !writer && { recipient: chat }),
    ...(writer && { participant: writer }),
    ...(writer && key.participantAlt && { participant_pn: key.participantAlt }),
    ...(!writer && !key.fromMe && key.remoteJidAlt && { sender_pn: key.remoteJidAlt }),
  };
}
