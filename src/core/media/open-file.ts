import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import type { Engine } from "../../engine/engine.ts";
import type { MediaContent } from "../../network/driver.ts";
import type { Db } from "../../platform/db/database.ts";
import type { ErrorCode } from "../../platform/error-codes.ts";
import { GatewayError, invalidField } from "../../platform/gateway-error.ts";
import type { Log } from "../../platform/log/log.ts";
import type { ByteRange, MediaStore } from "../../platform/media/media-store.ts";
import type { InstanceStatus, MessageTable } from "../../tables.ts";
import { MEDIA_COLUMNS, type MediaColumns, noFile, readParts, requestFile } from "./media.ts";
import { STORAGE_QUOTA_REASON } from "./storage-quota.ts";

export interface OpenFileDeps {
  db: Db;
  engine: Pick<Engine, "wake" | "node">;
  store: MediaStore;
  /** A file in the folder of another node. */
  readFromNode: (node: string, name: string, range: ByteRange | undefined) => Promise<Readable | undefined>;
  log: Log;
}

/** A file that can be read. */
export interface OpenedFile {
  message_id: string;
  mime_type: string;
  file_name: string | null;
  size: number;
  /** Null while the file waits for its send: then it can only be read from its beginning. */
  sha256: string | null;
  read(range?: ByteRange): Promise<Readable>;
}

/** One of them identifies the file. */
export interface FileSelector {
  message?: number;
  media?: string;
  /** The instance that it must belong to. */
  instance?: number;
}

interface FileRow extends MediaColumns {
  id: number;
  message_id: string;
  status: MessageTable["status"];
  origin: MessageTable["origin"];
  outcome_at: Date | null;
  content: (MediaContent & { upload?: string; shared?: string }) | { kind: "text" };
  instance_status: InstanceStatus;
  upload: string | null;
  name: string | null;
  node: string | null;
}

const WAIT_FOR_ARRIVAL_MS = 30_000;
const POLL_MS = 250;

/** Opens the file of a message; waits up to 30 s for a file in transfer, and fetches a skipped one. */
export async function openFile(
  deps: OpenFileDeps,
  which: FileSelector,
  signal: AbortSignal,
): Promise<OpenedFile> {
  const giveUpAt = performance.now() + WAIT_FOR_ARRIVAL_MS;
  let isRequested = false;
  for (;;) {
    const row = await findRow(deps.db, which);
    if (!row) throw noFile();
    const opened = await open(deps, row);
    if (opened) return opened;
    if (isLeft(row) && !isRequested) {
      requireConnected(row);
      deps.engine.wake(await requestFile(deps.db, row.id));
      isRequested = true;
    } else requirePending(row);
    if (performance.now() > giveUpAt) throw notYet();
    await delay(POLL_MS, undefined, { signal });
  }
}

async function findRow(db: Db, { message, media, instance }: FileSelector): Promise<FileRow | undefined> {
  return db
    .selectFrom("message as m")
    .innerJoin("instance as i", "i.id", "m.instance_id")
    .leftJoin("media as f", "f.message", "m.id")
    .leftJoin("blob as b", "b.id", "f.blob")
    .select(["m.id", "m.instance_id", "m.message_id", "m.status", "m.origin", "m.outcome_at", "m.content"])
    .select(["i.status as instance_status", "f.upload", "b.name", "b.node"])
    .select(MEDIA_COLUMNS)
    .where("i.removed_at", "is", null)
    .$if(message !== undefined, (query) => query.where("m.id", "=", message ?? 0))
    .$if(media !== undefined, (query) => query.where("f.id", "=", media ?? ""))
    .$if(instance !== undefined, (query) => query.where("m.instance_id", "=", instance ?? 0))
    .$castTo<FileRow>()
    .executeTakeFirst();
}

async function open(deps: OpenFileDeps, row: FileRow): Promise<OpenedFile | undefined> {
  const { content } = row;
  if (content.kind !== "media")
    throw invalidField("message_id", "is the id of a message without a file", "not_found");
  const described = {
    message_id: row.message_id,
    mime_type: row.media_mime_type ?? content.mime_type,
    file_name: content.file_name ?? null,
    size: row.media_size ?? content.size,
  };
  const { name, media_sha256: sha256, media_status } = row;
  if (media_status === "ready" && name !== null && sha256 !== null) {
    return { ...described, sha256, read: (range) => readStored(deps, row, name, sha256, range) };
  }
  const upload = row.upload ?? content.upload ?? content.shared;
  if (upload === undefined || !(await hasParts(deps.db, upload))) return undefined;
  const pieces = () => readWaiting(deps, row.id, upload, described.size);
  return { ...described, sha256: null, read: async () => Readable.from(pieces(), { objectMode: false }) };
}

/** The file may move into the store during the read: the rest then comes from there. */
async function* readWaiting(
  deps: OpenFileDeps,
  message: number,
  upload: string,
  size: number,
): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const part of readParts(deps.db, upload)) {
    bytes += part.length;
    yield part;
  }
  if (bytes === size) return;
  const row = await findRow(deps.db, { message });
  if (row?.media_status !== "ready" || row.name === null || row.media_sha256 === null)
    throw new Error("The file was deleted while it was being read.");
  const rest = bytes === 0 ? undefined : { start: bytes, end: size - 1 };
  yield* (await readStored(deps, row, row.name, row.media_sha256, rest)) as AsyncIterable<Buffer>;
}

async function readStored(
  deps: OpenFileDeps,
  { node, media_id }: FileRow,
  name: string,
  sha256: string,
  range: ByteRange | undefined,
): Promise<Readable> {
  const { store, engine, log } = deps;
  const isElsewhere = node !== null && node !== engine.node.id;
  const stream = isElsewhere ? await deps.readFromNode(node, name, range) : await store.open(name, range);
  if (!stream && isElsewhere)
    throw new GatewayError(
      "UNAVAILABLE",
      "The file is stored on another node, which cannot be reached now. Try again later.",
      {
        retryAfterSeconds: 30,
      },
    );
  if (!stream) {
    log.error({ reason: media_id ?? "" }, "a file is missing in the media store");
    throw expired();
  }
  if (range) return stream;
  const whole = Readable.from(unchanged(stream, sha256, log), { objectMode: false });
  // A generator that never started closes nothing.
  return whole.once("close", () => stream.destroy());
}

/** Delays the last piece until the file is verified as the stored one. */
async function* unchanged(stream: Readable, sha256: string, log: Log): AsyncGenerator<Buffer> {
  const hash = createHash("sha256");
  let last: Buffer | undefined;
  for await (const piece of stream as AsyncIterable<Buffer>) {
    hash.update(piece);
    if (last) yield last;
    last = piece;
  }
  if (hash.digest("hex") !== sha256) {
    log.error({ reason: sha256 }, "a file in the media store does not match its checksum");
    throw new Error("The stored file does not match its checksum.");
  }
  if (last) yield last;
}

async function hasParts(db: Db, upload: string): Promise<boolean> {
  const found = await db
    .selectFrom("outgoing_media")
    .select("part")
    .where("id", "=", upload)
    .where("part", "=", 0)
    .executeTakeFirst();
  return found !== undefined;
}

/** It is fetched only on request. */
function isLeft({ content, media_status, media_reason }: FileRow): boolean {
  if (content.kind !== "media" || content.ref === undefined) return false;
  return media_status === null || (media_status === "failed" && media_reason !== "too_large");
}

/** Throws the error for a file that will not arrive. */
function requirePending(row: FileRow): void {
  if (row.media_status === "expired") throw expired();
  if (row.media_status === "failed") throw failed(row.media_reason);
  if (row.media_status === "pending") requireConnected(row);
  else if (!mayStillCome(row)) throw expired();
}

function requireConnected({ instance_status: status }: FileRow): void {
  if (status !== "connected")
    throw new GatewayError(
      "INSTANCE_NOT_CONNECTED",
      "The instance is not connected. Connect it, then fetch the file again.",
      {
        details: { status },
      },
    );
}

/** The media reference of our own file comes with its acknowledgement, which may follow a receipt. */
function mayStillCome({ origin, status, outcome_at }: FileRow): boolean {
  if (origin === "contact" || origin === "phone") return true;
  if (status === "scheduled" || status === "pending") return true;
  return status !== "failed" && Date.now() - (outcome_at?.getTime() ?? 0) < WAIT_FOR_ARRIVAL_MS;
}

const REFUSALS: Record<string, [ErrorCode, string]> = {
  not_supported: ["NOT_SUPPORTED", "The session cannot fetch files."],
  [STORAGE_QUOTA_REASON]: [
    "STORAGE_QUOTA_EXCEEDED",
    "The file was not stored: the account has used up its plan's storage (max_storage_mb).",
  ],
  too_large: ["MEDIA_DOWNLOAD_FAILED", "The file is larger than this gateway stores (WAYGATE_MEDIA_MAX_MB)."],
};

function failed(reason: string | null): GatewayError {
  const [code, sentence] = REFUSALS[reason ?? ""] ?? [
    "MEDIA_DOWNLOAD_FAILED",
    "The network did not return the file in several attempts.",
  ];
  return new GatewayError(code, sentence);
}

function expired(): GatewayError {
  return new GatewayError(
    "MEDIA_EXPIRED",
    "The file no longer exists here or on the network. Ask the sender for the file.",
  );
}

function notYet(): GatewayError {
  return new GatewayError("MEDIA_DOWNLOAD_FAILED", "The file has not arrived yet. Try again later.", {
    retryAfterSeconds: 30,
  });
}
