import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

type Query = <Row extends object>(text: string, ...values: unknown[]) => Promise<Row[]>;

/** Every row of every table in which one of the words is, also as bytes, as `schema.table: row`, sorted. */
export async function findRowsWith(query: Query, words: readonly string[]): Promise<string[]> {
  const tables = await query<{ name: string }>(`
    select format('%I.%I', schemaname, tablename) as name from pg_tables
    where schemaname not in ('pg_catalog', 'information_schema')`);
  const patterns = words
    .flatMap((word) => [word, Buffer.from(word).toString("hex")])
    .map((one) => `%${one}%`);
  const found: string[] = [];
  for (const { name } of tables) {
    const rows = await query<{ row: string }>(
      `select t::text as row from ${name} t where t::text ilike any ($1)`,
      patterns,
    );
    found.push(...rows.map(({ row }) => `${name}: ${row}`));
  }
  return found.sort();
}

const MOST_SHOWN = 300;

/** The same, shortened for a list of failures. */
export async function findMarks(query: Query, words: readonly string[]): Promise<string[]> {
  return (await findRowsWith(query, words)).map((row) => row.slice(0, MOST_SHOWN));
}

/** The content of every file below a folder, a character for each byte. */
export async function readFilesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return Promise.all(files.map((file) => readFile(join(file.parentPath, file.name), "latin1")));
}
