import type { proto, WAMessageKey } from "baileys";
import type { MessageId, OpenSessionOptions } from "../../driver.ts";
import type { BaileysCredentials } from "../keys/baileys-credentials.ts";
import type { IdentityStore } from "../keys/identity-store.ts";
import { ownMessageSecret } from "../wire/message-secret.ts";
import { writeResentContent } from "../wire/write-content.ts";
import type { MemberAddresses } from "./member-addresses.ts";

export interface FindMessageToResendOptions extends Pick<OpenSessionOptions, "findSent"> {
  identities: IdentityStore;
  memberAddresses: MemberAddresses;
  creds: BaileysCredentials;
}

/** A sent message for a recipient who could not decrypt it; undefined if the gateway no longer has it. */
export async function findMessageToResend(
  { remoteJid, id }: WAMessageKey,
  { identities, memberAddresses, creds, findSent }: FindMessageToResendOptions,
): Promise<proto.IMessage | undefined> {
  const chat = remoteJid && (await identities.chatOf(remoteJid));
  if (!chat || !id) return undefined;
  const sent = await findSent?.(chat, id as MessageId);
  if (!sent) return undefined;
  const { me, content } = await memberAddresses.addressMessage(chat, sent);
  return writeResentContent(content, { to: chat, me, secret: ownMessageSecret(creds, id as MessageId) });
}
