import { createHash } from "node:crypto";
import { existsSync, lstatSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { z } from "zod";

const MOST_FILES = 20_000;
const MOST_BYTES = 64 * 1024 * 1024;
const LEFT_OUT = new Set(["node_modules", ".git"]);
const ABSENT = "absent";
const PRESENT = "present";

const why = z.string().min(1);
const names = z.array(
  z.strictObject({
    /** A stanza, an attribute or a function, as the code writes it. */
    text: z.string().min(3),
    why,
    /** The files that have it; or whether any has it, where only that is known. */
    state: z.union([z.array(z.string()), z.enum([PRESENT, ABSENT])]),
  }),
);
const regions = z.array(
  z.strictObject({
    file: z.string().min(1),
    /** The region begins with the first line that has this text. */
    from: z.string().min(3),
    lines: z.number().int().min(1).max(500),
    why,
    /** SHA-256 of the region without indentation. */
    state: z.union([z.string().regex(/^[0-9a-f]{64}$/), z.literal(ABSENT)]),
  }),
);
const project = z.strictObject({
  /** Of the checkout that the states are of. */
  version: z.string(),
  /** Where the files lie in a checkout. */
  folder: z.string(),
  extension: z.string().regex(/^\.\w+$/),
  regions,
  names,
});

/** What is watched in each project, with the state that was recorded last. */
export const WATCH_LIST = z.strictObject({
  baileys: project,
  whatsmeow: project,
  zapo: project,
  "whatsapp-rust": project,
  web: project,
});

export type WatchList = z.output<typeof WATCH_LIST>;
export type ProjectName = keyof WatchList;
type Project = WatchList[ProjectName];

export interface Change {
  what: string;
  why: string;
}

/** A checkout or a list that cannot be read; the message says which, and what to do. */
export class UnreadableError extends Error {
  override readonly name = "UnreadableError";
}

export function readWatchList(path: string): WatchList {
  const read = WATCH_LIST.safeParse(readJson(path));
  if (read.success) return read.data;
  throw new UnreadableError(`${path} is not a list of what to watch:\n${z.prettifyError(read.error)}`);
}

/** One region or name a line. */
export function formatWatchList(list: WatchList): string {
  const linesOf = (all: readonly object[]) => all.map((one) => `\n      ${JSON.stringify(one)}`).join(",");
  const projects = Object.entries(list).map(([name, { regions, names, ...head }]) => {
    const fields = Object.entries(head).map(
      ([field, value]) => `    "${field}": ${JSON.stringify(value)},\n`,
    );
    return `  "${name}": {\n${fields.join("")}    "regions": [${linesOf(regions)}],\n    "names": [${linesOf(names)}]\n  }`;
  });
  return `{\n${projects.join(",\n")}\n}\n`;
}

/** What of the project is not as recorded, and the project with the states of the checkout. */
export function compareProject(recorded: Project, checkout: string): { changes: Change[]; now: Project } {
  const files = readSources(recorded, checkout);
  const changes: Change[] = [];
  const regions = recorded.regions.map((region) => {
    const state = hashRegion(files.get(region.file), region);
    if (state !== region.state) {
      const how = state === ABSENT ? "is gone" : region.state === ABSENT ? "is new" : "changed";
      changes.push({ what: `${region.file}: the region from "${region.from}" ${how}`, why: region.why });
    }
    return { ...region, state };
  });
  const names = recorded.names.map((name) => {
    const state = [...files].filter(([, text]) => text.includes(name.text)).map(([file]) => file);
    const what = describeNameChange(name.text, name.state, state);
    if (what !== undefined) changes.push({ what, why: name.why });
    return { ...name, state };
  });
  return { changes, now: { ...recorded, version: versionOf(checkout), regions, names } };
}

function describeNameChange(
  text: string,
  before: Project["names"][number]["state"],
  now: string[],
): string | undefined {
  if (before === PRESENT) return now.length === 0 ? `"${text}" is gone` : undefined;
  const known = before === ABSENT ? [] : before;
  const added = now.filter((file) => !known.includes(file));
  const gone = known.filter((file) => !now.includes(file));
  if (added.length + gone.length === 0) return undefined;
  const differences = [...added.map((file) => `new in ${file}`), ...gone.map((file) => `gone from ${file}`)];
  return `"${text}" is ${differences.join(", ")}`;
}

function hashRegion(text: string | undefined, { from, lines }: Project["regions"][number]): string {
  const all = text?.split("\n") ?? [];
  const first = all.findIndex((line) => line.includes(from));
  if (first === -1) return ABSENT;
  const region = all.slice(first, first + lines).map((line) => line.trim());
  return createHash("sha256").update(region.join("\n")).digest("hex");
}

/** The texts of the watched files by their path in the checkout, with slashes. */
function readSources({ folder, extension }: Project, checkout: string): Map<string, string> {
  if (!existsSync(checkout) || !statSync(checkout).isDirectory()) {
    throw new UnreadableError(`${checkout} is not a folder.`);
  }
  const root = join(checkout, folder);
  if (!existsSync(root)) {
    throw new UnreadableError(
      `${checkout} has no folder ${folder}. Give an unpacked package, or a checkout that was built.`,
    );
  }
  const paths = listFiles(root, extension);
  if (paths.length === 0) throw new UnreadableError(`${root} has no ${extension} file.`);
  return new Map(paths.map((path) => [relative(checkout, path).replaceAll("\\", "/"), readText(path)]));
}

function listFiles(root: string, extension: string): string[] {
  const found: string[] = [];
  const waiting = [root];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      // A link is neither: it may lead out of the checkout, or in a circle.
      if (entry.isDirectory() && !LEFT_OUT.has(entry.name)) waiting.push(path);
      else if (entry.isFile() && entry.name.endsWith(extension)) found.push(path);
      if (found.length > MOST_FILES) throw new UnreadableError(`${root} has more than ${MOST_FILES} files.`);
    }
  }
  return found.sort();
}

function readText(path: string): string {
  if (lstatSync(path).size > MOST_BYTES) {
    throw new UnreadableError(`${path} is larger than ${MOST_BYTES} bytes.`);
  }
  return readFileSync(path, "utf8");
}

/** From the package of the checkout; without one, unknown. */
function versionOf(checkout: string): string {
  const path = join(checkout, "package.json");
  if (!existsSync(path)) return "unknown";
  const read = z.object({ version: z.string() }).safeParse(readJson(path));
  if (!read.success) throw new UnreadableError(`${path} names no version.`);
  return read.data.version;
}

function readJson(path: string): unknown {
  if (!existsSync(path)) throw new UnreadableError(`${path} does not exist.`);
  try {
    return JSON.parse(readText(path));
  } catch (error) {
    if (error instanceof UnreadableError) throw error;
    throw new UnreadableError(`${path} is not JSON: ${(error as Error).message}`);
  }
}
