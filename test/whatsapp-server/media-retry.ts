import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { proto } from "baileys";
import type { Companion } from "./companion.ts";
import type { StoredMessage } from "./handset.ts";
import { filePart } from "./message-content.ts";
import type { Network } from "./network.ts";
import { type BinaryNode, child, childBytes, node, seconds } from "./nodes.ts";

const { ResultType } = proto.MediaRetryNotification;

const retryKey = (mediaKey: Uint8Array): Buffer =>
  Buffer.from(hkdfSync("sha256", mediaKey, "", "WhatsApp Media Retry Notification", 32));

/** A client asks the phones to upload a file again: the one who wrote the message does, if the file is still there. */
export async function handleMediaRetry(
  network: Network,
  companion: Companion,
  stanza: BinaryNode,
): Promise<void> {
  const { id = "" } = stanza.attrs;
  const rmr = child(stanza, "rmr")?.attrs;
  const stored = keeper(network, id) ?? companion.person.handset.kept(id);
  const mediaKey = stored && filePart(stored.message)?.part.mediaKey;
  const attrs = { from: companion.person.jid("pn"), id, type: "mediaretry", t: seconds() };
  const rmrNode = node("rmr", { ...rmr });
  if (!stored || !mediaKey) {
    companion.deliver(node("notification", attrs, [node("error", { code: ResultType.NOT_FOUND }), rmrNode]));
    return;
  }
  const asked = opened(mediaKey, id, child(stanza, "encrypt"));
  if (proto.ServerErrorReceipt.decode(asked).stanzaId !== id) throw new Error("a retry for another message");
  const ordered = network.faults.take("media_retry_path", companion.person.phone);
  const directPath = ordered?.path ?? (await uploadAgain(network, stored));
  const answer = proto.MediaRetryNotification.encode({
    stanzaId: id,
    directPath,
    result: directPath ? ResultType.SUCCESS : ResultType.NOT_FOUND,
  }).finish();
  companion.deliver(node("notification", attrs, [sealed(mediaKey, id, answer), rmrNode]));
}

/** The phone that wrote it still has the file. */
const keeper = (network: Network, id: string): StoredMessage | undefined => {
  for (const person of network.people.values()) {
    const stored = person.handset.kept(id);
    if (stored?.file) return stored;
  }
  return undefined;
};

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
