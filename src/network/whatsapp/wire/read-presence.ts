import { type BinaryNode, getBinaryNodeChild } from "baileys";
import type { NetworkEvent, Presence } from "../../driver.ts";
import { isGroupJid } from "../../jid.ts";
import type { IdentityStore } from "../keys/identity-store.ts";
import { plainJid } from "../stanzas/plain-jid.ts";
import { parseTimestamp } from "../stanzas/stanza.ts";

/** The event of a `presence` or `chatstate` stanza; undefined for one that shows no state of a person. */
export async function readPresence(
  node: BinaryNode,
  identities: IdentityStore,
): Promise<NetworkEvent | undefined> {
  const { from, participant = from, participant_pn, participant_lid, last } = node.attrs;
  const [chat, author] = [plainJid(from), plainJid(participant)];
  const presence = stateOf(node);
  if (!chat || !author || !presence || isGroupJid(author) || identities.isMe(author)) return undefined;
  const other = participant_pn ?? participant_lid;
  const [who] = other
    ? [await identities.identify(author, other)]
    : await identities.identifyIn(chat, [author]);
  if (!who) return undefined;
  const isLastShown = presence === "unavailable" && last !== undefined && SECONDS.test(last);
  return {
    type: "presence_changed",
    chat: isGroupJid(chat) ? chat : who.jid,
    who,
    presence,
    last_seen_at: isLastShown ? parseTimestamp(last) : null,
    at: new Date(),
  };
}

/** Without it, the time is hidden. */
const SECONDS = /^\d{1,11}$/;

function stateOf(node: BinaryNode): Presence | undefined {
  if (node.tag === "presence") return node.attrs.type === "unavailable" ? "unavailable" : "available";
  const composing = getBinaryNodeChild(node, "composing");
  if (composing) return composing.attrs.media === "audio" ? "recording" : "typing";
  return getBinaryNodeChild(node, "paused") && "paused";
}
