import type { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { create as contentDisposition } from "content-disposition";
import type { Selectable } from "kysely";
import { type AuditActor, recordAudit } from "../../core/audit/audit.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Db } from "../../platform/db/database.ts";
import { GatewayError, invalidField } from "../../platform/gateway-error.ts";
import { type Handlers, OkResponse, RawResponse } from "../../platform/http/handler.ts";
import { toPage } from "../../platform/http/input/pagination.ts";
import type { BackupTable } from "../../tables.ts";
import type { backupsContract } from "./contract.ts";
import { openBackupFile } from "./file/open-backup-file.ts";
import { decideHeldJobs, readHeldJobs } from "./held-jobs.ts";
import { requestBackup } from "./request-backup.ts";

export { readHeldJobs } from "./held-jobs.ts";

const RESPONSE_AFTER_MS = 30_000;
const POLL_MS = 200;

export interface BackupHandlerDeps {
  db: Db;
  engine: Pick<Engine, "wake" | "hasLiveNode">;
  /** The backup directory of this node. */
  directory: string;
  /** A file in another node's backup directory; undefined if that node is unreachable or lacks the file. */
  readFromNode: (node: string, file: string) => Promise<Readable | undefined>;
}

/** Backups, and the jobs on hold after a restore, for the operator. */
export function backupHandlers(deps: BackupHandlerDeps): Handlers<typeof backupsContract> {
  const { db } = deps;
  return {
    async listBackups({ input }) {
      const { rows, pagination } = await listBackups(db, input.limit, input.cursor);
      return new OkResponse(rows, { beside: { pagination } });
    },

    async createBackup({ signal, caller, ip, request_id }) {
      const id = await order(deps, { caller, ip, request_id });
      return waitFor(db, id, signal);
    },

    async downloadBackup({ input, caller, ip, request_id }) {
      return download(deps, input.id, { caller, ip, request_id });
    },

    getHeldWork: () => heldWork(db),

    async decideHeldWork({ input, caller, ip, request_id }) {
      await decideHeldJobs(db, { caller, ip, request_id }, input.action);
      return heldWork(db);
    },
  };
}

async function order({ db, engine }: BackupHandlerDeps, by: AuditActor): Promise<string> {
  if (!(await engine.hasLiveNode("worker"))) {
    throw new GatewayError(
      "UNAVAILABLE",
      "No node with the role worker is running to make the backup. Start one with worker in WAYGATE_ROLES.",
    );
  }
  const { id, lane } = await requestBackup(db, by, "request");
  engine.wake([lane]);
  return id;
}

async function waitFor(db: Db, id: string, signal: AbortSignal) {
  const until = performance.now() + RESPONSE_AFTER_MS;
  let row = await findBackup(db, id);
  while (row?.status === "running" && performance.now() < until && !signal.aborted) {
    await delay(POLL_MS);
    row = await findBackup(db, id);
  }
  if (!row) throw new Error(`backup ${id} was deleted while it was being made`);
  return toBackup(row);
}

function findBackup(db: Db, id: string): Promise<Selectable<BackupTable> | undefined> {
  return db.selectFrom("backup").selectAll().where("id", "=", id).executeTakeFirst();
}

async function listBackups(db: Db, limit: number, cursor: string | undefined) {
  let query = db
    .selectFrom("backup")
    .selectAll()
    .orderBy("id", "desc")
    .limit(limit + 1);
  const before = readBackupCursor(cursor);
  if (before !== undefined) query = query.where("id", "<", before);
  return toPage((await query.execute()).map(toBackup), limit, ({ id }) => id);
}

function readBackupCursor(cursor: string | undefined): string | undefined {
  if (!cursor) return undefined;
  const id = Buffer.from(cursor, "base64url").toString("utf8");
  if (!/^bkp_[0-9A-Z]{26}$/.test(id))
    throw invalidField(
      "cursor",
      "is not a cursor of this list: use next_cursor of the page before",
      "wrong_cursor",
    );
  return id;
}

function toBackup(row: Selectable<BackupTable>) {
  return { ...row, encrypted: true as const, rows: row.rows ?? {} };
}

/** The path comes from the row, never from the request. */
async function download(deps: BackupHandlerDeps, id: string, by: AuditActor): Promise<RawResponse> {
  const { db } = deps;
  const row = await findBackup(db, id);
  if (!row?.file) throw new GatewayError("NOT_FOUND", "There is no such backup.");
  const stream = await openFile(deps, row.file, row.node);
  await recordAudit(db, { by, action: "backup.download", target: { type: "backup", id }, account_id: null });
  return new RawResponse("application/octet-stream", stream, 200, {
    ...(row.size !== null && { "content-length": String(row.size) }),
    "content-disposition": contentDisposition(row.file),
    "cache-control": "no-store",
  });
}

/** From this node's directory, which several nodes may share, or from the node that made the backup. */
async function openFile(
  { directory, readFromNode }: BackupHandlerDeps,
  file: string,
  node: string | null,
): Promise<Readable> {
  const stream =
    (await openBackupFile(directory, file)) ?? (node === null ? undefined : await readFromNode(node, file));
  if (stream) return stream;
  const sentence = `The file is in the backup directory of ${node}, which cannot be reached. Start that node, or copy the file from there.`;
  throw new GatewayError("CONFLICT", sentence, { details: { node } });
}

const NOTHING_HELD = {
  backup: null,
  backup_at: null,
  restored_at: null,
  action: null,
  decided_at: null,
  sends: 0,
  deliveries: 0,
  others: 0,
};

async function heldWork(db: Db) {
  return (await readHeldJobs(db)) ?? NOTHING_HELD;
}
