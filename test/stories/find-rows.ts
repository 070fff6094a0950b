import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

type Query = <Row extends object>(text: string, ...values: unknown[]) => Promise<Row[]>;

/** Every row of every table that contains one of the words, also as bytes: `schema.table: row`, sorted. */
export async function findRowsWith(query: Query, words: readonly string[]): Promise<string[]> {
  // A partitioned table includes its partitions' rows.
  const tables = await query<{ name: string }>(`
    select format('%I.%I', nspname, relname) as name from pg_class c join pg_namespace n on n.oid = relnamespace
    where relkind in ('r', 'p') and not relispartition and nspname not in ('pg_catalog', 'information_schema')`);
  const patterns = words
    .flatMap((word) => [word, Buffer.from(word).toString("hex")])
    .map((one) => `%${one}%`);
  const reads = tables.map(
    ({ name }) => `select '${name}: ' || t as row from (select x::text as t from ${name} x) y`,
  );
  const found = await query<{ row: string }>(
    `select row from (${reads.join(" union all ")}) z where row ilike any ($1)`,
    patterns,
  );
  return found.map(({ row }) => row).sort();
}

const MOST_SHOWN = 300;

/** The same rows, shortened. */
export async function findRowExcerpts(query: Query, words: readonly string[]): Promise<string[]> {
  return (await findRowsWith(query, words)).map((row) => row.slice(0, MOST_SHOWN));
}

/** Content of every file below a folder, as latin1. */
export async function readFilesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return Promise.all(files.map((file) => readFile(join(file.parentPath, file.name), "latin1")));
}
