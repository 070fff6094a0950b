import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import {
  chmod,
  chown,
  cp,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
} from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { buildDist } from "../../../test/run/build-dist.ts";
import { createPostgresStory, postmasterOf, query } from "../../../test/stories/engine/postgres-story.ts";
import { findProcess } from "../files/running-process.ts";
import { superuserUrl } from "./embedded-postgres.ts";
import { findPackagedBinaries } from "./postgres-binaries.ts";
import { findInaccessibleDirectory, findPostgresOsUser } from "./postgres-os-user.ts";

beforeAll(buildDist);

const story = createPostgresStory();
const copies = createPostgresStory();
const isRoot = process.getuid?.() === 0;
const NOBODY = { uid: 65534, gid: 65534 };
const NAMELESS = { uid: 54_321, gid: 54_321 };
const SOMEBODY = findSomebody();

/** A package installed without its install script, in a directory that only this user may enter. */
let blocked: string;

beforeAll(async () => {
  blocked = join(await copies.directory(), "native");
  await copyPackageWithoutScripts(blocked);
});

afterEach(() => story.clear());
afterAll(() => copies.clear());

async function copyPackageWithoutScripts(to: string): Promise<void> {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}-${process.arch}`);
  await cp(join(dirname(dirname(entry)), "native"), to, { recursive: true, verbatimSymlinks: true });
  for (const { target } of await listLinks(to)) await rm(join(dirname(to), target), { force: true });
  for (const name of await readdir(join(to, "bin"))) await chmod(join(to, "bin", name), 0o644);
}

/** A user of this machine besides root and nobody. */
function findSomebody(): { uid: number; gid: number } {
  const users = readFileSync("/etc/passwd", "utf8").split("\n");
  const ids = users.map((line) => line.split(":").slice(2, 4).map(Number));
  const [uid = 1, gid = 1] = ids.find(([uid = 0]) => uid > 0 && uid !== NOBODY.uid) ?? [];
  return { uid, gid };
}

async function listLinks(native: string): Promise<{ source: string; target: string }[]> {
  return JSON.parse(await readFile(join(native, "pg-symlinks.json"), "utf8").catch(() => "[]"));
}

async function versionOf(program: string, as = {}): Promise<string> {
  return (await promisify(execFile)(program, ["--version"], { ...as, cwd: "/", env: {} })).stdout.trim();
}

async function uidOf(pid: number): Promise<number> {
  return (await stat(`/proc/${pid}`)).uid;
}

/** A home directory that only its user may enter. */
async function closedHome(): Promise<string> {
  const home = await story.directory("waygate-home-");
  await chmod(home, 0o700);
  return home;
}

test("as root, programs below a closed directory are copied once, completely", async (context) => {
  if (!isRoot) return context.skip("needs root");
  const shelf = join(await story.directory(), "shelf");
  await chmod(dirname(shelf), 0o755);
  const source = { path: blocked, version: "18.4.0-beta.17" };
  const found = await Promise.all([1, 2].map(() => findPackagedBinaries(shelf, NOBODY, source)));
  expect(found[0]).toEqual(found[1]);
  const { postgres = "" } = found[0] ?? {};
  expect(postgres).toMatch(/shelf\/postgres-18\.4\.0-beta\.17-\w+-\w+\/bin\/postgres$/);
  expect(await versionOf(postgres, NOBODY)).toMatch(/ 18\./);
  expect(await readdir(shelf)).toHaveLength(1);
  const copiedAt = (await stat(postgres)).ctimeMs;
  await findPackagedBinaries(shelf, NOBODY, source);
  expect((await stat(postgres)).ctimeMs).toBe(copiedAt);
});

test("another user with a broken read-only package uses a copy in the data directory", async (context) => {
  if (!isRoot) return context.skip("needs root, to be another user");
  if (await findInaccessibleDirectory(process.cwd(), SOMEBODY))
    return context.skip("another user may not enter this project");
  const dataDir = await story.directory();
  await chmod(dirname(blocked), 0o755);
  await chown(dataDir, SOMEBODY.uid, SOMEBODY.gid);
  const program = join(process.cwd(), "dist/src/platform/embedded-postgres/postgres-binaries.js");
  const code = `const { findPackagedBinaries } = await import(${JSON.stringify(program)});
    const source = { path: ${JSON.stringify(blocked)}, version: "18.4.0" };
    console.log((await findPackagedBinaries(${JSON.stringify(dataDir)}, undefined, source)).postgres);`;
  const run = promisify(execFile)(process.execPath, ["--input-type=module", "-e", code], {
    ...SOMEBODY,
    cwd: "/",
  });
  const postgres = (await run).stdout.trim();
  expect(postgres.startsWith(`${dataDir}/postgres-18.4.0-`)).toBe(true);
  expect(await versionOf(postgres, SOMEBODY)).toMatch(/ 18\./);
});

test("with blocked install scripts, library links and run bits are made where the package is", async () => {
  const native = blocked;
  const source = { path: native, version: "18.4.0" };
  const binaries = await findPackagedBinaries("/nowhere", undefined, source);
  expect(binaries).toMatchObject({ postgres: join(native, "bin/postgres"), major: 18 });
  expect(await versionOf(binaries.postgres)).toMatch(/^postgres \(PostgreSQL\) 18\./);
  for (const { source, target } of await listLinks(native)) {
    expect((await lstat(join(dirname(native), target))).isSymbolicLink()).toBe(true);
    expect(join(dirname(target), await readlink(join(dirname(native), target)))).toBe(source);
  }
  expect(await findPackagedBinaries("/nowhere", undefined, source)).toEqual(binaries);
});

test("as root, PostgreSQL runs as a user of its own, which no other database has and which may not list the data directory", async (context) => {
  if (!isRoot) return context.skip("needs root");
  const dataDir = await story.directory();
  await chmod(dataDir, 0o700);
  const { url, socketUrl } = await story.start(dataDir);
  expect(await query(url, "select 1 as n")).toEqual([{ n: 1 }]);
  expect(await query(socketUrl ?? "", "select 2 as n")).toEqual([{ n: 2 }]);
  const { uid } = await stat(join(dataDir, "postgres/socket"));
  expect(await readFile("/etc/passwd", "utf8")).not.toContain(`:${uid}:`);
  expect((await stat(dataDir)).mode & 0o777).toBe(0o701);
  expect(await uidOf(await postmasterOf(join(dataDir, "postgres")))).toBe(uid);
  expect((await stat(join(dataDir, "postgres/data"))).uid).toBe(uid);
  const places = Array.from({ length: 9 }, (_, nth) => findPostgresOsUser(`/elsewhere/${nth}`));
  expect(new Set((await Promise.all(places)).map((user) => user?.uid)).size).toBeGreaterThan(1);
  const password = await stat(join(dataDir, "postgres/password"));
  expect({ uid: password.uid, mode: password.mode & 0o777 }).toEqual({ uid: 0, mode: 0o600 });
});

test("as root below a closed home, each data directory has a database in /var/lib", async (context) => {
  if (!isRoot) return context.skip("needs root");
  const home = await closedHome();
  const [one, two] = [join(home, "one"), join(home, "two")];
  await mkdir(one, { mode: 0o700 });
  await mkdir(two, { mode: 0o700 });
  const [first, second] = [await story.start(one), await story.start(two)];
  const places = await Promise.all(
    [first, second].map(({ url }) => query(superuserUrl(url), "show data_directory")),
  );
  const [a, b] = places.map(([row]) => String(row?.data_directory));
  expect(a).toMatch(/^\/var\/lib\/waygate\/[0-9a-f]{12}\/data$/);
  expect(b).toMatch(/^\/var\/lib\/waygate\/[0-9a-f]{12}\/data$/);
  expect(a).not.toBe(b);
  expect((await stat(home)).mode & 0o777).toBe(0o700);
  await query(first.url, "create table kept as select 1 as n");
  await first.stop();
  expect(await query((await story.start(one)).url, "select n from kept")).toEqual([{ n: 1 }]);
});

test("a data directory moved away from its database in /var/lib/waygate is refused", async (context) => {
  if (!isRoot) return context.skip("needs root");
  const home = await closedHome();
  const [before, after] = [join(home, "before"), join(home, "after")];
  await mkdir(before);
  await (await story.start(before)).stop();
  await rename(before, after);
  await expect(story.start(after)).rejects.toThrow(
    /is in \/var\/lib\/waygate\/[0-9a-f]{12}\. This directory was moved or copied/,
  );
  await rename(after, before);
  expect(await query((await story.start(before)).url, "select 1 as n")).toEqual([{ n: 1 }]);
});

test("without root, the user owns PostgreSQL; a later start as root keeps that owner", async (context) => {
  if (!isRoot) return context.skip("this whole run is not root's; the other tests tell it");
  if (await findInaccessibleDirectory(process.cwd(), SOMEBODY))
    return context.skip("another user may not enter this project");
  const dataDir = await story.directory();
  await chown(dataDir, SOMEBODY.uid, SOMEBODY.gid);
  const owner = story.own(dataDir, SOMEBODY);
  const { socketUrl = "" } = await owner.up;
  await query(socketUrl, "create table kept as select 1 as n");
  expect(await uidOf(await postmasterOf(join(dataDir, "postgres")))).toBe(SOMEBODY.uid);
  expect((await stat(join(dataDir, "postgres/data"))).uid).toBe(SOMEBODY.uid);
  expect(await owner.kill("SIGTERM")).toBe(0);

  const asRoot = await story.start(dataDir);
  expect(await query(asRoot.socketUrl ?? "", "select n from kept")).toEqual([{ n: 1 }]);
  expect((await stat(join(dataDir, "postgres/socket"))).uid).toBe(SOMEBODY.uid);
  expect(await uidOf(await postmasterOf(join(dataDir, "postgres")))).toBe(SOMEBODY.uid);
  await asRoot.stop();
  expect(await query((await story.own(dataDir, SOMEBODY).up).url, "select n from kept")).toEqual([{ n: 1 }]);
});

test("a user without a name in the system can have a database as well", async (context) => {
  if (!isRoot) return context.skip("needs root, to be another user");
  if (await findInaccessibleDirectory(process.cwd(), NAMELESS))
    return context.skip("another user may not enter this project");
  const named = ["--user", "--map-user=65534", "--map-group=65534", "true"];
  const mayMap = await promisify(execFile)("/usr/bin/unshare", named, { ...NAMELESS, cwd: "/" }).catch(
    () => undefined,
  );
  if (mayMap === undefined) return context.skip("this machine allows no user namespaces");
  const dataDir = await story.directory();
  await chown(dataDir, NAMELESS.uid, NAMELESS.gid);
  const { url } = await story.own(dataDir, NAMELESS).up;
  expect(await query(url, "select 1 as n")).toEqual([{ n: 1 }]);
  expect((await stat(join(dataDir, "postgres/data"))).uid).toBe(NAMELESS.uid);
});

test("a process is distinguished from a later one with the same number, and a zombie counts as none", () => {
  expect(findProcess(process.pid)).toEqual(findProcess(process.pid));
  expect(findProcess(process.pid)?.command.join(" ")).toContain("node");
  expect(findProcess(0)).toBe(undefined);
  expect(findProcess(2 ** 22 + 1)).toBe(undefined);
});
