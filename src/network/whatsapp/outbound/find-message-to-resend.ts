import type { proto, WAMessageKey } from "baileys";
import type { MessageId, OpenSessionOptions } from "../../driver.ts";
import type { BaileysCredentials } from "../keys/baileys-credentials.ts";
import type { IdentityStore } from "../keys/identity-store.ts";
import { applyTimer } from "../stanzas/chat-timer.ts";
import { plainJid } from "../stanzas/plain-jid.ts";
import { ownMessageSecret } from "../wire/sealed/message-secret.ts";
import { writeResentContent } from "../wire/write-content.ts";
import type { ChatTimers } from "./chat-timers.ts";
import type { MemberAddresses } from "./member-addresses.ts";

export interface FindMessageToResendOptions extends Pick<OpenSessionOptions, "findSent"> {
  identities: IdentityStore;
  memberAddresses: MemberAddresses;
  creds: BaileysCredentials;
  timers: ChatTimers;
}

/** A sent message for a recipient who could not decrypt it; undefined if the gateway no longer has it. */
export async function findMessageToResend(
  { remoteJid, id }: WAMessageKey,
  { identities, memberAddresses, timers, creds, findSent }: FindMessageToResendOptions,
): Promise<proto.IMessage | undefined> {
  const chat = remoteJid && (await identities.chatOf(remoteJid));
  if (!chat || !id) return undefined;
  const sent = await findSent?.(chat, id as MessageId);
  if (!sent) return undefined;
  const to = plainJid(remoteJid) ?? chat;
  const { me, content } = await memberAddresses.addressMessage(chat, sent, to);
  const secret = ownMessageSecret(creds, id as MessageId);
  const message = writeResentContent(content, { to, me, secret });
  const timer = message && (await timers.find(chat));
  if (timer) applyTimer(message, timer);
  return message;
}
