import type { proto, WAMessageKey } from "baileys";
import type { MessageId, OpenOptions } from "../driver.ts";
import type { People } from "./people.ts";
import { rewriteContent } from "./write-content.ts";

/** A message that was sent before, for a recipient who could not read it; undefined when the gateway has it no longer. */
export async function findAgain(
  { remoteJid, id }: WAMessageKey,
  people: People,
  findSent: OpenOptions["findSent"],
): Promise<proto.IMessage | undefined> {
  const chat = remoteJid && (await people.chatOf(remoteJid));
  if (!chat || !id) return undefined;
  const content = await findSent?.(chat, id as MessageId);
  return content && rewriteContent(content, { to: chat, me: people.me.jid });
}
