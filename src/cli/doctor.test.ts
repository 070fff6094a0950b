import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from "../../test/database.ts";
import { createAccount } from "../core/accounts/users/create-account.ts";
import { requireSecretKey } from "../platform/config/require-secret-key.ts";
import { packageVersion } from "../platform/package-version.ts";
import { createSecretBox } from "../platform/secrets/secret-box.ts";
import { doctor } from "./doctor.ts";

const KEY = "8fJ2mQ7vXc4RtY9wLp3ZsB6nHd1KgA5e";
const OTHER = "Zp4Rk8Tn1Vx6Bq3Mw7Gj2Fd9Lc5Hs0Ye";

let directory: string;
let store: TestDatabase;
let network: Server;
let env: Record<string, string>;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "waygate-doctor-test-"));
  store = await createTestDatabase();
  await requireSecretKey(store.database.db, createSecretBox(KEY));
  network = createServer((socket) => socket.end());
  await new Promise<void>((resolve) => network.listen(0, "127.0.0.1", resolve));
  const { port } = network.address() as { port: number };
  env = {
    DATABASE_URL: store.url,
    WAYGATE_SECRET_KEY: KEY,
    WAYGATE_BACKUP_KEY: OTHER,
    WAYGATE_PORT: "0",
    WAYGATE_DATA_DIR: join(directory, "data"),
    WAYGATE_WHATSAPP_URL: `ws://127.0.0.1:${port}/`,
  };
  await mkdir(join(directory, "data"));
});

afterAll(async () => {
  await new Promise((resolve) => network.close(resolve));
  await store.drop();
  await rm(directory, { recursive: true, force: true });
});

/** The output of the doctor, line by line. */
async function ask(
  changed: Record<string, string | undefined> = {},
): Promise<{ isWell: boolean; lines: string[] }> {
  const log = vi.spyOn(console, "log").mockImplementation(() => {});
  try {
    const isWell = await doctor({ ...env, ...changed });
    return { isWell, lines: log.mock.calls.map(([line]) => String(line)) };
  } finally {
    log.mockRestore();
  }
}

describe("waygate doctor", () => {
  test("checks everything and reports that it is healthy", async () => {
    const { isWell, lines } = await ask();
    expect(isWell).toBe(true);
    expect(lines.map((line) => line.slice(6).split(":")[0])).toEqual([
      "settings",
      "data directory",
      "database",
      "database role",
      "migrations",
      "clock",
      "secret key",
      "backup key",
      "backups",
      "sessions",
      "client version",
      "API keys",
      "other secrets",
      "media store",
      "outgoing requests",
      "Baileys",
      "WhatsApp",
      "port",
    ]);
    expect(lines.filter((line) => !line.startsWith("ok ") && !line.includes("data directory"))).toEqual([]);
  });

  test("prints the same findings as one JSON object without a secret, for an issue", async () => {
    const changed = { WAYGATE_MEDIA: "file:///dev/null/media", WAYGATE_ADMIN_TOKEN: "a".repeat(40) };
    const { lines } = await ask(changed);
    const log = vi.spyOn(console, "log").mockImplementation(() => {});
    const isWell = await doctor({ ...env, ...changed }, { json: true });
    const [[printed = ""] = []] = log.mock.calls;
    log.mockRestore();
    const report = JSON.parse(printed);
    expect(report).toMatchObject({ version: packageVersion(), node: process.version, healthy: false });
    expect([isWell, report.checks.length]).toEqual([false, lines.length]);
    expect(report.checks.map(({ grade }: { grade: string }) => grade)).toEqual(
      lines.map((line) => line.split(" ")[0]),
    );
    expect(report.checks).toContainEqual({
      check: "settings",
      grade: "ok",
      detail: "all are valid",
      fix: null,
    });
    for (const secret of [KEY, OTHER, "a".repeat(40)]) expect(printed).not.toContain(secret);
  });

  test("reports a database of a version before 2.0.0, and what to do", async () => {
    const old = await createEmptyDatabase();
    await old.database.pool.query(
      "create table kysely_migration (name text, timestamp text); insert into kysely_migration values ('0001-engine', 'x')",
    );
    const { isWell, lines } = await ask({ DATABASE_URL: old.url });
    await old.drop();
    expect(isWell).toBe(false);
    expect(lines.join("\n")).toMatch(/fail {2}database: A version before 2\.0\.0 made this database.*export/);
  });

  test.each<[string, Record<string, string | undefined>, RegExp]>([
    ["a setting that cannot be read", { WAYGATE_PORT: "many" }, /^fail {2}settings: WAYGATE_PORT must be/],
    [
      "a secret key that is another",
      { WAYGATE_SECRET_KEY: "a".concat(KEY) },
      /^fail {2}secret key: .*encrypted with/,
    ],
    [
      "a database that is away",
      { DATABASE_URL: "postgres://x@127.0.0.1:1/x" },
      /^fail {2}database: .*cannot be reached/,
    ],
    [
      "a network that is away",
      { WAYGATE_WHATSAPP_URL: "ws://127.0.0.1:1/" },
      /^fail {2}WhatsApp: .*ECONNREFUSED/,
    ],
    ["a folder that cannot be used", { WAYGATE_MEDIA: "file:///dev/null/media" }, /^fail {2}media store: /],
    [
      "a backup key beside the data",
      { WAYGATE_BACKUP_KEY: undefined },
      /^warn {2}backup key: .*Set WAYGATE_BACKUP_KEY/,
    ],
    [
      "a token that can be guessed",
      { WAYGATE_ADMIN_TOKEN: "a".repeat(40) },
      /^warn {2}other secrets: WAYGATE_ADMIN_TOKEN/,
    ],
    [
      "no data directory yet",
      { WAYGATE_DATA_DIR: "/tmp/waygate-never-made" },
      /^ok {4}data directory: .*first start/,
    ],
  ])("names %s and what to do", async (_what, changed, line) => {
    const { isWell, lines } = await ask(changed);
    expect(lines.filter((one) => line.test(one)).length).toBe(1);
    expect(isWell).toBe(!lines.some((one) => one.startsWith("fail")));
  });

  test("warns of a role that could run programs on the database's machine", async () => {
    const { lines } = await ask({ DATABASE_URL: store.url.replace("//waygate:", "//postgres:") });
    expect(lines.filter((line) => line.includes("database role"))).toEqual([
      expect.stringMatching(
        /^warn {2}database role: postgres is a superuser.* Let a role without superuser own/,
      ),
    ]);
  });

  test("warns of settings that open a machine or a network to several accounts", async () => {
    const openTo = (lines: string[]) => lines.filter((line) => line.includes("outgoing requests"));
    const open = { WAYGATE_ALLOWED_HOSTS: "external,loopback,n8n,n8n:5678" };
    expect(openTo((await ask(open)).lines)).toEqual([expect.stringMatching(/^ok /)]);
    const { db } = store.database;
    await createAccount(db, { name: "Owner", account_type: "owner", email: "o@example.com", password: KEY });
    expect(openTo((await ask()).lines)).toEqual([
      expect.stringContaining("external, and this machine while the owner's account is the only one"),
    ]);
    await createAccount(db, { name: "Shop", account_type: "client", email: "s@example.com", password: KEY });
    const { isWell, lines } = await ask(open);
    expect(isWell).toBe(true);
    expect(openTo(lines)).toEqual([
      expect.stringMatching(/^warn .*Every account can reach loopback, n8n on any port\. Name single hosts/),
    ]);
    expect(openTo((await ask()).lines)).toEqual([
      expect.stringMatching(/^ok .*external; no longer this machine, since there is a second account/),
    ]);
  });

  describe("checks the version of WhatsApp's web client", () => {
    const REAL = { WAYGATE_WHATSAPP_URL: undefined };
    const HERE = {
      NODE_ENV: "test",
      WAYGATE_CLIENT_VERSION_ORIGIN: "http://127.0.0.1:9",
      WAYGATE_ALLOWED_HOSTS: "external,loopback",
    };
    const keep = async (revision: number | null, hours: number, problem: string | null) => {
      await store.database.pool.query("delete from client_version");
      await store.database.pool.query(
        "insert into client_version (revision, found_at, problem) values ($1, now() - $2::float8 * interval '1 hour', $3)",
        [revision, revision && hours, problem],
      );
    };
    const line = async (changed: Record<string, string | undefined>) =>
      (await ask(changed)).lines.find((one) => one.slice(6).startsWith("client version"));

    test.each<[string, [number | null, number, string | null], Record<string, string | undefined>, RegExp]>([
      [
        "that WhatsApp confirmed it",
        [1_043_927_760, 5.5, null],
        HERE,
        /^ok .*2\.3000\.1043927760, fetched.* 5 h ago\.$/,
      ],
      [
        "that WhatsApp has not confirmed it for days, and why",
        [1_043_927_760, 80, "No response within the time limit."],
        HERE,
        /^warn .* 80 h ago \(last search: No response within the time limit\)\. Let this machine reach https/,
      ],
      [
        "that no search has succeeded yet",
        [null, 0, "No answer."],
        HERE,
        /^warn .*built-in; no search has found/,
      ],
      [
        "that none was made yet",
        [null, 0, null],
        HERE,
        /^ok .*1043857760, built-in; a running gateway looks/,
      ],
      [
        "that the policy for outgoing requests does not allow the search",
        [1_043_927_760, 5, null],
        { ...HERE, WAYGATE_ALLOWED_HOSTS: "example.com" },
        /^warn .*does not allow the search.*Add web\.whatsapp\.com to WAYGATE_ALLOWED_HOSTS/,
      ],
      [
        "that a setting holds it",
        [1_043_927_760, 5, null],
        { ...REAL, WAYGATE_WHATSAPP_VERSION: "2.3000.1043900000" },
        /^ok .*2\.3000\.1043900000, which WAYGATE_WHATSAPP_VERSION sets/,
      ],
      [
        "that it is not looked for",
        [1_043_927_760, 5, null],
        {},
        /^ok .*1043857760, built in.*WAYGATE_WHATSAPP_URL/,
      ],
    ])("says %s", async (_what, kept, changed, expected) => {
      await keep(...kept);
      expect(await line(changed)).toMatch(expected);
    });
  });

  test("names the program that already uses the port", async () => {
    const { port } = network.address() as { port: number };
    const { isWell, lines } = await ask({ WAYGATE_PORT: String(port) });
    expect(isWell).toBe(false);
    expect(lines.at(-1)).toMatch(/^fail {2}port: \d+ on 127.0.0.1 cannot be used \(EADDRINUSE\)/);
  });

  test("does not start a database that was never started", async () => {
    const { lines } = await ask({ DATABASE_URL: undefined, WAYGATE_DATA_DIR: join(directory, "data") });
    expect(lines).toContain("ok    database: its own PostgreSQL is created at the first start.");
  });
});
