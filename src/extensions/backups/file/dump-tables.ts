import type pg from "pg";
import { copyOut } from "../../../platform/db/pg-copy.ts";
import type { TableDigests } from "./read-backup.ts";
import { RowDigest } from "./row-digest.ts";

/** Tables about this deployment, and pseudonyms, which must not outlive their anonymisation. */
const NOT_COPIED = ["node", "backup", "pseudonym", "kysely_migration", "kysely_migration_lock"];

export interface DumpedTable {
  /** Qualified only outside the gateway's own schema. */
  name: string;
  columns: string[];
}

/** The parts of a database that a backup contains. */
export interface DatabaseInventory {
  /** In the order of foreign keys: referenced tables come first. */
  tables: DumpedTable[];
  partitions: string[];
  /** Last value of each sequence. */
  sequences: Record<string, number>;
  migrations: string[];
}

/** Text formats that every PostgreSQL reads back exactly, and no statement timeout. */
export const DUMP_SESSION_SETTINGS = `
  set datestyle = 'ISO, YMD'; set timezone = 'UTC'; set intervalstyle = 'postgres'; set extra_float_digits = 1;
  set bytea_output = 'hex'; set statement_timeout = 0; set lock_timeout = 0;
  set idle_in_transaction_session_timeout = 0`;

const OURS = "n.nspname in (current_schema(), 'sandbox')";
const NAME = "case when n.nspname = current_schema() then '' else n.nspname || '.' end || c.relname";

export async function readInventory(client: pg.ClientBase): Promise<DatabaseInventory> {
  const { rows: migrations } = await client.query<{ name: string }>(
    "select name from kysely_migration order by name",
  );
  const { rows: partitions } = await client.query<{ name: string }>(
    `select ${NAME} as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where ${OURS} and c.relispartition and c.relkind = 'r' order by 1`,
  );
  return {
    tables: await readTables(client),
    partitions: partitions.map(({ name }) => name),
    sequences: await readSequences(client),
    migrations: migrations.map(({ name }) => name),
  };
}

async function readTables(client: pg.ClientBase): Promise<DumpedTable[]> {
  const { rows } = await client.query<DumpedTable & { needs: string[] }>(
    `select ${NAME} as name,
       (select array_agg(attname::text order by attnum) from pg_attribute
        where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = '') as columns,
       array(select confrelid::regclass::text from pg_constraint
        where conrelid = c.oid and contype = 'f' and confrelid <> c.oid) as needs
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where ${OURS} and c.relkind in ('r', 'p') and not c.relispartition and c.relname <> all($1)
       and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')
     order by 1`,
    [NOT_COPIED],
  );
  return inOrderOfNeed(rows).map(({ name, columns }) => ({ name, columns }));
}

function inOrderOfNeed<Table extends { name: string; needs: string[] }>(tables: Table[]): Table[] {
  const byName = new Map(tables.map((table) => [table.name, table]));
  const visited = new Set<Table>();
  function visit(table: Table, path: readonly Table[]): void {
    if (visited.has(table)) return;
    if (path.includes(table)) throw new Error(`the foreign keys of ${table.name} form a cycle`);
    for (const need of table.needs) {
      const needed = byName.get(need);
      if (needed) visit(needed, [...path, table]);
    }
    visited.add(table);
  }
  for (const table of tables) visit(table, []);
  return [...visited];
}

async function readSequences(client: pg.ClientBase): Promise<Record<string, number>> {
  const { rows } = await client.query<{ name: string; last: string }>(
    `select case when schemaname = current_schema() then '' else schemaname || '.' end || sequencename as name,
       coalesce(last_value, 0)::text as last
     from pg_sequences where schemaname in (current_schema(), 'sandbox') order by 1`,
  );
  return Object.fromEntries(rows.map(({ name, last }) => [name, Number(last)]));
}

export function quoteName(name: string): string {
  return name
    .split(".")
    .map((part) => `"${part.replaceAll('"', '""')}"`)
    .join(".");
}

export function quoteColumns(columns: readonly string[]): string {
  return columns.map((column) => `"${column.replaceAll('"', '""')}"`).join(", ");
}

/** The rows of a table in COPY's text format. */
export function dumpRows(client: pg.ClientBase, { name, columns }: DumpedTable): AsyncGenerator<Buffer[]> {
  return copyOut(client, `copy (select ${quoteColumns(columns)} from ${quoteName(name)}) to stdout`);
}

/** Counts and hashes every row. */
export async function digestTables(
  client: pg.ClientBase,
  tables: readonly DumpedTable[],
  report?: (rows: number, description: string) => void,
): Promise<TableDigests> {
  const tally: TableDigests = {};
  for (const table of tables) {
    const digest = new RowDigest();
    for await (const rows of dumpRows(client, table)) {
      for (const row of rows) digest.add(row);
      report?.(rows.length, "rows compared");
    }
    tally[table.name] = { rows: digest.rows, digest: digest.hex() };
  }
  return tally;
}
