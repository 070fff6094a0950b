import type { SourceFile } from "../source-files.ts";

export interface TableOwner {
  owner: string;
  /** Files of other parts that write the table too, as their path below `src`, `features` or `network`. */
  others: string[];
}

const WRITES =
  /(?:insertInto|updateTable|deleteFrom|mergeInto)\(\s*"([a-z_.]+)"|\b(?:insert into|delete from|truncate(?: table)?|merge into|copy)\s+([a-z_]+(?:\.[a-z_]+)?)\b|\bupdate\s+(?:only\s+)?([a-z_]+(?:\.[a-z_]+)?)(?:\s+(?:as\s+)?[a-z_]+)?\s+set\b/g;
/** The name of the table is a value: which table it is cannot be read here. */
const WRITES_BY_NAME =
  /(?:insertInto|updateTable|deleteFrom|mergeInto)\(\s*[a-z]|\b(?:insert into|delete from|truncate(?: table)?|merge into|copy|update)\s+\$\{/;
const COMMENTS = /\/\*\*?[\s\S]*?\*\/|^\s*\/\/.*$/gm;

/** The part of the program that a file belongs to: a feature, the sandbox network, or a folder of src. */
export function partOf(path: string): string {
  return path.match(/^src\/(?:(?:features|network)\/)?([^/]+)\//)?.[1] ?? "src";
}

/** The tables that the statements of a file write. Words that are no table belong to sentences. */
export function readWrites({ text }: SourceFile, tables: ReadonlySet<string>): string[] {
  const found = [...text.replace(COMMENTS, "").matchAll(WRITES)].map(
    ([, call, statement, update]) => call ?? statement ?? update ?? "",
  );
  return [...new Set(found.filter((name) => tables.has(name)))];
}

export function writesByName({ text }: SourceFile): boolean {
  return WRITES_BY_NAME.test(text.replace(COMMENTS, ""));
}

export function nameOf({ path }: SourceFile): string {
  return path.replace(/^src\/(?:(?:features|network)\/)?/, "");
}

/** Reads the rows `| tables | owner | other writers |` of a document. */
export function readOwners(text: string): Map<string, TableOwner> {
  const rows = [...text.matchAll(/^\| (`[a-z_.`, ]+`) \| ([a-z-]+) \| (.*?) ?\|$/gm)];
  return new Map(
    rows.flatMap(([, tables = "", owner = "", others = ""]) =>
      ticked(tables).map((table): [string, TableOwner] => [table, { owner, others: ticked(others) }]),
    ),
  );
}

function ticked(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
}
