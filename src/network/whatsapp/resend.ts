import type { proto, WAMessageKey } from "baileys";
import type { MessageId, OpenOptions } from "../driver.ts";
import type { MemberAddresses } from "./member-addresses.ts";
import type { People } from "./people.ts";
import { rewriteContent } from "./write-content.ts";

export interface ResendOptions extends Pick<OpenOptions, "findSent"> {
  people: People;
  members: MemberAddresses;
}

/** A message that was sent before, for a recipient who could not read it; undefined when the gateway has it no longer. */
export async function findAgain(
  { remoteJid, id }: WAMessageKey,
  { people, members, findSent }: ResendOptions,
): Promise<proto.IMessage | undefined> {
  const chat = remoteJid && (await people.chatOf(remoteJid));
  if (!chat || !id) return undefined;
  const sent = await findSent?.(chat, id as MessageId);
  if (!sent) return undefined;
  const { me, content } = await members.inChat(chat, sent);
  return rewriteContent(content, { to: chat, me });
}
