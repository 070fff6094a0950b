import { gateway } from "../../gateway/gateway.ts";
import type { Message } from "./conversation-queries.ts";

/** Memory limit of cached files that are not shown. */
const MOST_BYTES = 64 * 1024 * 1024;
const MOST_FILES = 60;

interface KeptFile {
  url: string;
  size: number;
  users: number;
}

/** Least recently used first. */
const files = new Map<string, KeptFile>();
const loading = new Map<string, Promise<KeptFile>>();

/** An object URL of a file. Call `releaseFile` when it is no longer shown. */
export async function openFile(instanceId: number, message: Message): Promise<string> {
  const key = nameOf(instanceId, message);
  const file = files.get(key) ?? (await load(key, instanceId, message));
  file.users += 1;
  files.delete(key);
  files.set(key, file);
  evict();
  return file.url;
}

export function releaseFile(instanceId: number, message: Message): void {
  const file = files.get(nameOf(instanceId, message));
  if (file) file.users -= 1;
  evict();
}

const nameOf = (instanceId: number, { id }: Message) => `${instanceId} ${id}`;

/** The stored file, otherwise the one on WhatsApp's server. */
export async function readFile(id: number, message: Message): Promise<Uint8Array<ArrayBuffer>> {
  const { message_id, media } = message;
  const isStored = media?.status === "ready" && media.id !== null;
  const request = isStored
    ? gateway.getMedia({ id, mediaId: media.id ?? "" })
    : gateway.downloadMedia({ id, message_id });
  return ((await request) as unknown as { bytes: Uint8Array<ArrayBuffer> }).bytes;
}

function load(key: string, instanceId: number, message: Message): Promise<KeptFile> {
  const running = loading.get(key);
  if (running) return running;
  const mimeType = message.media?.mime_type ?? "";
  const request = readFile(instanceId, message)
    .then((bytes) => {
      // The sender chooses the MIME type, so only types that the browser renders as media are used.
      const type = /^(image|video|audio)\/[\w.+-]+/.exec(mimeType)?.[0] ?? "application/octet-stream";
      const safe = type.includes("svg") ? "application/octet-stream" : type;
      const url = URL.createObjectURL(new Blob([bytes], { type: safe }));
      const file = { url, size: bytes.length, users: 0 };
      files.set(key, file);
      return file;
    })
    .finally(() => loading.delete(key));
  loading.set(key, request);
  return request;
}

function evict(): void {
  let bytes = [...files.values()].reduce((sum, { size }) => sum + size, 0);
  for (const [key, { url, size, users }] of files) {
    if (files.size <= MOST_FILES && bytes <= MOST_BYTES) return;
    if (users > 0) continue;
    URL.revokeObjectURL(url);
    files.delete(key);
    bytes -= size;
  }
}
