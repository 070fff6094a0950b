import { type Kysely, sql } from "kysely";

/** Old and new name of each table; `sealed` ones are read by `ctid` when their values are sealed again. */
const RENAMED = [
  { schema: "public", from: "pairing_letter", to: "journal_entry", sealed: true },
  { schema: "public", from: "kept_key", to: "sealed_key", sealed: true },
  { schema: "public", from: "event_head", to: "event_counter" },
  { schema: "public", from: "message_tally", to: "monthly_message_count" },
  { schema: "public", from: "tally_mark", to: "message_count_cursor" },
  { schema: "public", from: "tally_open", to: "uncounted_message" },
  { schema: "public", from: "sign_in_guess", to: "sign_in_failure" },
  { schema: "public", from: "restored", to: "restore_record" },
  { schema: "sandbox", from: "mailbox", to: "inbox" },
] as const;

/** A view keeps each old name: a node of the version before reads and writes through it during an upgrade. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of RENAMED) {
    const schema = table.schema === "public" ? await currentSchema(db) : table.schema;
    const columns = "sealed" in table ? sql`ctid, *` : sql`*`;
    await sql`alter table ${sql.id(schema, table.from)} rename to ${sql.id(table.to)}`.execute(db);
    await renameParts(db, schema, table.from, table.to);
    await sql`create view ${sql.id(schema, table.from)} as select ${columns} from ${sql.id(schema, table.to)}`.execute(
      db,
    );
  }
}

async function currentSchema(db: Kysely<unknown>): Promise<string> {
  const { rows } = await sql<{ name: string }>`select current_schema() as name`.execute(db);
  return rows[0]?.name ?? "public";
}

/** Indexes, with them the keys, and sequences have the name of their table in front. */
async function renameParts(db: Kysely<unknown>, schema: string, from: string, to: string): Promise<void> {
  const { rows } = await sql<{ name: string; kind: string }>`
    select c.relname as name, c.relkind::text as kind from pg_class c
    where c.relnamespace = ${schema}::regnamespace and starts_with(c.relname, ${`${from}_`})
      and (c.oid in (select indexrelid from pg_index where indrelid = ${`${schema}.${to}`}::regclass)
        or c.oid in (select objid from pg_depend where refobjid = ${`${schema}.${to}`}::regclass and c.relkind = 'S'))
    order by 1`.execute(db);
  for (const { name, kind } of rows) {
    const part = kind === "S" ? sql`sequence` : sql`index`;
    const renamed = to + name.slice(from.length);
    await sql`alter ${part} ${sql.id(schema, name)} rename to ${sql.id(renamed)}`.execute(db);
  }
}
