import type { Companion } from "../companion.ts";
import type { ServerConnection } from "../connection.ts";
import type { PresenceState } from "../control.ts";
import type { Address } from "../group.ts";
import { Handset } from "../handset.ts";
import type { Network } from "../network.ts";
import type { Device, ServerPerson } from "../person.ts";
import { type BinaryNode, children, node, seconds } from "../protocol/nodes.ts";
import { addressJid } from "./envelope.ts";

/** Handles presence: available, or a subscription. */
export function handlePresence(network: Network, companion: Companion, { attrs }: BinaryNode): void {
  const { type, to, name } = attrs;
  if (name) companion.person.name = name;
  if (type === "subscribe") {
    const other = network.findPerson(to);
    if (to) companion.subscriptions.add(other?.jid() ?? to);
    if (other) companion.push(node("presence", { from: to, type: "unavailable", last: seconds() }));
    return;
  }
  if (type === undefined || type === "available" || type === "unavailable") {
    companion.presence = type ?? companion.presence;
    return;
  }
  network.book.unhandled.push(`presence ${JSON.stringify(attrs)}`);
}

export function handleChatState(network: Network, companion: Companion, stanza: BinaryNode): void {
  const address = network.address(stanza.attrs.to ?? "");
  const first = children(stanza)[0];
  const { isMigrated } = companion.person;
  const isMisaddressed = address?.kind === "person" && (address.addressing === "lid") !== isMigrated;
  if (!address || !first || isMisaddressed) {
    network.book.unhandled.push(`chatstate to ${stanza.attrs.to}`);
    return;
  }
  const state =
    first.tag === "composing" ? (first.attrs.media === "audio" ? "recording" : "typing") : "paused";
  showChatState(companion, address, state);
}

/** Shows a chat state to everybody in the chat. */
export function showChatState(by: Device, to: Address, state: PresenceState): void {
  const devices = to.kind === "group" ? to.group.devices : to.person.devices;
  for (const device of devices.filter((one) => one.person !== by.person)) {
    if (device instanceof Handset) {
      const { phone } = by.person;
      const chat = to.kind === "group" ? addressJid(to) : by.person.jid();
      device.see({ type: "presence", state, chat, from: phone, from_me: false, at: Date.now() });
    } else if (hears(device, by.person, to, state)) device.push(stateNode(by, to, state));
  }
}

/** Devices hear of others while they are online themselves; who comes and goes only if they have asked for it. */
function hears(device: Companion, by: ServerPerson, to: Address, state: PresenceState): boolean {
  const isPresence = state === "available" || state === "unavailable";
  const asked = to.kind === "group" ? to.group.jid : by.jid();
  return device.presence === "available" && (!isPresence || device.subscriptions.has(asked));
}

function stateNode(by: Device, to: Address, state: PresenceState): BinaryNode {
  if (state === "available" || state === "unavailable") {
    const last = state === "unavailable" ? seconds() : undefined;
    const from = to.kind === "group" ? by.person.jid("lid") : by.person.jid(to.addressing);
    return node("presence", { from, type: state === "unavailable" ? state : undefined, last });
  }
  const whence =
    to.kind === "group"
      ? { from: to.group.jid, participant: by.person.jid(to.group.addressing) }
      : { from: by.person.jid(to.addressing) };
  const media = state === "recording" ? "audio" : undefined;
  return node("chatstate", whence, [node(state === "paused" ? "paused" : "composing", { media })]);
}

/** A client rejects or offers a call. */
export function handlePhoneCall(
  network: Network,
  connection: ServerConnection,
  companion: Companion,
  stanza: BinaryNode,
): void {
  const { attrs } = stanza;
  const first = children(stanza)[0];
  connection.send(node("ack", { class: "call", id: attrs.id, from: attrs.to, type: first?.tag }));
  const other = network.findPerson(attrs.to);
  if (!other || first?.attrs["call-creator"] !== other.jid("lid")) {
    network.book.unhandled.push(`call to ${attrs.to} by ${first?.attrs["call-creator"]}`);
    return;
  }
  other.handset.see({
    type: "call",
    id: first.attrs["call-id"] ?? "",
    state: first.tag,
    chat: companion.person.jid(),
    from: companion.person.phone,
    from_me: false,
    at: Date.now(),
  });
}

/** Offers or ends a call on all linked devices of a person. */
export function ring(
  by: ServerPerson,
  to: ServerPerson,
  id: string,
  tag: "offer" | "terminate",
  video: boolean,
): void {
  for (const companion of to.companions.values()) {
    const body = node(
      tag,
      { "call-id": id, "call-creator": by.jid("lid"), caller_pn: by.jid("pn"), from: by.jid("lid") },
      tag === "offer" ? [node("audio", { enc: "opus", rate: 16000 }), ...(video ? [node("video")] : [])] : [],
    );
    const attrs = { from: by.jid("lid"), id: `${id}-${tag}`, t: seconds(), notify: by.name };
    companion.deliver(node("call", attrs, [body]));
  }
}
