import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT, readSources, type SourceFile } from "./source-files.ts";

interface TableOwner {
  owner: string;
  /** Files of other parts that write the table too, as their path below `src`, `core`, `extensions` or `network`. */
  others: string[];
}

const WRITES =
  /(?:insertInto|updateTable|deleteFrom|mergeInto)\(\s*"([a-z_.]+)"|\b(?:insert into|delete from|truncate(?: table)?|merge into|copy)\s+([a-z_]+(?:\.[a-z_]+)?)\b|\bupdate\s+(?:only\s+)?([a-z_]+(?:\.[a-z_]+)?)(?:\s+(?:as\s+)?[a-z_]+)?\s+set\b/g;
/** The name of the table is a value: which table it is cannot be read here. */
const WRITES_BY_NAME =
  /(?:insertInto|updateTable|deleteFrom|mergeInto)\(\s*[a-z]|\b(?:insert into|delete from|truncate(?: table)?|merge into|copy|update)\s+\$\{/;
const COMMENTS = /\/\*\*?[\s\S]*?\*\/|^\s*\/\/.*$/gm;

/** The part of the program that a file belongs to: a feature, the sandbox network, or a folder of src. */
function partOf(path: string): string {
  return path.match(/^src\/(?:(?:core|extensions|network)\/)?([^/]+)\//)?.[1] ?? "src";
}

/** The tables that the statements of a file write. Words that are no table belong to sentences. */
function readWrites({ text }: SourceFile, tables: ReadonlySet<string>): string[] {
  const found = [...text.replace(COMMENTS, "").matchAll(WRITES)].map(
    ([, call, statement, update]) => call ?? statement ?? update ?? "",
  );
  return [...new Set(found.filter((name) => tables.has(name)))];
}

function writesByName({ text }: SourceFile): boolean {
  return WRITES_BY_NAME.test(text.replace(COMMENTS, ""));
}

function nameOf({ path }: SourceFile): string {
  return path.replace(/^src\/(?:(?:core|extensions|network)\/)?/, "");
}

/** Reads the rows `| tables | owner | other writers |` of a document. */
function readOwners(text: string): Map<string, TableOwner> {
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

const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
const sources = readSources("src").filter(({ path }) => !path.endsWith(".test.ts"));
const owners = readOwners(read("ARCHITECTURE.md"));

/** Written by triggers only, and the view of the last entries. */
const WRITTEN_BY_THE_DATABASE = ["consent_state", "storage_usage", "stored_file"];

/** These files write a list of tables: of an account, an instance, a day, a backup or a contact. */
const BY_NAME = [
  "accounts/finish-account-removals.ts",
  "backups/load-backup.ts",
  "integrations/node-integrations.ts",
  "platform/db/partitions.ts",
  "privacy/anonymise-table-steps.ts",
  "privacy/delete-row-steps.ts",
  "retention/retention-jobs.ts",
  "sandbox/world/delete-copies.ts",
  "secrets/rotate-secrets.ts",
  "sessions/remove-instance.ts",
  "sessions/sealed-pairing-store.ts",
  "webhooks/attempt-writer.ts",
];

/** The tables of the gateway by `src/tables.ts`, and those of the sandbox network by the migrations. */
function readTables(): Set<string> {
  const [, list = ""] = read("src/tables.ts").split("export interface Tables {");
  const own = [...list.matchAll(/^ {2}(\w+): \w+;$/gm)].map(([, name = ""]) => name);
  const made = readSources("migrations").flatMap(({ text }) => [
    ...text.matchAll(/create (?:unlogged )?table (sandbox\.\w+)/g),
  ]);
  return new Set([...own, ...made.map(([, name = ""]) => name), "sandbox.inbox"]);
}

const tables = readTables();

/** The files that write a table. */
function readWriters(files: readonly SourceFile[]): Map<string, SourceFile[]> {
  const writers = new Map<string, SourceFile[]>();
  for (const file of files) {
    for (const table of readWrites(file, tables)) writers.set(table, [...(writers.get(table) ?? []), file]);
  }
  return writers;
}

const writers = readWriters(sources);

describe("a table", () => {
  it("has one owner in ARCHITECTURE.md", () => {
    const written = [...writers.keys()].filter((table) => !owners.has(table));
    expect(written).toEqual([]);
    expect([...owners.keys()].filter((table) => !tables.has(table))).toEqual([]);
  });

  it("is written only by its owner, and by the files that ARCHITECTURE.md names", () => {
    const found = [...writers].flatMap(([table, files]) =>
      files
        .filter(({ path }) => partOf(path) !== owners.get(table)?.owner)
        .map((file) => `${table}: ${nameOf(file)}`),
    );
    const listed = [...owners].flatMap(([table, { others }]) => others.map((file) => `${table}: ${file}`));
    expect(found.toSorted()).toEqual(listed.toSorted());
  });

  it("is written by its owner, unless the database writes it", () => {
    const unwritten = [...owners].filter(
      ([table, { owner }]) => !writers.get(table)?.some(({ path }) => partOf(path) === owner),
    );
    expect(unwritten.map(([table]) => table).toSorted()).toEqual(WRITTEN_BY_THE_DATABASE);
  });

  it("is written under a name that is a value in the known files only", () => {
    expect(sources.filter(writesByName).map(nameOf).toSorted()).toEqual(BY_NAME);
  });
});

it("the check reads every form of a statement that writes", () => {
  const text = [
    'db.insertInto("message")',
    "sql`insert into event (id)`",
    "`update instance i set name = 'x'`",
    "`update only lane set owner = null`",
    "`update sandbox.device as d set id = 1`",
    "`delete from webhook w using x`",
    "`truncate table lead`",
    "`copy consent (id) from stdin`",
    "`select from media for update`",
    "`on conflict (id) do update set name = excluded.name`",
    "// delete from plan",
    "/** Update the account set. */",
  ].join("\n");
  expect(readWrites({ path: "src/x.ts", text, imports: [] }, tables)).toEqual([
    "message",
    "event",
    "instance",
    "lane",
    "sandbox.device",
    "webhook",
    "lead",
    "consent",
  ]);
});
