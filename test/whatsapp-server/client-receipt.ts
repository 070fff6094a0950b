import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { proto } from "baileys";
import type { Companion } from "./companion.ts";
import type { ServerConnection } from "./connection.ts";
import type { Address } from "./group.ts";
import { Handset, type StoredMessage } from "./handset.ts";
import { filePart } from "./message-content.ts";
import type { Network } from "./network.ts";
import { sendReceipt } from "./phone/receipts.ts";
import { resendToDevice } from "./phone/send-to-devices.ts";
import {
  type BinaryNode,
  bytes,
  child,
  childBytes,
  childrenNamed,
  childUint,
  node,
  seconds,
} from "./protocol/nodes.ts";
import type { Bundle } from "./protocol/signal-end.ts";

const { ResultType } = proto.MediaRetryNotification;

const retryKey = (mediaKey: Uint8Array): Buffer =>
  Buffer.from(hkdfSync("sha256", mediaKey, "", "WhatsApp Media Retry Notification", 32));

/** The sender's phone still has the file. */
const keeper = (network: Network, id: string): StoredMessage | undefined => {
  for (const person of network.people.values()) {
    const stored = person.handset.kept(id);
    if (stored?.file) return stored;
  }
  return undefined;
};

const DELIVERY = ["", "inactive", "sender", "peer_msg"];
const READ = ["read", "read-self", "played", "played-self"];

/** Handles receipts: delivered, read, or a retry request. */
export async function handleReceipt(
  network: Network,
  connection: ServerConnection,
  companion: Companion,
  stanza: BinaryNode,
): Promise<void> {
  const { id = "", type = "", to, participant, recipient } = stanza.attrs;
  const ids = [id, ...childrenNamed(child(stanza, "list"), "item").map((one) => one.attrs.id ?? "")];
  const { phone } = companion.person;
  network.book.receipt({ phone, to: to ?? "", participant, recipient, type, ids });
  const writer = network.findPerson(participant ?? to);
  const lost = (fault: { from?: string }): boolean =>
    fault.from === undefined || (writer !== undefined && network.findPerson(fault.from) === writer);
  if (network.faults.take("receipt_lost", companion.person.phone, lost)) return;
  connection.send(node("ack", { class: "receipt", id, from: to, participant, type: type || undefined }));
  if (type === "retry") return retry(network, companion, stanza);
  if (type === "server-error") return handleMediaRetry(network, companion, stanza);
  if (DELIVERY.includes(type)) companion.receipted(ids, type);
  else if (!READ.includes(type) && type !== "hist_sync") {
    network.book.unhandled.push(`receipt of type ${type}`);
  }
  passOn(network, companion, stanza, ids);
}

/** Forwards the receipt to the sender, unless it is private. */
function passOn(network: Network, companion: Companion, stanza: BinaryNode, ids: string[]): void {
  const { type = "", to = "", participant } = stanza.attrs;
  if (!["", "inactive", "read", "played"].includes(type)) return;
  const of = network.findPerson(participant ?? to);
  const chat = chatOf(network, companion, to);
  if (!of || !chat || of === companion.person) return;
  const kind = type === "read" || type === "played" ? type : undefined;
  sendReceipt({ by: companion, of, chat, ids, ...(kind && { type: kind }) });
}

/** The chat from the other side. */
function chatOf(network: Network, companion: Companion, to: string): Address | undefined {
  const address = network.address(to);
  if (address?.kind !== "person") return address;
  return { kind: "person", person: companion.person, addressing: address.addressing };
}

async function retry(network: Network, companion: Companion, stanza: BinaryNode): Promise<void> {
  const { id = "", to = "", participant, recipient } = stanza.attrs;
  companion.asksAgain(id);
  const writer = network.device(participant ?? to);
  if (!writer) {
    network.book.unhandled.push(`retry of ${id} from ${participant ?? to}, which is no device`);
    return;
  }
  if (writer instanceof Handset) {
    const count = Number(child(stanza, "retry")?.attrs.count ?? 1);
    return resendToDevice(network, writer, companion, id, { count, bundle: bundleIn(stanza) });
  }
  const chat = chatOf(network, companion, recipient ?? to);
  if (!chat) return;
  const content = Array.isArray(stanza.content) ? stanza.content : [];
  sendReceipt({ by: companion, of: writer.person, chat, ids: [id], type: "retry", content, device: writer });
}

function bundleIn(stanza: BinaryNode): Bundle | undefined {
  const keys = child(stanza, "keys");
  const skey = child(keys, "skey");
  const key = child(keys, "key");
  if (!keys || !skey) return undefined;
  const pair = (of: BinaryNode) => ({ id: childUint(of, "id"), value: childBytes(of, "value") });
  return {
    registrationId: childUint(stanza, "registration"),
    identity: bytes(child(keys, "identity")),
    signedPreKey: { ...pair(skey), signature: childBytes(skey, "signature") },
    ...(key && { preKey: pair(key) }),
  };
}

/**
 * A client requests a file upload. The sender's phone uploads it if it still has the file and the client names the
 * chat as its account does.
 */
async function handleMediaRetry(network: Network, companion: Companion, stanza: BinaryNode): Promise<void> {
  const { id = "" } = stanza.attrs;
  const rmr = child(stanza, "rmr")?.attrs;
  const stored = keeper(network, id) ?? companion.person.handset.kept(id);
  const mediaKey = stored && filePart(stored.message)?.part.mediaKey;
  const attrs = { from: companion.person.jid("pn"), id, type: "mediaretry", t: seconds() };
  const rmrNode = node("rmr", { ...rmr });
  const address = network.address(rmr?.jid ?? "");
  const usual = companion.person.isMigrated ? "lid" : "pn";
  const isMisaddressed = address?.kind === "person" && address.addressing !== usual;
  if (!stored || !mediaKey || isMisaddressed) {
    companion.deliver(node("notification", attrs, [node("error", { code: ResultType.NOT_FOUND }), rmrNode]));
    return;
  }
  const asked = opened(mediaKey, id, child(stanza, "encrypt"));
  if (proto.ServerErrorReceipt.decode(asked).stanzaId !== id) throw new Error("a retry for another message");
  const ordered = network.faults.take("media_retry_path", companion.person.phone);
  const directPath = ordered?.path ?? (await uploadAgain(network, stored));
  const notification = proto.MediaRetryNotification.encode({
    stanzaId: id,
    directPath,
    result: directPath ? ResultType.SUCCESS : ResultType.NOT_FOUND,
  }).finish();
  companion.deliver(node("notification", attrs, [sealed(mediaKey, id, notification), rmrNode]));
}

async function uploadAgain(network: Network, stored: StoredMessage): Promise<string | undefined> {
  const found = filePart(stored.message);
  const file = stored.file;
  if (!found?.part.mediaKey || !file) return undefined;
  return network.media.storeAgain(file, found.type, found.part.mediaKey);
}

function opened(mediaKey: Uint8Array, id: string, encrypt: BinaryNode | undefined): Buffer {
  const data = childBytes(encrypt, "enc_p");
  const decipher = createDecipheriv("aes-256-gcm", retryKey(mediaKey), childBytes(encrypt, "enc_iv"));
  decipher.setAAD(Buffer.from(id));
  decipher.setAuthTag(data.subarray(-16));
  return Buffer.concat([decipher.update(data.subarray(0, -16)), decipher.final()]);
}

function sealed(mediaKey: Uint8Array, id: string, plain: Uint8Array): BinaryNode {
  const iv = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", retryKey(mediaKey), iv);
  cipher.setAAD(Buffer.from(id));
  const data = Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
  return node("encrypt", {}, [node("enc_p", {}, data), node("enc_iv", {}, iv)]);
}
