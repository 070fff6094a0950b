import type { Companion } from "../companion.ts";
import type { Address, BroadcastList } from "../group.ts";
import type { Device } from "../person.ts";
import { certificateOf } from "../protocol/business-certificate.ts";
import type { Addressing } from "../protocol/jid.ts";
import { type BinaryNode, node, seconds } from "../protocol/nodes.ts";

/** A message on its way to one device. */
export interface Envelope {
  id: string;
  from: Device;
  to: Address;
  /** Milliseconds since the epoch. */
  at: number;
  type: string;
  enc: BinaryNode[];
  attrs?: Record<string, string>;
  /** The broadcast list through which it goes. */
  list?: BroadcastList | undefined;
  /** From the own phone to its linked device only. */
  peer?: boolean;
  /** How the network delivers a story; `message` when absent. */
  tag?: "status";
}

export const addressJid = (to: Address): string =>
  to.kind === "group" ? to.group.jid : to.person.jid(to.addressing);

const other = (addressing: Addressing): Addressing => (addressing === "lid" ? "pn" : "lid");

/** The stanza that a linked device gets. */
export function messageStanza(envelope: Envelope, recipient: Companion): BinaryNode {
  const { id, from, at, type, attrs, peer, tag = "message" } = envelope;
  const { verified_name } = from.person.business ?? {};
  const vouched =
    verified_name === undefined ? [] : [node("verified_name", {}, certificateOf(verified_name))];
  const enc = [...envelope.enc, ...vouched, ...recipientsFor(envelope, recipient)];
  const common = { id, t: seconds(at), type, notify: from.person.name };
  if (peer) return node("message", { ...common, from: from.person.jid("pn"), category: "peer" }, enc);
  return node(tag, { ...common, ...whence(envelope, recipient), ...attrs }, enc);
}

/** The own devices are told to whom a message through a list goes. */
function recipientsFor({ from, list }: Envelope, { person }: Companion): BinaryNode[] {
  if (!list || from.person !== person) return [];
  const { addressing, recipients } = list;
  const alternative = `peer_recipient_${other(addressing)}`;
  const each = recipients.map((one) =>
    node("to", { jid: one.jid(addressing), [alternative]: one.jid(other(addressing)) }),
  );
  return [node("participants", {}, each)];
}

function whence({ from, to, list }: Envelope, recipient: Companion): Record<string, string> {
  const { person, number } = from;
  if (to.kind === "group" || list) {
    const { addressing, jid } = list ?? (to as Extract<Address, { kind: "group" }>).group;
    return {
      from: jid,
      participant: person.jid(addressing, number),
      [`participant_${other(addressing)}`]: person.jid(other(addressing)),
      addressing_mode: addressing,
    };
  }
  const alternative = other(to.addressing);
  const sender = { from: person.jid(to.addressing, number), addressing_mode: to.addressing };
  if (person !== recipient.person) return { ...sender, [`sender_${alternative}`]: person.jid(alternative) };
  return {
    ...sender,
    recipient: to.person.jid(to.addressing),
    [`peer_recipient_${alternative}`]: to.person.jid(alternative),
  };
}
