import { type BinaryNode, getBinaryNodeChild, getBinaryNodeChildren } from "baileys";
import type { Jid } from "../../driver.ts";
import { isLidJid } from "../../jid.ts";
import { plainJid } from "./plain-jid.ts";

/** A part of a message stanza that can be decrypted. */
export interface EncNode {
  attrs: Record<string, string>;
  content: Uint8Array;
}

/** The ciphertexts of a message stanza, in their order. */
export function encNodesOf(node: BinaryNode): EncNode[] {
  if (!Array.isArray(node.content)) return [];
  return node.content.flatMap(({ tag, attrs, content }) =>
    tag === "enc" && content instanceof Uint8Array ? [{ attrs, content }] : [],
  );
}

/** Identifies a stanza. */
export function stanzaKey({ from = "", participant = "", id = "" }: Record<string, string>): string {
  return `${from} ${participant} ${id}`;
}

/** The message's writer, as addressed in its stanza. */
export function authorOf({ participant, from = "" }: Record<string, string>): string {
  return participant ?? from;
}

/** One key for all messages of a person, from whichever device, even if the network uses two addresses. */
export function authorKeyOf(stanza: Record<string, string>): string {
  const { from = "", participant, participant_pn, sender_pn } = stanza;
  const address = participant ? (participant_pn ?? participant) : (sender_pn ?? from);
  return plainJid(address) ?? address;
}

/** The address of all stories. */
export const STORIES = "status@broadcast" as Jid;

/** A message through a list belongs to the chat with its writer. */
export function isBroadcastList(address: string): boolean {
  return address.endsWith("@broadcast") && address !== STORIES;
}

/** A person to whom a message through a list goes, by one address or both. */
export interface ListRecipient {
  jid: string;
  other?: string;
}

/** As many as a list can have. */
const MOST_RECIPIENTS = 256;

/** To whom a message goes that our own phone wrote to a broadcast list. */
export function listRecipientsOf(node: BinaryNode): ListRecipient[] {
  if (!isBroadcastList(node.attrs.from ?? "")) return [];
  const found = new Map<string, ListRecipient>();
  for (const { attrs } of getBinaryNodeChildren(getBinaryNodeChild(node, "participants"), "to")) {
    const { jid, peer_recipient_pn, peer_recipient_lid } = attrs;
    const other = peer_recipient_pn ?? peer_recipient_lid;
    const person = plainJid(jid);
    if (jid && person) found.set(person, { jid, ...(other && { other }) });
    if (found.size === MOST_RECIPIENTS) break;
  }
  return [...found.values()];
}

/** The stanza of an own message to a list as if it had been sent to one of its recipients. */
export function toRecipient(
  { participant, participant_pn: _, participant_lid: __, ...stanza }: Record<string, string>,
  { jid, other }: ListRecipient,
): Record<string, string> {
  const alias = isLidJid(jid as Jid) ? "peer_recipient_pn" : "peer_recipient_lid";
  return { ...stanza, from: participant ?? "", recipient: jid, ...(other && { [alias]: other }) };
}

/** Messages that linked devices do not get, by the network's name. */
const UNAVAILABLE: Record<string, string> = {
  view_once: "viewOnce",
  view_once_unavailable_fanout: "viewOnce",
  bot_unavailable_fanout: "bot",
  hosted_unavailable_fanout: "hosted",
};

/** The kind of a message of which the network only tells that it exists. */
export function unavailableKindOf({ content }: BinaryNode): string | undefined {
  const parts = Array.isArray(content) ? content : [];
  if (parts.some(({ tag }) => tag === "enc")) return undefined;
  const part = parts.find(({ tag }) => tag === "unavailable");
  return UNAVAILABLE[part?.attrs.type ?? ""];
}

/** Sent only between our own devices, and never shown to users. */
export function isPeerMessage({ category }: Record<string, string>): boolean {
  return category === "peer";
}

const LATEST_MS = Date.UTC(9999, 11, 31);

/** Parses the network's timestamps, in seconds since the epoch; one after the year 9999 counts as now. */
export function parseTimestamp(seconds: string | undefined): Date {
  const ms = Number(seconds) * 1000;
  return ms > 0 && ms < LATEST_MS ? new Date(ms) : new Date();
}
