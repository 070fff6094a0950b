import { createDecipheriv, createHash, createHmac } from "node:crypto";
import { getMediaKeys } from "baileys";
import type { MediaHosts } from "../media-hosts.ts";
import type { SessionTransport } from "../session-transport.ts";
import { isMediaRef, toBaileysMediaType, type WhatsAppMediaRef } from "./whatsapp-media-ref.ts";

export type OnChunk = (chunk: Uint8Array) => Promise<void> | void;

export interface DownloadMediaOptions {
  hosts: MediaHosts;
  /** Fetches the network's media hosts, unless they are known. */
  refreshHosts(): Promise<unknown>;
  fetchFile: SessionTransport["fetchFile"];
  /** Asks the phones to upload a file again; returns its new path, undefined if they no longer have it. */
  requestReupload(ref: WhatsAppMediaRef): Promise<string | undefined>;
}

/** Status codes of the network for a file that it has deleted, which it does after some weeks. */
const GONE = new Set([403, 404, 410]);
const SEAL_LENGTH = 10;

/** Streams a file in chunks. Rejects at the end if its bytes are not those that were sent. */
export async function downloadMedia(
  ref: unknown,
  onChunk: OnChunk,
  options: DownloadMediaOptions,
): Promise<"done" | "gone"> {
  if (!isMediaRef(ref)) throw new Error("This is not a file of the WhatsApp network.");
  await options.refreshHosts();
  const sealed = (await fetchSealed(ref.path, options)) ?? (await fetchAgain(ref, options));
  if (!sealed) return "gone";
  await unseal(sealed, ref, onChunk);
  return "done";
}

type Sealed = AsyncIterable<Uint8Array>;

async function fetchAgain(ref: WhatsAppMediaRef, options: DownloadMediaOptions): Promise<Sealed | undefined> {
  const path = await options.requestReupload(ref);
  return path === undefined ? undefined : fetchSealed(path, options);
}

/** Undefined if the file does not exist, or if its path, which the sender controls, leads to another host. */
async function fetchSealed(
  path: string,
  { hosts, fetchFile }: DownloadMediaOptions,
): Promise<Sealed | undefined> {
  const url = hosts.urlOf(path);
  if (!url) return undefined;
  const { status, body } = await fetchFile(url);
  if (status >= 200 && status < 300) return body;
  body.destroy();
  if (GONE.has(status)) return undefined;
  throw new Error(`The file host responded with ${status}.`);
}

/** Baileys checks neither the MAC nor the hash, so the file is decrypted here. */
async function unseal(sealed: Sealed, ref: WhatsAppMediaRef, onChunk: OnChunk): Promise<void> {
  const { iv, cipherKey, macKey } = await getMediaKeys(
    Buffer.from(ref.key, "base64"),
    toBaileysMediaType(ref.type),
  );
  if (!macKey) throw new Error("The file's key has no part for its MAC.");
  const cipher = createDecipheriv("aes-256-cbc", cipherKey, iv);
  const seal = createHmac("sha256", macKey).update(iv);
  const hash = createHash("sha256");
  const pass = async (plain: Buffer): Promise<void> => {
    hash.update(plain);
    if (plain.length > 0) await onChunk(plain);
  };
  // The MAC is the last part of the file, and only the end of the stream shows which bytes these are.
  let last: Uint8Array = Buffer.alloc(0);
  for await (const part of sealed) {
    const data = Buffer.concat([last, part]);
    const body = data.subarray(0, Math.max(0, data.length - SEAL_LENGTH));
    last = data.subarray(body.length);
    seal.update(body);
    await pass(cipher.update(body));
  }
  await pass(cipher.final());
  const isSealed = seal.digest().subarray(0, SEAL_LENGTH).equals(last);
  if (!isSealed || hash.digest("base64") !== ref.sha256) {
    throw new Error("The downloaded file does not match the checksum of the message.");
  }
}
