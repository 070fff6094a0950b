import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmod,
  lstat,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  truncate,
  writeFile,
} from "node:fs/promises";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { buildDist } from "../../../test/run/build-dist.ts";
import { findProgram, needs } from "../../../test/run/programs.ts";
import {
  createPostgresStory,
  isAlive,
  postmasterOf,
  query,
} from "../../../test/stories/engine/postgres-story.ts";
import { isDatabaseUnavailable, openDatabase } from "../db/database.ts";
import { superuserUrl } from "./embedded-postgres.ts";
import { findPostgresHome } from "./postgres-home.ts";
import { prepareSocketDir } from "./prepare-socket-dir.ts";

beforeAll(buildDist);

const story = createPostgresStory();

afterEach(() => story.clear());

const shared = createPostgresStory();
/** A data directory that most tests share, because a new one takes a second. */
let lasting: string;

beforeAll(async () => {
  lasting = await shared.directory();
});

afterAll(() => shared.clear());

const SERVED = { timeout: 60_000, interval: 20 };

test("the first start creates a durable database, the second finds its data on the same port", async () => {
  const dataDir = await story.directory();
  const first = await story.start(dataDir, { settings: {} });
  const [settings] = await query(
    first.url,
    `select current_setting('fsync') as fsync, current_setting('synchronous_commit') as synchronous_commit,
      current_setting('full_page_writes') as full_page_writes, current_setting('data_checksums') as data_checksums,
      current_setting('listen_addresses') as listen_addresses, current_setting('max_connections') as max_connections,
      current_setting('password_encryption') as password_encryption, current_setting('server_encoding') as encoding,
      current_database() as database, lower('ÁÉ') as folded`,
  );
  expect(settings).toEqual({
    fsync: "on",
    synchronous_commit: "on",
    full_page_writes: "on",
    data_checksums: "on",
    listen_addresses: "127.0.0.1",
    max_connections: "50",
    password_encryption: "scram-sha-256",
    encoding: "UTF8",
    database: "waygate",
    folded: "áé",
  });
  expect((await stat(join(dataDir, "postgres/password"))).mode & 0o777).toBe(0o600);
  await query(first.url, "create table kept as select 'yes' as said");
  const pid = await postmasterOf(join(dataDir, "postgres"));
  await first.stop();
  expect(isAlive(pid)).toBe(false);
  await expect(query(first.url, "select 1")).rejects.toSatisfy(isDatabaseUnavailable);

  const second = await story.start(dataDir, { settings: {} });
  expect(second).toMatchObject({ url: first.url, wasAlreadyRunning: false });
  expect(await query(second.url, "select said from kept")).toEqual([{ said: "yes" }]);
});

test("a connection without the password is refused", async () => {
  const { url, socketUrl = "" } = await story.start(lasting);
  for (const address of [url, socketUrl]) {
    const guessed = address.replace(/:[0-9a-f]{48}@/, ":guess@");
    await expect(query(guessed, "select 1")).rejects.toMatchObject({ code: "28P01" });
  }
});

/** Whether the connection uses TCP; a Unix socket has no address. */
async function transportOf(url: string | undefined): Promise<string> {
  const [row] = await query(url ?? "", "select host(inet_server_addr()) as address");
  return `${row?.address ?? "socket"}`;
}

test("the database is also served over a socket in a directory that only its user may enter", async () => {
  const { url, socketUrl } = await story.start(lasting);
  expect([await transportOf(url), await transportOf(socketUrl)]).toEqual(["127.0.0.1", "socket"]);
  const [closed, data] = await Promise.all(
    ["socket", "data"].map((name) => stat(join(lasting, "postgres", name))),
  );
  expect(closed?.mode).toBe(data?.mode);
  expect(Number(closed?.mode) & 0o777).toBe(0o700);
  expect(closed?.uid).toBe(data?.uid);
});

/** A directory that PostgreSQL's user may enter, also if this process is root. */
async function openDirectory(): Promise<string> {
  const path = await story.directory();
  await chmod(path, 0o711);
  return path;
}

test("a data directory whose path is too long for a socket has a database on TCP alone", async () => {
  const parent = await openDirectory();
  // The longest directory whose socket path has at most 103 bytes, the lowest limit of all systems.
  const longest = 103 - `${parent}//postgres/socket/.s.PGSQL.20000`.length;
  for (const [length, transport] of [
    [longest, "socket"],
    [longest + 1, "127.0.0.1"],
  ] as const) {
    const dataDir = join(parent, "x".repeat(length));
    await mkdir(dataDir);
    const { url, socketUrl, stop } = await story.start(dataDir);
    expect(await transportOf(socketUrl ?? url)).toBe(transport);
    expect(socketUrl === undefined).toBe(transport !== "socket");
    await stop();
  }
});

test("a directory whose name PostgreSQL's setting would split has a database on TCP alone", async () => {
  const dataDir = join(await openDirectory(), "a,b");
  await mkdir(dataDir);
  const { url, socketUrl } = await story.start(dataDir);
  expect([await transportOf(url), socketUrl]).toEqual(["127.0.0.1", undefined]);
});

test("a directory that can hold no socket is found out before PostgreSQL starts", async () => {
  const home = await findPostgresHome(await story.directory());
  await mkdir(home.path);
  expect(await prepareSocketDir(home)).toBe(home.socketDir);
  expect(await readdir(home.socketDir)).toEqual([]);
  expect(await prepareSocketDir({ ...home, socketDir: "/dev/null/socket" })).toBe(undefined);
});

/** Leaves PostgreSQL running, like a killed gateway. */
async function leaveOrphan(dataDir: string): Promise<{ port: string; pid: number }> {
  const owner = story.own(dataDir);
  const { port } = new URL((await owner.up).url);
  await owner.kill("SIGKILL");
  return { port, pid: await postmasterOf(join(dataDir, "postgres")) };
}

test("a PostgreSQL that was left running without a socket is used over TCP", async () => {
  const local = join(lasting, "postgres/postgresql.local.conf");
  await writeFile(local, "unix_socket_directories = ''\n");
  await leaveOrphan(lasting);
  await writeFile(local, "");
  const { url, socketUrl, wasAlreadyRunning, stop } = await story.start(lasting);
  expect({ transport: await transportOf(url), socketUrl, wasAlreadyRunning }).toEqual({
    transport: "127.0.0.1",
    socketUrl: undefined,
    wasAlreadyRunning: true,
  });
  await stop();
  expect(await transportOf((await story.start(lasting)).socketUrl)).toBe("socket");
});

test("a running PostgreSQL whose socket was deleted is used over TCP", async () => {
  await leaveOrphan(lasting);
  await rm(join(lasting, "postgres/socket"), { recursive: true });
  const { url, socketUrl, wasAlreadyRunning } = await story.start(lasting);
  expect([await transportOf(url), socketUrl, wasAlreadyRunning]).toEqual(["127.0.0.1", undefined, true]);
});

test("the copy of a crashed database's directory has a socket of its own", async () => {
  const { port, pid } = await leaveOrphan(lasting);
  process.kill(pid, "SIGKILL");
  await vi.waitFor(() => expect(isAlive(pid)).toBe(false), SERVED);
  const copy = join(await openDirectory(), "copy");
  await promisify(execFile)("cp", ["-a", lasting, copy]);
  const { socketUrl } = await story.start(copy);
  expect(await query(superuserUrl(socketUrl ?? ""), "show data_directory")).toEqual([
    { data_directory: join(copy, "postgres/data") },
  ]);
  expect((await readdir(join(copy, "postgres/socket"))).join()).not.toContain(port);
});

test("two data directories never share a database", async () => {
  const [one, two] = [await story.directory(), await story.directory()];
  const servers = await Promise.all([story.start(one), story.start(two)]);
  const places = await Promise.all(
    servers.map(({ url }) => query(superuserUrl(url), "select current_setting('data_directory') as at")),
  );
  expect(places).toEqual([[{ at: join(one, "postgres/data") }], [{ at: join(two, "postgres/data") }]]);
  const [port, other] = servers.map(({ url }) => new URL(url).port);
  expect(port).not.toBe(other);
  expect(servers[0]?.url.replace(`${port}`, `${other}`)).not.toBe(servers[1]?.url);
});

test("a killed gateway releases its output, and the next one reattaches to its PostgreSQL", async () => {
  const dataDir = lasting;
  const owner = story.own(dataDir);
  const { url, socketUrl } = await owner.up;
  await query(url, "create table kept_by_orphan as select 1 as n");
  const pid = await postmasterOf(join(dataDir, "postgres"));
  const closed = once(owner.process, "close");
  await owner.kill("SIGKILL");
  await closed;
  expect(isAlive(pid)).toBe(true);

  const next = story.own(dataDir);
  expect(await next.up).toEqual({ url, socketUrl, wasAlreadyRunning: true });
  expect(await transportOf(socketUrl)).toBe("socket");
  expect(await query(url, "select n from kept_by_orphan")).toEqual([{ n: 1 }]);
  expect(await postmasterOf(join(dataDir, "postgres"))).toBe(pid);
  expect(await next.kill("SIGTERM")).toBe(0);
  expect(isAlive(pid)).toBe(false);
});

test("a reattached PostgreSQL that dies is restarted like the gateway's own", async () => {
  const dataDir = lasting;
  const owner = story.own(dataDir);
  await owner.up;
  await owner.kill("SIGKILL");
  const { url, wasAlreadyRunning } = await story.start(dataDir);
  expect(wasAlreadyRunning).toBe(true);
  const pid = await postmasterOf(join(dataDir, "postgres"));
  process.kill(pid, "SIGKILL");
  await vi.waitFor(() => expect(isAlive(pid)).toBe(false), SERVED);
  await vi.waitFor(() => query(url, "select 1"), SERVED);
  expect(await postmasterOf(join(dataDir, "postgres"))).not.toBe(pid);
});

test("Ctrl-C reaches the gateway, and PostgreSQL stops when the gateway stops it", async () => {
  const dataDir = lasting;
  const owner = story.own(dataDir);
  await owner.up;
  const pid = await postmasterOf(join(dataDir, "postgres"));
  const logged = (await readFile(join(dataDir, "postgres/postgresql.log"), "utf8")).length;
  const exited = once(owner.process, "exit");
  process.kill(-Number(owner.process.pid), "SIGINT");
  expect(await exited).toEqual([0, null]);
  expect(isAlive(pid)).toBe(false);
  const log = await readFile(join(dataDir, "postgres/postgresql.log"), "utf8");
  expect(log.slice(logged).match(/received fast shutdown request/g)).toHaveLength(1);
});

test("a postmaster killed with -9 during a transaction is restarted and has lost nothing", async () => {
  const dataDir = lasting;
  const server = await story.start(dataDir);
  const { db, close } = openDatabase(server.socketUrl ?? "");
  await sql`create table kept_in_crash (n integer)`.execute(db);
  await sql`insert into kept_in_crash values (1)`.execute(db);
  const pid = await postmasterOf(join(dataDir, "postgres"));
  const broken = db.transaction().execute(async (trx) => {
    await sql`insert into kept_in_crash values (2)`.execute(trx);
    process.kill(pid, "SIGKILL");
    await sql`select pg_sleep(20)`.execute(trx);
  });
  await expect(broken).rejects.toSatisfy(isDatabaseUnavailable);
  const counted = await vi.waitFor(() => sql`select count(*) as n from kept_in_crash`.execute(db), SERVED);
  expect(counted.rows).toEqual([{ n: 1 }]);
  expect((await lstat(join(dataDir, "postgres/socket"))).mode & 0o777).toBe(0o700);
  await close();
  await server.stop();
  expect(isAlive(await postmasterOf(join(dataDir, "postgres")).catch(() => 0))).toBe(false);
});

/** Data of a first start that was killed before its end. Repeats starts that ended earlier. */
async function crashInFirstStart(): Promise<string> {
  for (;;) {
    const dataDir = await story.directory();
    const owner = story.own(dataDir);
    await vi.waitFor(async () => expect((await readdir(dataDir)).join()).toMatch(/postgres/), {
      timeout: 60_000,
      interval: 5,
    });
    await owner.kill("SIGKILL");
    if (!(await readdir(dataDir)).includes("postgres")) return dataDir;
  }
}

test("a crash during the first start leaves nothing half created", async () => {
  const dataDir = await crashInFirstStart();
  const next = story.own(dataDir);
  expect(await query((await next.up).url, "select 1 as n")).toEqual([{ n: 1 }]);
  expect((await readdir(dataDir)).filter((name) => name.includes("init"))).toEqual([]);
});

test.each(["drop database waygate", "drop database waygate; drop role waygate"])(
  "a crash that leaves the cluster as after `%s` is repaired by the next start",
  async (left) => {
    const { url, stop } = await story.start(lasting);
    for (const statement of left.split("; ")) await query(superuserUrl(url), statement);
    await stop();
    const at = "select current_database() as at, current_user as who";
    expect(await query((await story.start(lasting)).url, at)).toEqual([{ at: "waygate", who: "waygate" }]);
  },
);

test("the role of the gateway's statements starts no program, reads no file and becomes no superuser", async () => {
  const { url } = await story.start(lasting);
  await query(url, "create table if not exists output (line text)");
  for (const statement of [
    "copy output from program 'id'",
    "copy output to program 'cat'",
    "copy output from '/etc/passwd'",
    "select pg_read_file('/etc/passwd')",
    "alter role waygate superuser",
    "set role postgres",
    "alter system set archive_command = 'id'",
    "create function run() returns int language c as 'libc', 'system'",
  ])
    await expect(query(url, statement), statement).rejects.toMatchObject({
      code: expect.stringMatching(/^(42501|0A000)$/),
    });
  const own =
    "select rolsuper, rolcreaterole, rolreplication, rolbypassrls from pg_roles where rolname = current_user";
  expect(await query(url, own)).toEqual([
    { rolsuper: false, rolcreaterole: false, rolreplication: false, rolbypassrls: false },
  ]);
});

test("lock files that name another program's process do not prevent the start", async () => {
  const dataDir = lasting;
  const { url, stop } = await story.start(dataDir);
  const pidFile = join(dataDir, "postgres/data/postmaster.pid");
  const lockFile = join(dataDir, `postgres/socket/.s.PGSQL.${new URL(url).port}.lock`);
  const [left, lock] = [await readFile(pidFile, "utf8"), await readFile(lockFile, "utf8")];
  await stop();
  const { uid, gid } = await stat(join(dataDir, "postgres/data"));
  const other = spawn("sleep", ["600"], process.getuid?.() === 0 ? { uid, gid } : {});
  await once(other, "spawn");
  await writeFile(pidFile, left.replace(/^\d+/, `${other.pid}`));
  await writeFile(lockFile, lock.replace(/^\d+/, `${other.pid}`));
  const { socketUrl, wasAlreadyRunning } = await story.start(dataDir);
  expect(wasAlreadyRunning).toBe(false);
  expect(await query(socketUrl ?? "", "select 1 as n")).toEqual([{ n: 1 }]);
  expect(other.exitCode).toBe(null);
  other.kill();
});

test("when another program uses the port, the next one is used", async () => {
  const dataDir = lasting;
  const { url, stop } = await story.start(dataDir);
  await stop();
  const port = Number(new URL(url).port);
  const thief = createServer().listen(port, "127.0.0.1");
  await once(thief, "listening");
  const next = await story.start(dataDir);
  expect(new URL(next.url).port).not.toBe(`${port}`);
  thief.close();
});

test("without PostgreSQL in the given directory, one clear error explains what to do", async () => {
  const start = story.start(await story.directory(), { binDir: "/usr" });
  await expect(start).rejects.toThrow(
    /cannot start its own PostgreSQL.*\/usr\/postgres does not run.*set DATABASE_URL/s,
  );
  const nowhere = story.start(await story.directory(), { binDir: "/nowhere/at/all" });
  await expect(nowhere).rejects.toThrow(/PG_BIN_DIR is \/nowhere\/at\/all.*set DATABASE_URL/s);
});

test("the operator's own settings take precedence, and are preserved", async () => {
  const dataDir = lasting;
  const { stop } = await story.start(dataDir);
  await stop();
  await writeFile(join(dataDir, "postgres/postgresql.local.conf"), "work_mem = '7MB'\n");
  expect(await query((await story.start(dataDir)).url, "show work_mem")).toEqual([{ work_mem: "7MB" }]);
});

test("another PostgreSQL, of the system, works as well", needs("postgres"), async () => {
  const program = findProgram("postgres") ?? "";
  const { stdout } = await promisify(execFile)(program, ["--version"]);
  const { url } = await story.start(await story.directory(), { binDir: dirname(program) });
  const [served] = await query(url, "show server_version");
  expect(stdout).toContain(` ${String(served?.server_version).split(" ")[0]}`);
});

test("a database of another major version is refused before any change to it", async () => {
  const dataDir = lasting;
  const { stop } = await story.start(dataDir);
  await stop();
  const version = join(dataDir, "postgres/data/PG_VERSION");
  await writeFile(version, "14\n");
  await expect(story.start(dataDir)).rejects.toThrow(
    /was created by PostgreSQL 14, and this is PostgreSQL 18/,
  );
  await writeFile(version, "18\n");
  expect(await query((await story.start(dataDir)).url, "select 1 as n")).toEqual([{ n: 1 }]);
});

test("a database that was removed is not silently created anew", async () => {
  const [data, away] = [join(lasting, "postgres/data"), join(lasting, "away")];
  await rename(data, away);
  await expect(story.start(lasting)).rejects.toThrow(/there is no database in .*postgres\/data/);
  await rename(away, data);
  expect(await query((await story.start(lasting)).url, "select 1 as n")).toEqual([{ n: 1 }]);
});

test("a PostgreSQL that cannot start is reported with the last lines of its log", async () => {
  const dataDir = lasting;
  const { stop } = await story.start(dataDir);
  await stop();
  await truncate(join(dataDir, "postgres/data/global/pg_control"), 10);
  await expect(story.start(dataDir)).rejects.toThrow(
    /exited while it was starting.*could not read file.*set DATABASE_URL/s,
  );
});
