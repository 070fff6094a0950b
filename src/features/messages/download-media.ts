import { setTimeout as delay } from "node:timers/promises";
import { create as contentDisposition } from "content-disposition";
import type { Session } from "../../network/driver.ts";
import type { Db } from "../../platform/db.ts";
import { GatewayError, invalidField } from "../../platform/errors.ts";
import { RawAnswer } from "../../platform/handler.ts";
import { mimeType } from "./contract.ts";
import { cleanFileName } from "./file-name.ts";
import { type MessageRow, type StoredMedia, selectMessages } from "./message-view.ts";
import { loadOutgoing } from "./outgoing-media.ts";

export interface MediaFile {
  message_id: string;
  /** Both fit for a header. */
  mime_type: string;
  file_name: string | null;
  bytes: Buffer;
}

export interface DownloadDeps {
  db: Db;
  /** The live session of an instance, while it is connected. */
  connectedSession: (instanceId: number) => Session | undefined;
}

const WAIT_FOR_ARRIVAL_MS = 30_000;
const LOOK_EVERY_MS = 500;

/** The file of a message: from the gateway while it is on its way out, else from the network. */
export async function readMediaFile(
  deps: DownloadDeps,
  instanceId: number,
  message_id: string,
): Promise<MediaFile> {
  const media = await awaitMedia(deps.db, instanceId, message_id);
  const bytes = (await loadWaiting(deps.db, media)) ?? (await fetchFile(deps, instanceId, media));
  const mime_type = mimeType.safeParse(media.mime_type).data ?? "application/octet-stream";
  const file_name = media.file_name === undefined ? null : cleanFileName(media.file_name);
  return { message_id, mime_type, file_name, bytes };
}

/** A file that is still on its way in is waited for. */
async function awaitMedia(db: Db, instanceId: number, messageId: string): Promise<StoredMedia> {
  const giveUpAt = performance.now() + WAIT_FOR_ARRIVAL_MS;
  for (;;) {
    const row = await getMessage(db, instanceId, messageId);
    const { content } = row;
    if (content.kind !== "media") throw invalidField("message_id", "names a message without a file");
    if (content.ref !== undefined || content.upload !== undefined) return content;
    if (!mayStillCome(row) || performance.now() > giveUpAt) throw expired();
    await delay(LOOK_EVERY_MS);
  }
}

async function getMessage(db: Db, instanceId: number, messageId: string): Promise<MessageRow> {
  return selectMessages(db)
    .where("m.instance_id", "=", instanceId)
    .where("m.message_id", "=", messageId)
    .executeTakeFirstOrThrow(() => new GatewayError("MESSAGE_NOT_FOUND", "There is no such message."));
}

/** What the network calls a file of ours comes with its acknowledgement, which may come after a receipt. */
function mayStillCome({ origin, status, outcome_at }: MessageRow): boolean {
  if (origin === "contact" || origin === "phone" || status === "pending") return true;
  return status !== "failed" && Date.now() - (outcome_at?.getTime() ?? 0) < WAIT_FOR_ARRIVAL_MS;
}

function expired(): GatewayError {
  return new GatewayError("MEDIA_EXPIRED", "The network has the file no longer.");
}

async function loadWaiting(db: Db, { upload, size }: StoredMedia): Promise<Buffer | undefined> {
  return upload === undefined ? undefined : loadOutgoing(db, upload, size);
}

async function fetchFile(
  { connectedSession }: DownloadDeps,
  instanceId: number,
  { ref }: StoredMedia,
): Promise<Buffer> {
  const session = connectedSession(instanceId);
  if (!session) throw new GatewayError("INSTANCE_NOT_CONNECTED", "The instance is not connected.");
  if (!session.downloadMedia) throw new GatewayError("NOT_SUPPORTED", "The session cannot fetch files.");
  const bytes = await session.downloadMedia(ref);
  if (!bytes) throw expired();
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Types that a browser may show without harm; everything else is offered as a file. */
const SAFE_INLINE = /^(image\/(png|jpeg|gif|webp)|video\/(mp4|webm)|audio\/(mpeg|ogg|mp4|aac|wav))\b/;

/** The file as a download of its own. */
export function toFileAnswer({ mime_type, file_name, bytes }: MediaFile): RawAnswer {
  const type = SAFE_INLINE.test(mime_type) ? "inline" : "attachment";
  return new RawAnswer(mime_type, bytes, 200, {
    "content-disposition": contentDisposition(file_name ?? "file", { type }),
    "x-content-type-options": "nosniff",
    "content-security-policy": "sandbox; default-src 'none'",
  });
}
