import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import { join } from "node:path";
import { sql } from "kysely";
import type { Config } from "../../platform/config/config.ts";
import type { DataDir } from "../../platform/config/data-dir.ts";
import type { Db } from "../../platform/db/database.ts";
import type { Log } from "../../platform/log/log.ts";
import { createMediaConverter, type SharedMediaConverter } from "../../platform/media/media-converter.ts";
import type { MediaStore } from "../../platform/media/media-store.ts";
import { openMediaStore } from "../../platform/media/open-media-store.ts";
import { emptyDirectory } from "../../platform/media/temporary-file.ts";
import { FileStorage } from "./file-storage.ts";
import type { MediaUrls } from "./media.ts";

const ROWS_AT_ONCE = 500;

const DAY_MS = 86_400_000;

/** Longer than the time between storing a file and referencing it. */
const UNNAMED_AFTER_MS = 3_600_000;

/** Longer than the largest file needs to arrive in the slowest store. */
const UNFINISHED_AFTER_MS = DAY_MS;

interface SweepFilesOptions {
  db: Db;
  store: MediaStore;
  /** This node: only the owner of a folder deletes its files. */
  node: string;
}

const SWEEP_EVERY_MS = 600_000;

interface MediaUrlOptions {
  secretKey: string;
  /** No longer signs, but its signatures are still valid. */
  secondKey?: string | undefined;
  /** The public URL of the gateway. */
  baseUrl: string;
}

/** The files of this node, as other parts of the process use them. */
export interface NodeMedia {
  store: MediaStore;
  files: FileStorage;
  mediaUrls: MediaUrls;
  converter: SharedMediaConverter;
  /** For temporary files; empty at the start. */
  scratchDir: string;
  /** Deletes at once the files that no message references. */
  sweep(): Promise<void>;
  /** Called once the nodes know each other. */
  started(): Promise<void>;
  close(): Promise<void>;
}

export interface OpenMediaOptions {
  config: Pick<Config, "media" | "baseUrl" | "secretKeySecond" | "ffmpeg">;
  secretKey: string;
  db: Db;
  dataDir: DataDir;
  log: Log;
}

/** Opens the media store; throws one clear Error when it cannot be used. */
export async function openMedia(options: OpenMediaOptions): Promise<NodeMedia> {
  const { config, secretKey, db, log } = options;
  const { node_id: node, path } = options.dataDir;
  const store = await openMediaStore({ address: config.media, dataDir: path, node });
  const sweeping = startSweeping({ db, store, node }, (error) =>
    log.warn({ err: error }, "unused files could not be deleted"),
  );
  const scratchDir = join(path, "scratch");
  await emptyDirectory(scratchDir);
  const secondKey = config.secretKeySecond?.reveal();
  return {
    store,
    files: new FileStorage({ db, store, node }),
    mediaUrls: createMediaUrls({ secretKey, secondKey, baseUrl: config.baseUrl }),
    converter: createMediaConverter({ ffmpeg: config.ffmpeg, scratchDir }),
    scratchDir,
    sweep: () => sweeping.now(),
    started: () => warnOfLocalStorage({ db, store, node }, log),
    close: () => sweeping.stop(),
  };
}

/** Warns if this node's files are lost with the node. */
async function warnOfLocalStorage(
  { db, store, node }: { db: Db; store: MediaStore; node: string },
  log: Log,
): Promise<void> {
  if (store.isShared) return;
  const others = await db
    .selectFrom("node")
    .select("id")
    .where("id", "<>", node)
    .where("dead", "=", false)
    .execute();
  if (others.length > 0)
    log.warn(
      { nodes: others.length + 1 },
      `files are stored in ${store.description}, and other nodes can read them only while this node runs: set WAYGATE_MEDIA to a bucket, or to a folder that all nodes mount`,
    );
}

export function createMediaUrls({ secretKey, secondKey, baseUrl }: MediaUrlOptions): MediaUrls {
  const key = signingKey(secretKey);
  const keys = secondKey === undefined ? [key] : [key, signingKey(secondKey)];

  return {
    create(mediaId, ttlSeconds) {
      const expires = String(Math.floor(Date.now() / 1000) + ttlSeconds);
      const signature = sign(key, mediaId, expires).toString("base64url");
      return `${baseUrl}/media/${mediaId}/${expires}/${signature}`;
    },
    isGood(mediaId, expires, signature) {
      const received = Buffer.from(signature, "base64url");
      const isSigned = keys.map((one) => isSame(received, sign(one, mediaId, expires))).includes(true);
      return isSigned && Number(expires) * 1000 > Date.now();
    },
  };
}

function signingKey(secretKey: string): Buffer {
  return Buffer.from(hkdfSync("sha256", secretKey, "", "waygate media links 1", 32));
}

function sign(key: Buffer, mediaId: string, expires: string): Buffer {
  return createHmac("sha256", key).update(`${mediaId}/${expires}`).digest();
}

function isSame(received: Buffer, right: Buffer): boolean {
  return received.length === right.length && timingSafeEqual(received, right);
}

/** Deletes the stored files that no media row references. Safe to run concurrently. */
export async function sweepFiles({ db, store, node }: SweepFilesOptions): Promise<void> {
  const ofNode = store.isShared ? sql`node is null` : sql`node = ${node}`;
  for (let marked = ROWS_AT_ONCE; marked >= ROWS_AT_ONCE; ) marked = await markUnreferenced(db, ofNode);
  const { rows } = await sql<{ id: number; name: string }>`
    select id, name from blob where ${ofNode} and (status = 'deleting'
      or status = 'uploading' and created_at < now() - ${UNFINISHED_AFTER_MS} * interval '1 millisecond')`.execute(
    db,
  );
  for (const { id, name } of rows) {
    await store.remove(name);
    await db.deleteFrom("blob").where("id", "=", id).where("status", "<>", "stored").execute();
  }
}

/**
 * Marks files for deletion, which are then never referenced again. A new reference locks the file's row, so
 * the second statement sees all references to the rows that the first one has locked.
 */
async function markUnreferenced(db: Db, ofNode: ReturnType<typeof sql>): Promise<number> {
  return db.transaction().execute(async (trx) => {
    const { rows } = await sql<{ id: number }>`
      select id from blob b where ${ofNode} and status = 'stored'
        and created_at < now() - ${UNNAMED_AFTER_MS} * interval '1 millisecond'
        and not exists (select from media where blob = b.id)
      order by id limit ${ROWS_AT_ONCE} for update skip locked`.execute(trx);
    if (rows.length === 0) return 0;
    await sql`
      update blob b set status = 'deleting'
      where id = any(${rows.map(({ id }) => id)}::bigint[]) and not exists (select from media where blob = b.id)`.execute(
      trx,
    );
    return rows.length;
  });
}

/** Sweeps periodically while the process runs; the next sweep repeats a failed one. */
function startSweeping(
  options: SweepFilesOptions,
  onError: (error: unknown) => void,
): { now(): Promise<void>; stop(): Promise<void> } {
  let sweeping = Promise.resolve();
  const sweep = (): Promise<void> => {
    sweeping = sweeping.then(() => sweepFiles(options)).catch(onError);
    return sweeping;
  };
  const timer = setInterval(() => void sweep(), SWEEP_EVERY_MS);
  return {
    now: sweep,
    async stop() {
      clearInterval(timer);
      await sweeping;
    },
  };
}
