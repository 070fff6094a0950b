import { randomBytes } from "node:crypto";
import { proto } from "baileys";
import { changeSetting } from "../app-state.ts";
import { STATUS_BROADCAST } from "../companion.ts";
import type { PresenceState, SayOptions, SentContent } from "../control.ts";
import type { Address, BroadcastList } from "../group.ts";
import { ServerGroup } from "../group.ts";
import type { StoredMessage, Timer } from "../handset.ts";
import { filePart, toMessage } from "../message-content.ts";
import type { Network } from "../network.ts";
import type { ServerPerson } from "../person.ts";
import { node, SERVER, seconds } from "../protocol/nodes.ts";
import { addressJid } from "./envelope.ts";
import { ring, showChatState } from "./presence.ts";
import { sendReceipt } from "./receipts.ts";
import { requestRetry } from "./receive-message.ts";
import { type SendToDevicesOptions, sendToDevices } from "./send-to-devices.ts";
import { timerContext } from "./timers.ts";

const { Type } = proto.Message.ProtocolMessage;

/** A person sends a message. */
export async function sendMessage(
  network: Network,
  from: string,
  to: string,
  said: SentContent,
  options: SayOptions,
): Promise<string> {
  const { handset } = network.person(from);
  const address = addressOf(network, to, options);
  const file =
    said.kind === "media" && said.bytes ? await network.media.store(said.bytes, said.media_type) : undefined;
  const messageContextInfo = { messageSecret: options.secret ?? randomBytes(32) };
  const message = {
    messageContextInfo,
    ...toMessage(said, contextFor(network, from, address, said), file),
  };
  return sendToDevices(network, handset, address, message, {
    ...toSendOptions(network, options),
    ...(said.kind === "media" && said.bytes && { file: said.bytes }),
  });
}

/** A person shows a status update to another one. */
export function postStatus(
  network: Network,
  by: string,
  to: string,
  text: string,
  { stanza, ...options }: SayOptions & { stanza?: "message" | "status" },
): Promise<string> {
  const owner = network.person(by);
  const group = new ServerGroup("", owner, "lid", STATUS_BROADCAST);
  group.members.set(network.person(to), false);
  const message = { extendedTextMessage: { text } };
  const tag = stanza === "status" ? stanza : undefined;
  return sendToDevices(network, owner.handset, { kind: "group", group }, message, {
    ...toSendOptions(network, options),
    tag,
  });
}

export function addressOf(network: Network, to: string, { addressing }: SayOptions): Address {
  const address = network.address(to, addressing ?? network.settings.addressing);
  if (!address) throw new Error(`nobody on the network is ${to}`);
  return addressing && address.kind === "person" ? { ...address, addressing } : address;
}

export const toSendOptions = (
  network: Network,
  { id, at, corrupt, attrs: given, list }: SayOptions,
  attrs: Record<string, string> | undefined = given,
): SendToDevicesOptions => ({
  ...(id !== undefined && { id }),
  ...(at !== undefined && { at }),
  ...(corrupt && { corrupt }),
  ...(attrs && { attrs }),
  ...(list && { list: listOf(network, list) }),
});

const listOf = (
  network: Network,
  { jid, recipients, addressing = "lid" }: NonNullable<SayOptions["list"]>,
): BroadcastList => ({ jid, addressing, recipients: recipients.map((phone) => network.person(phone)) });

function contextFor(
  network: Network,
  from: string,
  to: Address,
  { quoted, mentions }: SentContent,
): proto.IContextInfo | undefined {
  const timer = timerContext(network, from, to);
  if (!quoted && !mentions) return timer;
  const writer = network.person(from);
  const context: proto.IContextInfo = { ...timer, ...(mentions && { mentionedJid: mentions }) };
  if (!quoted) return context;
  const stored = writer.handset.kept(quoted.id);
  return {
    ...context,
    stanzaId: quoted.id,
    participant: quotedWriter(network, writer, to, quoted),
    quotedMessage: stored?.message ?? { conversation: quoted.text ?? "" },
  };
}

function quotedWriter(
  network: Network,
  writer: ServerPerson,
  to: Address,
  quoted: { from_me: boolean; sender?: string; id: string },
): string {
  const addressing = to.kind === "group" ? to.group.addressing : to.addressing;
  if (quoted.from_me) return writer.jid(addressing);
  const known = quoted.sender ? network.findPerson(quoted.sender) : writer.handset.kept(quoted.id)?.from;
  const other = known ?? (to.kind === "person" ? to.person : writer);
  return other.jid(addressing);
}

/** Message key from the point of view of the acting person. */
export function keyOf(network: Network, by: string, to: Address, id: string): proto.IMessageKey {
  const person = network.person(by);
  const stored: StoredMessage | undefined = person.handset.kept(id);
  const fromMe = stored ? stored.from === person : to.kind === "person";
  const participant = to.kind === "group" ? (stored?.from ?? person).jid(to.group.addressing) : undefined;
  return { remoteJid: addressJid(to), fromMe, id, ...(participant && { participant }) };
}

export function edit(
  network: Network,
  by: string,
  to: string,
  { id, text }: { id: string; text: string },
  options: SayOptions,
): Promise<string> {
  const address = addressOf(network, to, options);
  const protocolMessage = {
    type: Type.MESSAGE_EDIT,
    key: keyOf(network, by, address, id),
    editedMessage: { conversation: text },
    timestampMs: options.at ?? Date.now(),
  };
  const message = { protocolMessage };
  return sendToDevices(
    network,
    network.person(by).handset,
    address,
    message,
    toSendOptions(network, options, { edit: "1" }),
  );
}

export function remove(
  network: Network,
  by: string,
  to: string,
  id: string,
  options: SayOptions,
): Promise<string> {
  const address = addressOf(network, to, options);
  const key = keyOf(network, by, address, id);
  const message = { protocolMessage: { type: Type.REVOKE, key } };
  const attrs = { edit: key.fromMe ? "7" : "8" };
  return sendToDevices(
    network,
    network.person(by).handset,
    address,
    message,
    toSendOptions(network, options, attrs),
  );
}

export function react(
  network: Network,
  by: string,
  to: string,
  { id, reaction }: { id: string; reaction: string },
  options: SayOptions,
): Promise<string> {
  const address = addressOf(network, to, options);
  const key = keyOf(network, by, address, id);
  const reactionMessage = { key, text: reaction, senderTimestampMs: options.at ?? Date.now() };
  return sendToDevices(
    network,
    network.person(by).handset,
    address,
    { reactionMessage },
    toSendOptions(network, options),
  );
}

export function pin(
  network: Network,
  by: string,
  to: string,
  { id, seconds: duration }: { id: string; seconds: number },
  options: SayOptions,
): Promise<string> {
  const address = addressOf(network, to, options);
  const { PIN_FOR_ALL, UNPIN_FOR_ALL } = proto.Message.PinInChatMessage.Type;
  const pinInChatMessage = {
    key: keyOf(network, by, address, id),
    type: duration > 0 ? PIN_FOR_ALL : UNPIN_FOR_ALL,
    senderTimestampMs: options.at ?? Date.now(),
  };
  const message = { pinInChatMessage, messageContextInfo: { messageAddOnDurationInSecs: duration } };
  const { handset } = network.person(by);
  return sendToDevices(network, handset, address, message, toSendOptions(network, options, { edit: "2" }));
}

/** Only the person's devices hear of it. */
export function star(network: Network, by: string, to: string, id: string, starred: boolean): Promise<void> {
  const person = network.person(by);
  const address = addressOf(network, to, { addressing: person.isMigrated ? "lid" : "pn" });
  const { fromMe, participant } = keyOf(network, by, address, id);
  return changeSetting(person, {
    type: "regular_high",
    index: ["star", addressJid(address), id, fromMe ? "1" : "0", (!fromMe && participant) || "0"],
    syncAction: { starAction: { starred } },
    apiVersion: 2,
    operation: proto.SyncdMutation.SyncdOperation.SET,
  });
}

/** Sets the timer of a direct chat and notifies all devices, unless `silently`. */
export async function setTimer(
  network: Network,
  by: string,
  to: string,
  timer: Timer,
  silently: boolean,
): Promise<void> {
  const address = addressOf(network, to, {});
  if (address.kind === "group") throw new Error("the timer of a group is a change of the group");
  const { handset } = network.person(by);
  handset.timers.set(address.person.phone, timer);
  address.person.handset.timers.set(by, timer);
  if (silently) return;
  const protocolMessage = {
    type: Type.EPHEMERAL_SETTING,
    ephemeralExpiration: timer.expiration,
    ephemeralSettingTimestamp: timer.set_at,
  };
  await sendToDevices(network, handset, address, { ephemeralMessage: { message: { protocolMessage } } });
}

export function setDefaultTimer(person: ServerPerson, duration: number, t: number): void {
  person.disappearing = duration;
  person.disappearingSetAt = t;
  const attrs = { from: person.jid(), type: "account_sync", id: `timer-${t}`, t };
  const content = [node("disappearing_mode", { duration, t })];
  for (const companion of person.companions.values()) companion.deliver(node("notification", attrs, content));
}

/** Sends read receipts to the senders. */
export function read(network: Network, by: string, ids: string[], type: "read" | "played"): void {
  const { handset } = network.person(by);
  for (const id of ids) {
    const stored = handset.kept(id);
    if (!stored) throw new Error(`${by} has no message ${id}`);
    sendReceipt({ by: handset, of: stored.from, chat: stored.to, list: stored.list, ids: [id], type });
  }
}

export function presence(network: Network, by: string, to: string, state: PresenceState): void {
  showChatState(network.person(by).handset, addressOf(network, to, {}), state);
}

export function startPhoneCall(network: Network, by: string, to: string, video: boolean): string {
  const id = randomBytes(16).toString("hex").toUpperCase();
  ring(network.person(by), network.person(to), id, "offer", video);
  return id;
}

export async function requestRetryOf(
  network: Network,
  by: string,
  id: string,
  { addressing }: Pick<SayOptions, "addressing">,
): Promise<void> {
  const { handset } = network.person(by);
  const stored = handset.kept(id);
  if (!stored?.device) throw new Error(`${by} has no message ${id}`);
  const to = addressing && stored.to.kind === "person" ? { ...stored.to, addressing } : stored.to;
  await requestRetry(handset, { id, from: stored.device, to, at: stored.at });
}

export async function file(network: Network, by: string, id: string): Promise<Uint8Array | undefined> {
  const stored = network.person(by).handset.kept(id);
  const found = stored && filePart(stored.message);
  return found && network.media.open(found.part, found.type);
}

/** Tells a phone's devices that they may not start new chats. */
export function restrict(person: ServerPerson, until: number | undefined): void {
  person.restrictedUntil = until;
  const data = {
    xwa2_notify_account_reachout_timelock: {
      is_active: until !== undefined,
      ...(until !== undefined && {
        time_enforcement_ends: String(seconds(until)),
        enforcement_type: "WEB_COMPANION_ONLY",
      }),
    },
  };
  for (const companion of person.companions.values()) {
    companion.deliver(
      node("notification", { from: SERVER, type: "mex", id: `limit-${Date.now()}`, t: seconds() }, [
        node(
          "update",
          { op_name: "NotificationUserReachoutTimelockUpdate" },
          Buffer.from(JSON.stringify({ data })),
        ),
      ]),
    );
  }
}
