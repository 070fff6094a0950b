import { sql } from "kysely";
import type { Db } from "../../platform/db.ts";
import type { SecretBox } from "../../platform/secret-box.ts";

/** Every column that holds what a secret box has sealed. A test compares it with the schema. */
export const SEALED_COLUMNS = [
  ["instance", "webhook_secret"],
  ["instance", "proxy"],
  ["webhook", "secret"],
  ["webhook", "previous_secret"],
  ["webhook", "headers"],
  ["webhook", "format_token"],
  ["integration", "secret"],
  ["credential", "secret"],
  ["credential", "registration"],
  ["pairing_key", "secret"],
  ["pairing_letter", "secret"],
  ["account_idempotency", "answer"],
  ["secret_check", "sealed"],
  ["kept_key", "sealed"],
] as const;

type SealedColumn = (typeof SEALED_COLUMNS)[number];

const AT_ONCE = 500;
/** A row that others keep writing is written with the new key by them. */
const MOST_ROUNDS = 20;

export interface Rotation {
  /** How many secrets were sealed anew, by `table.column`; without those that needed nothing. */
  resealed: Record<string, number>;
}

/** Told of each batch: where, and how many rows it had. */
type Tell = (column: string, rows: number) => void;

/**
 * Seals everything anew that is not sealed with the box's own key, in batches, while the gateway runs: a secret that
 * changes in between is left to whoever changes it. Throws when something is sealed with a key that the box lacks.
 */
export async function rotateSecrets(db: Db, box: SecretBox, tell: Tell = () => {}): Promise<Rotation> {
  const resealed: Record<string, number> = {};
  for (const column of SEALED_COLUMNS) {
    const count = await rotateColumn(db, box, column, tell);
    if (count > 0) resealed[column.join(".")] = count;
  }
  return { resealed };
}

async function rotateColumn(db: Db, box: SecretBox, column: SealedColumn, tell: Tell): Promise<number> {
  let count = 0;
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const { seen, written } = await passOver(db, box, column, tell);
    count += written;
    if (seen === 0) return count;
  }
  throw new Error(
    `${column.join(".")} still has secrets of another key: is a node running that seals with it?`,
  );
}

/** Once through the table in the order of its pages; a row that is written moves behind. */
async function passOver(db: Db, box: SecretBox, column: SealedColumn, tell: Tell) {
  let [seen, written, after] = [0, 0, "(0,0)"];
  for (;;) {
    const rows = await readForeign(db, box, column, after);
    seen += rows.length;
    written += await reseal(db, box, column, rows);
    tell(column.join("."), rows.length);
    const last = rows.at(-1);
    if (last === undefined || rows.length < AT_ONCE) return { seen, written };
    after = last.place;
  }
}

interface SealedRow {
  place: string;
  sealed: Buffer;
}

async function readForeign(db: Db, box: SecretBox, [table, column]: SealedColumn, after: string) {
  const { rows } = await sql<SealedRow>`
    select ctid::text as place, ${sql.ref(column)} as sealed from ${sql.table(table)}
    where ctid > ${after}::tid and substring(${sql.ref(column)} from 2 for 4) <> decode(${box.key_id}, 'hex')
    order by ctid limit ${AT_ONCE}`.execute(db);
  return rows;
}

async function reseal(db: Db, box: SecretBox, [table, column]: SealedColumn, rows: readonly SealedRow[]) {
  if (rows.length === 0) return 0;
  const fresh = rows.map(({ sealed }) => box.seal(box.open(sealed)));
  const { numAffectedRows = 0n } = await sql`
    update ${sql.table(table)} t set ${sql.ref(column)} = x.fresh
    from unnest(${rows.map(({ place }) => place)}::tid[], ${rows.map(({ sealed }) => sealed)}::bytea[],
      ${fresh}::bytea[]) as x (place, sealed, fresh)
    where t.ctid = x.place and t.${sql.ref(column)} = x.sealed`.execute(db);
  return Number(numAffectedRows);
}
