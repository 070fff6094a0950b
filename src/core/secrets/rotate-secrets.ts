import { sql } from "kysely";
import type { Db } from "../../platform/db/database.ts";
import { encryptionContextOf, type SecretBox } from "../../platform/secrets/secret-box.ts";

/**
 * Every column that holds what a secret box has sealed, with the columns that identify its row in the seal. A test
 * compares it with the schema.
 */
export const SEALED_COLUMNS = [
  { table: "instance", column: "webhook_secret", key: ["id"] },
  { table: "instance", column: "proxy", key: ["id"] },
  { table: "webhook", column: "address", key: ["id"] },
  { table: "webhook", column: "secret", key: ["id"] },
  { table: "webhook", column: "previous_secret", key: ["id"] },
  { table: "webhook", column: "headers", key: ["id"] },
  { table: "webhook", column: "format_token", key: ["id"] },
  { table: "integration", column: "secret", key: ["id"] },
  { table: "credential", column: "secret", key: ["instance_id"] },
  { table: "credential", column: "registration", key: ["instance_id"] },
  { table: "pairing_key", column: "secret", key: ["instance_id", "generation", "kind", "id"] },
  { table: "journal_entry", column: "secret", key: ["instance_id", "generation", "id"] },
  { table: "message", column: "secret", key: ["instance_id", "message_id"] },
  { table: "message", column: "raw", key: ["instance_id", "message_id"] },
  { table: "account_idempotency", column: "response", key: ["account_id", "route", "key"] },
  { table: "sealed_key", column: "sealed", key: ["name"] },
  { table: "secret_check", column: "sealed", key: ["id"] },
] as const;

type SealedColumn = (typeof SEALED_COLUMNS)[number];

const AT_ONCE = 500;
/** A concurrent writer of this row already uses the new key. */
const MOST_ROUNDS = 20;

export interface SecretRotation {
  /** Number of re-encrypted secrets by `table.column`; columns without any are omitted. */
  resealed: Record<string, number>;
}

/** Called after each batch, with the column and the number of rows. */
type ReportProgress = (column: string, rows: number) => void;

/**
 * Re-encrypts, in batches while the gateway runs, every secret that is not encrypted with the box's own key
 * for its row. Concurrent changes win. Throws if a secret needs a key that the box lacks.
 */
export async function rotateSecrets(
  db: Db,
  box: SecretBox,
  onProgress: ReportProgress = () => {},
): Promise<SecretRotation> {
  const resealed: Record<string, number> = {};
  for (const column of SEALED_COLUMNS) {
    const count = await rotateColumn(db, box, column, onProgress);
    if (count > 0) resealed[nameOf(column)] = count;
  }
  return { resealed };
}

async function rotateColumn(
  db: Db,
  box: SecretBox,
  column: SealedColumn,
  onProgress: ReportProgress,
): Promise<number> {
  let count = 0;
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const { seen, written } = await passOver(db, box, column, onProgress);
    count += written;
    if (seen === 0) return count;
  }
  throw new Error(
    `${nameOf(column)} still has secrets of another key. Stop any node that still writes them, and run this again.`,
  );
}

function nameOf({ table, column }: SealedColumn): string {
  return `${table}.${column}`;
}

/** Once through the table in the order of its pages; a row that is written moves behind. */
async function passOver(db: Db, box: SecretBox, column: SealedColumn, onProgress: ReportProgress) {
  let [seen, written, after] = [0, 0, "(0,0)"];
  for (;;) {
    const rows = await readForeign(db, box, column, after);
    seen += rows.length;
    written += await reseal(db, box, column, rows);
    onProgress(nameOf(column), rows.length);
    const last = rows.at(-1);
    if (last === undefined || rows.length < AT_ONCE) return { seen, written };
    after = last.ctid;
  }
}

interface SealedRow {
  ctid: string;
  key: string[];
  sealed: Buffer;
}

async function readForeign(db: Db, box: SecretBox, { table, column, key }: SealedColumn, after: string) {
  const { rows } = await sql<SealedRow>`
    select ctid::text as ctid, array[${sql.join(key.map((name) => sql`${sql.ref(name)}::text`))}] as key,
      ${sql.ref(column)} as sealed
    from ${sql.table(table)}
    where ctid > ${after}::tid and substring(${sql.ref(column)} from 1 for ${box.header.length}) <> ${box.header}
    order by ctid limit ${AT_ONCE}`.execute(db);
  return rows;
}

async function reseal(db: Db, box: SecretBox, { table, column }: SealedColumn, rows: readonly SealedRow[]) {
  if (rows.length === 0) return 0;
  const resealed = rows.map(({ key, sealed }) => {
    const context = encryptionContextOf(table, column, ...key);
    return box.seal(box.open(sealed, context), context);
  });
  const { numAffectedRows = 0n } = await sql`
    update ${sql.table(table)} t set ${sql.ref(column)} = x.resealed
    from unnest(${rows.map(({ ctid }) => ctid)}::tid[], ${rows.map(({ sealed }) => sealed)}::bytea[],
      ${resealed}::bytea[]) as x (at, sealed, resealed)
    where t.ctid = x.at and t.${sql.ref(column)} = x.sealed`.execute(db);
  return Number(numAffectedRows);
}
