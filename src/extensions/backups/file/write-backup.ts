import { createHash } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { constants, createGzip } from "node:zlib";
import pg from "pg";
import { faultPoint } from "../../../platform/fault-point.ts";
import { DUMP_SESSION_SETTINGS, type DumpedTable, dumpRows, readInventory } from "./dump-tables.ts";
import { encryptStream } from "./encrypted-stream.ts";
import { type BackupHeader, COPY_END_MARKER, type TableDigests } from "./read-backup.ts";
import { RowDigest } from "./row-digest.ts";

export interface WriteBackupOptions {
  id: string;
  /** URL of the database. */
  url: string;
  /** Path of the file, which appears there only when it is complete. */
  path: string;
  backupKey: string;
  app_version: string;
  settings: Readonly<Record<string, unknown>>;
  signal: AbortSignal;
  onProgress?: ReportRowProgress;
}

/** Progress callback: the number of further rows, and the action. */
export type ReportRowProgress = (rows: number, description: string) => void;

export interface WrittenBackup {
  head: BackupHeader;
  tables: DumpedTable[];
  tally: TableDigests;
  size: number;
  /** Hex SHA-256 of the file. */
  checksum: string;
}

/** Streams one snapshot of the whole database to a file, compressed and encrypted. */
export async function writeBackup(order: WriteBackupOptions): Promise<WrittenBackup> {
  return withConnection(order.url, "waygate backup", async (client) => {
    await client.query(DUMP_SESSION_SETTINGS);
    await client.query("begin isolation level repeatable read read only");
    const { tables, ...shape } = await readInventory(client);
    const { rows } = await client.query<{ version: string; now: Date }>(
      "select current_setting('server_version') as version, now()",
    );
    const header: BackupHeader = {
      format: 1,
      id: order.id,
      app_version: order.app_version,
      settings: { ...order.settings },
      created_at: (rows[0]?.now ?? new Date()).toISOString(),
      postgres_version: rows[0]?.version ?? "",
      ...shape,
      tables: tables.map(({ name }) => name),
    };
    const tally: TableDigests = {};
    const file = await writeFile(order, toText(client, header, tables, tally, order.onProgress));
    return { head: header, tables, tally, ...file };
  });
}

/** Runs `work` on a separate connection, which closes afterwards. */
export async function withConnection<Result>(
  url: string,
  application_name: string,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({ connectionString: url, application_name, connectionTimeoutMillis: 10_000 });
  // The waiting query reports the error; without a listener Node would also exit.
  client.on("error", () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end().catch(() => {});
  }
}

async function* toText(
  client: pg.Client,
  header: BackupHeader,
  tables: readonly DumpedTable[],
  tally: TableDigests,
  report?: ReportRowProgress,
): AsyncGenerator<Buffer> {
  yield line(header);
  for (const table of tables) {
    yield line({ table: table.name, columns: table.columns });
    const digest = new RowDigest();
    for await (const rows of dumpRows(client, table)) {
      for (const row of rows) digest.add(row);
      report?.(rows.length, "rows written");
      yield Buffer.concat(rows);
    }
    const counts = { rows: digest.rows, digest: digest.hex() };
    tally[table.name] = counts;
    yield Buffer.from(`${COPY_END_MARKER}\n`);
    yield line(counts);
  }
  yield line({ end: true });
}

function line(value: object): Buffer {
  return Buffer.from(`${JSON.stringify(value)}\n`);
}

async function writeFile(
  { path, backupKey, signal }: WriteBackupOptions,
  text: AsyncIterable<Buffer>,
): Promise<{ size: number; checksum: string }> {
  const draft = `${path}.part`;
  const file = await open(draft, "wx", 0o600);
  const hash = createHash("sha256");
  let size = 0;
  async function* measured(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const piece of pieces) {
      hash.update(piece);
      size += piece.length;
      yield piece;
    }
  }
  try {
    await pipeline(
      Readable.from(text, { objectMode: true, highWaterMark: 1 }),
      createGzip({ level: constants.Z_BEST_SPEED }),
      (packed: AsyncIterable<Buffer>) => measured(encryptStream(packed, backupKey)),
      async (pieces: AsyncIterable<Buffer>) => {
        for await (const piece of pieces) {
          await file.writeFile(piece);
          faultPoint("backup:writing");
        }
      },
      { signal },
    );
    await file.sync();
    await file.close();
    await rename(draft, path);
  } catch (error) {
    await file.close().catch(() => {});
    await rm(draft, { force: true });
    throw error;
  }
  return { size, checksum: hash.digest("hex") };
}
