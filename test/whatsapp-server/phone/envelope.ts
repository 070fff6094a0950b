import type { Companion } from "../companion.ts";
import type { Address, BroadcastList } from "../group.ts";
import type { Device } from "../person.ts";
import { certificateOf } from "../protocol/business-certificate.ts";
import type { Addressing } from "../protocol/jid.ts";
import { type BinaryNode, node, seconds } from "../protocol/nodes.ts";

/** A message for one device. */
export interface Envelope {
  id: string;
  from: Device;
  to: Address;
  /** Milliseconds since the epoch. */
  at: number;
  type: string;
  enc: BinaryNode[];
  attrs?: Record<string, string>;
  /** The broadcast list of the message. */
  list?: BroadcastList | undefined;
  /** From the own phone to its linked device only. */
  peer?: boolean;
  /** Stanza of a status update; `message` if absent. */
  tag?: "status";
}

export const addressJid = (to: Address): string =>
  to.kind === "group" ? to.group.jid : to.person.jid(to.addressing);

const other = (addressing: Addressing): Addressing => (addressing === "lid" ? "pn" : "lid");

/** The stanza for a linked device. */
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

/** Own devices see the recipients of a list message. */
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
