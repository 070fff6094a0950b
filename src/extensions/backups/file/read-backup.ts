import { createReadStream } from "node:fs";
import { pipeline } from "node:stream";
import { createGunzip } from "node:zlib";
import { z } from "zod";
import { LineSplitter } from "../../../platform/text/line-splitter.ts";
import { BackupFileError, decryptStream } from "./encrypted-stream.ts";
import { RowDigest } from "./row-digest.ts";

/** Ends COPY's rows; within a row, a backslash never stands alone. */
export const COPY_END_MARKER = "\\.";

const counts = z.object({ rows: z.number(), digest: z.string() });
const table = z.object({ table: z.string(), columns: z.array(z.string()) });

/** Header of a backup: the schema of the database, and its sequences. */
const header = z.object({
  format: z.literal(1),
  id: z.string(),
  created_at: z.string(),
  app_version: z.string(),
  postgres_version: z.string(),
  migrations: z.array(z.string()),
  tables: z.array(z.string()),
  partitions: z.array(z.string()),
  sequences: z.record(z.string(), z.number()),
  /** The non-secret settings, for information only. */
  settings: z.record(z.string(), z.unknown()),
});

export type BackupHeader = z.output<typeof header>;
/** Rows and digest by table. */
export type TableDigests = Record<string, { rows: number; digest: string }>;

/** The rows of one table in COPY's text format, with line ends. Read them before the next table. */
export interface TableRows {
  table: string;
  columns: string[];
  rows: AsyncGenerator<Buffer[]>;
}

/** Opens a backup file; compares each table with its digest while its rows are read. */
export async function* readBackup(path: string, backupKey: string): AsyncGenerator<BackupHeader | TableRows> {
  const lines = new Lines(openPlain(path, backupKey));
  const found = header.safeParse(await lines.json());
  if (!found.success) {
    throw new BackupFileError(
      "This version of Waygate does not know the format of the backup. Restore it with the version that made it.",
    );
  }
  yield found.data;
  for (const name of found.data.tables) {
    const { columns } = table.parse(await lines.json());
    yield { table: name, columns, rows: readRows(lines, name) };
  }
  if (!z.object({ end: z.literal(true) }).safeParse(await lines.json()).success) throw garbled();
}

async function* readRows(lines: Lines, name: string): AsyncGenerator<Buffer[]> {
  const digest = new RowDigest();
  for (let isOver = false; !isOver; ) {
    const batch = await lines.batch();
    const end = batch.findIndex((line) => line.length === 3 && line.toString() === `${COPY_END_MARKER}\n`);
    isOver = end !== -1;
    const rows = isOver ? batch.slice(0, end) : batch;
    if (isOver) lines.putBack(batch.slice(end + 1));
    for (const row of rows) digest.add(row);
    if (rows.length > 0) yield rows;
  }
  const recorded = counts.safeParse(await lines.json());
  if (recorded.data?.rows !== digest.rows || recorded.data.digest !== digest.hex()) {
    throw new BackupFileError(`The rows of ${name} do not match their checksum. Use another backup.`);
  }
}

function openPlain(path: string, backupKey: string): AsyncIterable<Buffer> {
  const unsealed = (sealed: AsyncIterable<Buffer>) => decryptStream(sealed, backupKey);
  // Errors of every stream reach the reader of the last stream.
  return pipeline(createReadStream(path), unsealed, createGunzip(), () => {});
}

/** Reads a stream by lines, many at a time. */
class Lines {
  readonly #pieces: AsyncIterator<Buffer>;
  readonly #splitter = new LineSplitter();
  #ready: Buffer[] = [];

  constructor(pieces: AsyncIterable<Buffer>) {
    this.#pieces = pieces[Symbol.asyncIterator]();
  }

  /** At least one line, each with its end. */
  async batch(): Promise<Buffer[]> {
    while (this.#ready.length === 0) {
      const { value, done } = await this.#pieces.next();
      if (done) throw garbled();
      this.#ready = this.#splitter.add(value);
    }
    return this.#ready.splice(0);
  }

  putBack(lines: Buffer[]): void {
    this.#ready = lines;
  }

  async json(): Promise<unknown> {
    const [line, ...others] = await this.batch();
    this.putBack(others);
    try {
      return JSON.parse(String(line));
    } catch (cause) {
      throw new BackupFileError("The backup is damaged. Use another one.", { cause });
    }
  }
}

function garbled(): BackupFileError {
  return new BackupFileError("The backup is damaged. Use another one.");
}
