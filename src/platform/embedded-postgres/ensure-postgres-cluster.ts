import { type ExecFileOptions, execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  chmod,
  chown,
  cp,
  lchown,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  writeFile,
} from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { requireFreeSpace } from "../files/require-free-space.ts";
import type { PostgresBinaries } from "./postgres-binaries.ts";
import { isPresent, type PostgresHome } from "./postgres-home.ts";
import type { PostgresOsUser } from "./postgres-os-user.ts";

/** The superuser of the embedded database: only a start signs in with it, to make the gateway's role and database. */
export const SUPERUSER = "postgres";

/** An empty database with its first log takes 70 MB. */
const FIRST_START_BYTES = 100_000_000;

const NOBODY: PostgresOsUser = { uid: 65_534, gid: 65_534 };
const NAMED = ["/usr/bin/unshare", "--user", "--map-user=65534", "--map-group=65534"] as const;

/** Creates the database cluster atomically if there is none; throws if another major version created it. */
export async function ensurePostgresCluster(
  home: PostgresHome,
  binaries: PostgresBinaries,
  sync = true,
): Promise<void> {
  await removeHalfMade(home);
  if (!(await isPresent(join(home.data, "PG_VERSION")))) return makeCluster(home, binaries, sync);
  const version = (await readFile(join(home.data, "PG_VERSION"), "utf8")).trim();
  if (version === String(binaries.major)) return;
  throw new Error(
    `The database in ${home.data} was created by PostgreSQL ${version}, and this is PostgreSQL ${binaries.major}. ` +
      `Set PG_BIN_DIR to the programs of a PostgreSQL ${version}, take a backup with it, and restore that into a new ` +
      "data directory.",
  );
}

async function removeHalfMade(home: PostgresHome): Promise<void> {
  const prefix = `${basename(home.path)}.init-`;
  const names = (await readdir(dirname(home.path))).filter((name) => name.startsWith(prefix));
  for (const name of names)
    await rm(join(dirname(home.path), name), { recursive: true, force: true, maxRetries: 3 });
}

async function makeCluster(home: PostgresHome, binaries: PostgresBinaries, sync: boolean): Promise<void> {
  if (await isPresent(home.path)) {
    throw new Error(
      `${home.path} exists, but there is no database in ${home.data}. Restore the database, or move ${home.path} away.`,
    );
  }
  await requireFreeSpace(dirname(home.path), FIRST_START_BYTES);
  const draft = `${home.path}.init-${randomBytes(4).toString("hex")}`;
  const [data, password] = [join(draft, basename(home.data)), join(draft, basename(home.password))];
  try {
    await mkdir(data, { recursive: true, mode: 0o700 });
    await chmod(draft, 0o711);
    await writeFile(password, `${randomBytes(24).toString("hex")}\n`, { mode: 0o600 });
    await give(home, data, password);
    await runInitdb(home, binaries, data, password, sync);
    await reclaimOwnership(home, password);
    await rename(draft, home.path);
    if (sync) await syncDirectory(dirname(home.path));
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

async function give({ runner }: PostgresHome, ...paths: string[]): Promise<void> {
  if (runner !== undefined) for (const path of paths) await chown(path, runner.uid, runner.gid);
}

async function reclaimOwnership({ runner }: PostgresHome, path: string): Promise<void> {
  if (runner !== undefined) await chown(path, process.getuid?.() ?? 0, process.getgid?.() ?? 0);
}

async function runInitdb(
  home: PostgresHome,
  { initdb, major }: PostgresBinaries,
  data: string,
  password: string,
  sync: boolean,
): Promise<void> {
  const args = ["--pgdata", data, "--username", SUPERUSER, "--pwfile", password];
  args.push("--auth", "scram-sha-256", "--encoding", "UTF8", "--data-checksums", "--no-instructions");
  args.push(...localeOf(major));
  if (!sync) args.push("--no-sync");
  const options = { ...home.runner, cwd: dirname(data), env: { LC_ALL: "C", TZ: "UTC" } };
  const first = await tryRun(initdb, args, options);
  if (first === undefined) return;
  const isNameless = first.includes("could not look up effective user ID");
  // initdb requires a user name that it never uses; users of containers often have none.
  if (isNameless && (await tryRun(NAMED[0], [...NAMED.slice(1), initdb, ...args], options)) === undefined)
    return;
  if (!isNameless || home.runner === undefined) throw new Error(`initdb failed: ${first}`);
  await runInitdbAsNobody(home.runner, initdb, args, { data, password });
}

/**
 * For root in a container that allows no namespaces: nobody has a name everywhere. Other programs of nobody may hold the
 * files open or linked, so the cluster is a copy of them.
 */
async function runInitdbAsNobody(
  runner: PostgresOsUser,
  initdb: string,
  args: string[],
  { data, password }: { data: string; password: string },
): Promise<void> {
  for (const path of [data, password]) await chown(path, NOBODY.uid, NOBODY.gid);
  const options = { cwd: dirname(data), env: { LC_ALL: "C", TZ: "UTC" } };
  const failure = await tryRun(initdb, args, { ...options, ...NOBODY });
  if (failure !== undefined) throw new Error(`initdb failed: ${failure}`);
  const original = `${data}.made`;
  await rename(data, original);
  await cp(original, data, { recursive: true });
  await rm(original, { recursive: true });
  for (const name of ["", ...(await readdir(data, { recursive: true }))])
    await lchown(join(data, name), runner.uid, runner.gid);
  await tryRun(initdb, ["--sync-only", "--pgdata", data], { ...options, ...runner });
}

/** The error output of a command that failed; undefined on success. */
async function tryRun(
  program: string,
  args: string[],
  options: ExecFileOptions,
): Promise<string | undefined> {
  return promisify(execFile)(program, args, options).then(
    () => undefined,
    (error) => `${error.stderr ?? ""}`.trim().split("\n").slice(-10).join("\n") || String(error.message),
  );
}

/** A locale that compares and folds text alike on every machine, if the version has one. */
function localeOf(major: number): string[] {
  if (major >= 17) return ["--locale-provider", "builtin", "--builtin-locale", "C.UTF-8", "--locale", "C"];
  return ["--locale", process.platform === "linux" ? "C.UTF-8" : "C"];
}

async function syncDirectory(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const directory = await open(path, "r");
  await directory.sync().finally(() => directory.close());
}
