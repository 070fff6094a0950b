import type { Jid } from "../../../../network/driver.ts";
import type { NumberResolver } from "../../../contacts/contacts.ts";
import type { StoredContent } from "../../log/message-view.ts";
import type { SendingInstance } from "../sending-instance.ts";

/**
 * Names people by the number format that the network knows, in the text too: clients draw a mention only
 * where the text has `@` and the digits of its address.
 */
export async function resolveMentions(
  numbers: NumberResolver,
  instance: Pick<SendingInstance, "id" | "account_id">,
  content: StoredContent,
): Promise<StoredContent> {
  const { mentions: given = [] } = content;
  if (given.length === 0) return content;
  const mentions = await numbers.settleAll(instance, given);
  if (mentions.every((jid, at) => jid === given[at])) return content;
  const renamed = new Map(given.map((jid, at) => [digitsOf(jid), digitsOf(mentions[at] ?? jid)]));
  const rename = (text: string) =>
    text.replace(/@(\d+)/g, (whole, digits: string) =>
      renamed.has(digits) ? `@${renamed.get(digits)}` : whole,
    );
  const settled = { ...content, mentions: [...new Set(mentions)] };
  if (settled.kind === "text") return { ...settled, text: rename(settled.text) };
  if (settled.kind === "media" && settled.caption) return { ...settled, caption: rename(settled.caption) };
  return settled;
}

function digitsOf(jid: Jid): string {
  return jid.slice(0, jid.indexOf("@"));
}
