import { proto } from "baileys";
import type { Address, BroadcastList } from "../group.ts";
import type { Handset, StoredMessage } from "../handset.ts";
import { filePart, payloadOf, unwrapped } from "../message-content.ts";
import type { Network } from "../network.ts";
import type { Device } from "../person.ts";
import { type BinaryNode, node } from "../protocol/nodes.ts";
import { type Bundle, newMessageId, type Sealed, signalAddress } from "../protocol/signal-end.ts";
import { addressJid, type Envelope } from "./envelope.ts";
import { route } from "./routing.ts";

export interface SendToDevicesOptions {
  id?: string;
  at?: number;
  attrs?: Record<string, string>;
  /** Corrupts the first ciphertext to each linked device. */
  corrupt?: boolean;
  /** The message's file, which the phone keeps. */
  file?: Uint8Array;
  tag?: Envelope["tag"];
  list?: BroadcastList;
  /** Only to the own linked device, for keys and history. */
  peer?: Device;
}

/** A phone sends a message to all devices of the chat. Returns its id. */
export function sendToDevices(
  network: Network,
  handset: Handset,
  to: Address,
  message: proto.IMessage,
  options: SendToDevicesOptions = {},
): Promise<string> {
  const { id = newMessageId(), at = Date.now(), attrs, peer, file, list } = options;
  const stored: StoredMessage = {
    id,
    from: handset.person,
    to,
    at,
    message,
    type: typeOf(message),
    attrs,
    file,
    list,
  };
  return handset.inTurn(async () => {
    if (!peer) handset.store(stored);
    const envelopes = await sealAll(handset, stored, options);
    for (const [device, envelope] of envelopes) route(network, envelope, device);
    return id;
  });
}

async function sealAll(
  handset: Handset,
  stored: StoredMessage,
  options: SendToDevicesOptions,
): Promise<[Device, Envelope][]> {
  const { to, message } = stored;
  const group = to.kind === "group" ? await sealForGroup(handset, to.group.jid, message) : undefined;
  const sealed: [Device, Envelope][] = [];
  for (const device of options.peer ? [options.peer] : audience(handset, stored)) {
    const enc = group
      ? await group(device)
      : [await sealFor(handset, device, personal(handset, device, stored, options.peer))];
    if (options.corrupt && device !== device.person.handset) corrupt(enc);
    const { peer, tag } = options;
    sealed.push([
      device,
      { ...stored, from: handset, enc, ...(peer && { peer: true }), ...(tag && { tag }) },
    ]);
  }
  return sealed;
}

const audience = (handset: Handset, { to, list }: StoredMessage): Device[] => {
  const people = to.kind === "group" ? [] : [...(list?.recipients ?? [to.person]), handset.person];
  const devices = to.kind === "group" ? to.group.devices : people.flatMap((person) => person.devices);
  return [...new Set(devices)].filter((one) => one !== handset);
};

/** Own devices receive a wrapper with the recipient and the secret. */
function personal(handset: Handset, device: Device, stored: StoredMessage, peer?: Device): proto.IMessage {
  const { to, message, list } = stored;
  if (peer || device.person !== handset.person || to.kind === "group") return message;
  const { messageContextInfo, ...bare } = message;
  return {
    deviceSentMessage: { destinationJid: list?.jid ?? addressJid(to), message: bare },
    messageContextInfo,
  };
}

async function sealForGroup(
  handset: Handset,
  group: string,
  message: proto.IMessage,
): Promise<(device: Device) => Promise<BinaryNode[]>> {
  const holders = handset.keyHolders.get(group) ?? new Set<string>();
  handset.keyHolders.set(group, holders);
  const { text, key } = await handset.signal.sealForGroup(group, handset.address, payloadOf(message));
  const skmsg = (): BinaryNode =>
    node("enc", { v: 2, type: "skmsg", mediatype: mediaType(message) }, Buffer.from(text));
  return async (device) => {
    const holder = `${device.person.lid}:${device.number}`;
    if (holders.has(holder)) return [skmsg()];
    holders.add(holder);
    return [await sealFor(handset, device, keyMessage(group, key)), skmsg()];
  };
}

const keyMessage = (group: string, key: Uint8Array): proto.IMessage => ({
  senderKeyDistributionMessage: { groupId: group, axolotlSenderKeyDistributionMessage: key },
});

async function sealFor(handset: Handset, device: Device, message: proto.IMessage): Promise<BinaryNode> {
  const address = signalAddress(device.person.lid, device.number);
  if (!(await handset.signal.knows(address))) await handset.signal.meet(address, await device.bundle());
  return encNode(await handset.signal.seal(address, payloadOf(message)), message);
}

const encNode = ({ type, ciphertext }: Sealed, message: proto.IMessage, count?: number): BinaryNode =>
  node("enc", { v: 2, type, mediatype: mediaType(message), count }, Buffer.from(ciphertext));

function corrupt(enc: BinaryNode[]): void {
  const last = enc.at(-1);
  if (!(last?.content instanceof Uint8Array)) return;
  const broken = Buffer.from(last.content);
  const at = broken.length - 9;
  broken[at] = (broken[at] ?? 0) ^ 0xff;
  last.content = broken;
}

/** Sends a message again over a new session to a device that could not decrypt it. */
export function resendToDevice(
  network: Network,
  handset: Handset,
  device: Device,
  id: string,
  retry: { count: number; bundle?: Bundle },
): Promise<void> {
  return handset.inTurn(async () => {
    const stored = handset.kept(id);
    if (!stored || stored.from !== handset.person) return;
    const address = signalAddress(device.person.lid, device.number);
    await handset.signal.meet(address, retry.bundle ?? (await device.bundle()));
    const message = await withGroupKey(handset, stored, personal(handset, device, stored));
    const enc = encNode(await handset.signal.seal(address, payloadOf(message)), message, retry.count);
    route(network, { ...stored, from: handset, enc: [enc] }, device);
  });
}

async function withGroupKey(
  handset: Handset,
  { to }: StoredMessage,
  message: proto.IMessage,
): Promise<proto.IMessage> {
  if (to.kind !== "group") return message;
  const key = await handset.signal.groupKey(to.group.jid, handset.address);
  return proto.Message.fromObject({ ...message, ...keyMessage(to.group.jid, key) });
}

function typeOf(message: proto.IMessage): string {
  const inner = unwrapped(message);
  if (inner.reactionMessage || inner.encReactionMessage) return "reaction";
  if (inner.pollCreationMessage || inner.pollCreationMessageV3 || inner.pollUpdateMessage) return "poll";
  return filePart(inner) || inner.locationMessage || inner.contactMessage ? "media" : "text";
}

function mediaType(message: proto.IMessage): string | undefined {
  const inner = unwrapped(message);
  if (inner.locationMessage) return "location";
  if (inner.contactMessage) return "vcard";
  return filePart(inner)?.type;
}
