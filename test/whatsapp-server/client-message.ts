import { proto } from "baileys";
import { type Companion, STATUS_BROADCAST } from "./companion.ts";
import type { ServerConnection } from "./connection.ts";
import { distrust } from "./contact-trust.ts";
import { type Address, ServerGroup } from "./group.ts";
import { Handset, type StoredMessage } from "./handset.ts";
import { peer } from "./initial-sync.ts";
import type { Network } from "./network.ts";
import type { Device, ServerPerson } from "./person.ts";
import { addressJid, type Envelope } from "./phone/envelope.ts";
import { listen } from "./phone/receive-message.ts";
import { route } from "./phone/routing.ts";
import { type BinaryNode, child, children, childrenNamed, node, seconds } from "./protocol/nodes.ts";
import type { MessageRecord } from "./protocol/records.ts";

const { PeerDataOperationRequestType } = proto.Message;

const infoOf = (stored: StoredMessage, key: proto.IMessageKey | null | undefined): Uint8Array =>
  proto.WebMessageInfo.encode({
    key: { ...key, remoteJid: key?.remoteJid ?? addressJid(stored.to) },
    message: stored.message,
    messageTimestamp: seconds(stored.at),
    pushName: stored.from.name,
  }).finish();

const NOT_UNDERSTOOD = 400;
const FORBIDDEN = 403;
const NOT_FOUND = 404;
const RESTRICTED = 463;
const MALFORMED = 479;
const TOKENS = ["tctoken", "cstoken"] as const;
const PASSED_ON = ["edit", "expiration"];

/** Handles a sent message: refuses it in the ack, or acknowledges and delivers it to every device. */
export async function handleMessage(
  network: Network,
  connection: ServerConnection,
  companion: Companion,
  stanza: BinaryNode,
): Promise<void> {
  const { faults, settings } = network;
  const { id = "", to = "", type = "text" } = stanza.attrs;
  const { phone } = companion.person;
  const has_reporting = child(stanza, "reporting") !== undefined;
  const token = TOKENS.find((tag) => child(stanza, tag));
  const meta = child(stanza, "meta")?.attrs ?? {};
  const said = { type, has_reporting, media_types: mediaTypesOf(stanza), meta };
  const sent = { id, phone, device: companion.number, to, ...said, ...(token && { token }) };
  const arrival: MessageRecord = { ...sent, at: Date.now(), ack: "ok" };
  const here = (fault: { to?: string }): boolean => fault.to === undefined || isTo(network, to, fault.to);
  network.book.arrival(arrival);
  if (type === "poll" && !meta.polltype) network.book.unhandled.push(`poll ${id} without its type`);
  const address = to === STATUS_BROADCAST ? audienceOf(network, companion, stanza) : network.address(to);
  const refusal = refusalOf(network, companion, stanza, address);
  if (refusal || !address) {
    arrival.ack = refusal ?? NOT_FOUND;
    return connection.send(ackOf(stanza, arrival.ack));
  }
  const ack = ackOf(stanza);
  if (address.kind === "person" && address.person.oldLids.has(to.split("@")[0] ?? ""))
    ack.attrs.refresh_lid = "true";
  if (faults.take("ack_lost", phone, here)) arrival.ack = "lost";
  else if (settings.ackDelayMs > 0) setTimeout(() => connection.send(ack), settings.ackDelayMs);
  else connection.send(ack);
  spread(network, companion, address, stanza);
}

function mediaTypesOf(stanza: BinaryNode): string[] {
  const addressed = childrenNamed(child(stanza, "participants"), "to");
  const enc = [stanza, ...addressed].flatMap((one) => childrenNamed(one, "enc"));
  return [...new Set(enc.flatMap(({ attrs }) => attrs.mediatype ?? []))];
}

const isTo = (network: Network, to: string, wanted: string): boolean =>
  to === wanted ||
  (network.findPerson(to) !== undefined && network.findPerson(to) === network.findPerson(wanted));

function refusalOf(
  network: Network,
  { person }: Companion,
  stanza: BinaryNode,
  address: Address | undefined,
): number | undefined {
  const { to = "" } = stanza.attrs;
  const ordered = network.faults.take(
    "ack_error",
    person.phone,
    (one) => one.to === undefined || isTo(network, to, one.to),
  );
  if (ordered) return ordered.error;
  if (!address) return NOT_FOUND;
  if (to === STATUS_BROADCAST && person.isMigrated && namedIn(stanza).some((jid) => !jid.endsWith("@lid")))
    return MALFORMED;
  if (address.kind === "group") return address.group.members.has(person) ? undefined : FORBIDDEN;
  const misaddressed = misaddressedOf(network, person, address, stanza);
  if (misaddressed) return misaddressed;
  const restricted = person.restrictedUntil !== undefined && person.restrictedUntil > Date.now();
  const isNew = address.person !== person && !person.chats.has(address.person.phone);
  if (restricted && isNew) return RESTRICTED;
  return isPeer(stanza) ? undefined : distrust(network, person, address.person, stanza);
}

/** A story goes to all whom it names, its writer's own devices among them. */
function audienceOf(network: Network, { person }: Companion, stanza: BinaryNode): Address {
  const group = new ServerGroup("", person, person.isMigrated ? "lid" : "pn", STATUS_BROADCAST);
  for (const jid of namedIn(stanza)) {
    const device = network.device(jid);
    if (device && device.person !== person) group.members.set(device.person, false);
  }
  return { kind: "group", group };
}

const namedIn = (stanza: BinaryNode): string[] =>
  childrenNamed(child(stanza, "participants"), "to").map(({ attrs }) => attrs.jid ?? "");

/** An account with LID addressing must not write to phone jids, and the reverse. */
function misaddressedOf(
  { book }: Network,
  { isMigrated }: ServerPerson,
  { addressing, person }: Extract<Address, { kind: "person" }>,
  stanza: BinaryNode,
): number | undefined {
  const { id, to, peer_recipient_pn } = stanza.attrs;
  if (isPeer(stanza)) return undefined;
  if (addressing === "pn") return isMigrated ? RESTRICTED : undefined;
  if (!isMigrated) return NOT_UNDERSTOOD;
  if (peer_recipient_pn !== person.jid("pn") && !to?.includes(":")) {
    book.unhandled.push(`message ${id} shows its recipient an unknown person: ${peer_recipient_pn}`);
  }
  return undefined;
}

const isPeer = ({ attrs }: BinaryNode): boolean => attrs.category === "peer";

const ackOf = ({ attrs }: BinaryNode, error?: number): BinaryNode =>
  node("ack", {
    class: "message",
    id: attrs.id,
    from: attrs.to,
    participant: attrs.participant,
    t: seconds(),
    error,
  });

function spread(network: Network, companion: Companion, address: Address, stanza: BinaryNode): void {
  const { attrs } = stanza;
  const enc = encByDevice(network, companion, address, stanza);
  const kept = PASSED_ON.flatMap((name) => (attrs[name] === undefined ? [] : [[name, attrs[name]]]));
  const envelope: Omit<Envelope, "enc"> = {
    id: attrs.id ?? "",
    from: companion,
    to: address,
    at: Date.now(),
    type: attrs.type ?? "text",
    attrs: Object.fromEntries(kept),
    ...(attrs.category === "peer" && { peer: true }),
  };
  for (const [device, list] of enc) {
    const whole = { ...envelope, enc: list };
    if (envelope.peer && device instanceof Handset) void requestFromPhone(network, companion, device, whole);
    else route(network, whole, device);
  }
}

async function requestFromPhone(
  network: Network,
  companion: Companion,
  handset: Handset,
  envelope: Envelope,
): Promise<void> {
  const request = await handset.inTurn(() => listen(network, handset, envelope));
  if (request) await handlePeerRequest(network, companion, envelope.id, request);
}

/** Ciphertexts by device: its own ones, then that of the group. */
function encByDevice(
  network: Network,
  companion: Companion,
  address: Address,
  stanza: BinaryNode,
): Map<Device, BinaryNode[]> {
  const found = new Map<Device, BinaryNode[]>();
  const identity = child(stanza, "device-identity");
  for (const to of childrenNamed(child(stanza, "participants"), "to")) {
    const device = network.device(to.attrs.jid ?? "");
    if (!device) network.book.unhandled.push(`message to ${to.attrs.jid}, which is no device`);
    else if (device === companion)
      network.book.unhandled.push(`message ${stanza.attrs.id} to its own writer`);
    else found.set(device, childrenNamed(to, "enc"));
  }
  const direct = childrenNamed(stanza, "enc");
  for (const device of direct.length > 0 ? directTo(network, companion, address, stanza) : []) {
    found.set(device, [...(found.get(device) ?? []), ...direct]);
  }
  const first = [...found.values()].flat().some((one) => one.attrs.type === "pkmsg");
  if (first && !identity) network.book.unhandled.push(`pkmsg ${stanza.attrs.id} without device-identity`);
  if (found.size === 0) network.book.unhandled.push(`message ${stanza.attrs.id} for nobody`);
  return found;
}

function directTo(network: Network, sender: Companion, address: Address, stanza: BinaryNode): Device[] {
  const { attrs } = stanza;
  if (attrs.category === "peer") return [sender.person.handset];
  if (address.kind === "group" && attrs.participant === undefined) {
    return address.group.devices.filter((one) => one !== sender);
  }
  const one = network.device(attrs.participant ?? attrs.to ?? "");
  return one ? [one] : [];
}

export const describe = (stanza: BinaryNode): string =>
  `<${stanza.tag} ${JSON.stringify(stanza.attrs)}>${children(stanza)
    .map((one) => `<${one.tag} ${JSON.stringify(one.attrs)}>`)
    .join("")}`;

/** A linked device asks its phone for a message that it could not decrypt. */
async function handlePeerRequest(
  network: Network,
  companion: Companion,
  id: string,
  message: proto.IMessage,
): Promise<void> {
  const { handset } = companion.person;
  const request = message.protocolMessage?.peerDataOperationRequestMessage;
  const type = request?.peerDataOperationRequestType;
  if (type !== PeerDataOperationRequestType.PLACEHOLDER_MESSAGE_RESEND) {
    network.book.unhandled.push(`peer request ${type} of ${handset.person.phone} in ${id}`);
    return;
  }
  const found = (request?.placeholderMessageResendRequest ?? []).flatMap(({ messageKey }) => {
    const stored = handset.kept(messageKey?.id ?? "");
    return stored
      ? [{ placeholderMessageResendResponse: { webMessageInfoBytes: infoOf(stored, messageKey) } }]
      : [];
  });
  if (found.length === 0) return;
  await peer(network, companion, {
    type: proto.Message.ProtocolMessage.Type.PEER_DATA_OPERATION_REQUEST_RESPONSE_MESSAGE,
    peerDataOperationRequestResponseMessage: {
      peerDataOperationRequestType: type,
      stanzaId: id,
      peerDataOperationResult: found,
    },
  });
}
