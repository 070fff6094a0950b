import { sql } from "kysely";
import type { Engine, Job, JobResult } from "../../engine/engine.ts";
import { lockOwnedLanes } from "../../engine/lane-store.ts";
import { retryUntilCommitted } from "../../engine/retry-until-committed.ts";
import type { Session } from "../../network/driver.ts";
import { type Db, isDatabaseUnavailable } from "../../platform/db/database.ts";
import { faultPoint } from "../../platform/fault-point.ts";
import { Semaphore } from "../../platform/limits/semaphore.ts";
import type { Log } from "../../platform/log/log.ts";
import { detectReceivedType } from "../../platform/media/detect-media-type.ts";
import type { FileStorage } from "./file-storage.ts";
import { MEDIA_RETRY_GROUP, type MediaJobRef, readParts } from "./media.ts";
import { dropReplacedFile, failFile, recordReadyFile } from "./record-ready-file.ts";
import { findStorageLeft, STORAGE_QUOTA_REASON } from "./storage-quota.ts";

/** The result of a download from the network. `unreachable`: another attempt may succeed. */
type InboundFileResult = "whole" | "gone" | "too_large" | "not_supported" | "unreachable";

interface DownloadLimits {
  maxBytes: number;
  /** The download is abandoned after this time without data. */
  silentMs: number;
  /** The limit for the whole download. */
  totalMs: number;
}

const POLL_MS = 1_000;

export interface MediaJobRunnerOptions {
  db: Db;
  engine: Engine;
  files: FileStorage;
  /** The live session of an instance on this node, while it is connected. */
  connectedSession: (instanceId: number) => Session | undefined;
  maxBytes: number;
  log: Log;
}

/** Runs the jobs that store files: from the network, or from a pending send. */
export function createMediaJobRunner(options: MediaJobRunnerOptions): (job: Job) => Promise<JobResult> {
  const runner = new MediaRunner(options);
  return (job) => runner.run(job);
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/**
 * After the last wait the job is abandoned; attempts that fail because of the session or the store do not
 * count.
 */
const TRY_AGAIN_MS = [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, 2 * HOUR, 6 * HOUR];
const DISCONNECTED_MS = 2 * SECOND;
const STORE_UNAVAILABLE_MS = MINUTE;
const FETCH_LIMITS = { silentMs: MINUTE, totalMs: 15 * MINUTE };
/** Concurrent downloads into the store of this node. */
const AT_ONCE = 8;

interface MediaJobRow {
  id: string;
  account_id: number;
  instance_id: number;
  status: string;
  upload: string | null;
  sha256: string | null;
  size: number | null;
  mime_type: string;
  ref: unknown;
}

class MediaRunner {
  readonly #options: MediaJobRunnerOptions;
  readonly #slots = new Semaphore({ limit: AT_ONCE });

  constructor(options: MediaJobRunnerOptions) {
    this.#options = options;
  }

  async run(job: Job): Promise<JobResult> {
    const { media: id, replaces } = job.ref as MediaJobRef;
    if (replaces) await dropReplacedFile(this.#options.db, id);
    const media = await this.#load(id);
    if (media?.status !== "pending") return { end: "done" };
    const { upload } = media;
    try {
      return await this.#slots.use(() =>
        upload === null ? this.#fetch(job, media) : this.#move(job, media, upload),
      );
    } catch (error) {
      if (isDatabaseUnavailable(error)) throw error;
      this.#options.log.warn({ err: error, instance_id: media.instance_id }, "a file could not be stored");
      return this.#again(job, STORE_UNAVAILABLE_MS, { isCounted: false });
    }
  }

  async #load(id: string): Promise<MediaJobRow | undefined> {
    return this.#options.db
      .selectFrom("media as f")
      .innerJoin("message as m", "m.id", "f.message")
      .select([
        "f.id",
        "f.account_id",
        "f.instance_id",
        "f.status",
        "f.upload",
        "f.sha256",
        "f.size",
        "f.mime_type",
      ])
      .select(sql<unknown>`m.content -> 'ref'`.as("ref"))
      .where("f.id", "=", id)
      .executeTakeFirst();
  }

  async #fetch(job: Job, media: MediaJobRow): Promise<JobResult> {
    const { connectedSession, files, maxBytes } = this.#options;
    if ((media.size ?? 0) > maxBytes) return this.#end(job, media, "too_large");
    const left = await findStorageLeft(this.#options.db, media.account_id);
    if (left !== null && left < Math.max(1, media.size ?? 0))
      return this.#end(job, media, STORAGE_QUOTA_REASON);
    const session = connectedSession(media.instance_id);
    if (!session) return this.#again(job, DISCONNECTED_MS, { isCounted: false });
    let fetched: InboundFileResult = "unreachable";
    const stored = await files.store(async (write) => {
      fetched = await downloadInboundFile(session, media.ref, { ...FETCH_LIMITS, maxBytes }, write);
      return fetched === "whole";
    });
    faultPoint("media:before-commit");
    if (stored) {
      const mime_type = await detectReceivedType(stored.head, media.mime_type);
      return this.#ready(job, { id: media.id, ...stored, mime_type });
    }
    return this.#concludeWithout(job, media, fetched);
  }

  async #concludeWithout(job: Job, media: MediaJobRow, fetched: InboundFileResult): Promise<JobResult> {
    if (fetched !== "unreachable") return this.#end(job, media, fetched);
    const isDisconnected = this.#options.connectedSession(media.instance_id) === undefined;
    if (isDisconnected) return this.#again(job, DISCONNECTED_MS, { isCounted: false });
    const waitMs = TRY_AGAIN_MS[job.attempts];
    return waitMs === undefined
      ? this.#end(job, media, fetched)
      : this.#again(job, waitMs, { isCounted: true });
  }

  /** The file's hash was computed on arrival: a file that is in the store already is not copied again. */
  async #move(job: Job, media: MediaJobRow, upload: string): Promise<JobResult> {
    const { db, files } = this.#options;
    const { id, sha256, size, mime_type } = media;
    const found = sha256 === null ? undefined : await files.find(sha256);
    if (found !== undefined && sha256 !== null)
      return this.#ready(job, { id, blob: found, sha256, size: size ?? 0, mime_type });
    const stored = await files.store(async (write) => {
      let bytes = 0;
      for await (const part of readParts(db, upload)) {
        bytes += part.length;
        await write(part);
      }
      return bytes === size;
    });
    faultPoint("media:before-commit");
    return stored ? this.#ready(job, { id, ...stored, mime_type }) : this.#end(job, media, "lost");
  }

  async #ready(job: Job, file: Parameters<typeof recordReadyFile>[2]): Promise<JobResult> {
    const { db, engine } = this.#options;
    const lanes = await retryUntilCommitted(engine, job.lane, () => recordReadyFile(db, job.id, file));
    if (!lanes) return { end: "retry", at: new Date(Date.now() + DISCONNECTED_MS) };
    if (lanes === "over_quota") return this.#end(job, file, STORAGE_QUOTA_REASON);
    engine.wake(lanes);
    return { end: "committed", deleted: true };
  }

  async #end(
    job: Job,
    { id }: { id: string },
    reason: InboundFileResult | "lost" | typeof STORAGE_QUOTA_REASON,
  ): Promise<JobResult> {
    const { db, engine } = this.#options;
    await retryUntilCommitted(engine, job.lane, () => failFile(db, job.id, id, reason));
    return { end: "committed", deleted: true };
  }

  /** Moves the job to the group of retries, ordered by time, so that the files behind it proceed. */
  async #again(job: Job, waitMs: number, { isCounted }: { isCounted: boolean }): Promise<JobResult> {
    const { db, engine } = this.#options;
    const { rows } = await sql`
      with owned as (${lockOwnedLanes(engine.node.id, [job.lane])}),
      waiting as (
        update job set run_at = now() + ${waitMs} * interval '1 millisecond', grp = ${MEDIA_RETRY_GROUP},
          pos = (extract(epoch from now()) * 1000)::bigint + ${waitMs}, attempts = attempts + ${isCounted ? 1 : 0}
        from owned where job.id = ${job.id}
      )
      select from owned`.execute(db);
    if (rows.length === 0) engine.markLaneLost(job.lane.id);
    return { end: "committed" };
  }
}

/** Requests a file from a session and passes it on piece by piece. Throws only what `write` throws. */
async function downloadInboundFile(
  session: Session,
  ref: unknown,
  limits: DownloadLimits,
  write: (piece: Uint8Array) => Promise<void>,
): Promise<InboundFileResult> {
  if (!session.downloadMedia) return "not_supported";
  const intake = new BoundedDownload(limits, write);
  const download = session
    .downloadMedia(ref, (piece) => intake.write(piece))
    .then(
      (end): InboundFileResult => (end === "done" ? "whole" : "gone"),
      (): InboundFileResult => "unreachable",
    );
  const end = await Promise.race([download, intake.givenUp]);
  intake.close();
  if (intake.failure) throw intake.failure.error;
  return intake.isTooLarge ? "too_large" : end;
}

/** Accepts pieces until it is closed; the driver then gets an error. */
class BoundedDownload {
  readonly givenUp: Promise<InboundFileResult>;
  isTooLarge = false;
  failure: { error: unknown } | undefined;
  readonly #limits: DownloadLimits;
  readonly #write: (piece: Uint8Array) => Promise<void>;
  readonly #startedAt = performance.now();
  #lastPieceAt = performance.now();
  #bytes = 0;
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(limits: DownloadLimits, write: (piece: Uint8Array) => Promise<void>) {
    this.#limits = limits;
    this.#write = write;
    this.givenUp = new Promise((resolve) => {
      this.#timer = setInterval(() => this.#isOverdue() && resolve("unreachable"), POLL_MS);
    });
  }

  async write(piece: Uint8Array): Promise<void> {
    if (this.#isClosed) throw new Error("No request waits for this file any longer.");
    this.#lastPieceAt = performance.now();
    this.#bytes += piece.byteLength;
    this.isTooLarge = this.#bytes > this.#limits.maxBytes;
    if (this.isTooLarge) throw new Error("The file is too large.");
    await this.#write(piece).catch((error: unknown) => {
      this.failure = { error };
      throw error;
    });
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
  }

  #isOverdue(): boolean {
    const now = performance.now();
    return now - this.#lastPieceAt > this.#limits.silentMs || now - this.#startedAt > this.#limits.totalMs;
  }
}
