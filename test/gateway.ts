import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { type Client, createClient } from "../src/client/client.ts";
import type { Engine } from "../src/engine/engine.ts";
import { readConfig } from "../src/platform/config/config.ts";
import { type Database, openDatabase } from "../src/platform/db/database.ts";
import { createLog, type Log } from "../src/platform/log/log.ts";
import { type Gateway, startGateway } from "../src/processes/gateway.ts";
import { createTestDatabase, type TestDatabase } from "./database.ts";
import { OWNER, PASSWORD, signIn } from "./sign-in.ts";

export const ADMIN_TOKEN = "test-admin-token-that-is-long-enough";

/** An instance with a client for its key. */
export interface TestInstance {
  id: number;
  api_key: string;
  webhook_secret: string;
  phone: string;
  client: Client;
}

/** A whole gateway in this process with its own database and data directory. */
export interface TestGateway {
  readonly gateway: Gateway;
  readonly url: string;
  readonly database: Database;
  /** Signed in as the owner. */
  readonly owner: Client;
  /** With the administrative token. */
  readonly admin: Client;
  readonly anonymous: Client;
  /** Creates a sandbox instance. */
  createInstance(input?: { name?: string; webhook_url?: string }): Promise<TestInstance>;
  /** Creates a sandbox instance, paired and connected. */
  connectInstance(input?: { name?: string; webhook_url?: string; phone?: string }): Promise<TestInstance>;
  /** Advances time for everything that waits in the database. */
  advance(ms: number): Promise<void>;
  /** Restarts on the same database and data directory, optionally with other settings. */
  restart(env?: Record<string, string>): Promise<void>;
  /** Adds a node on the same database with its own data directory. It ends with the story. */
  addNode(env?: Record<string, string>): Promise<Gateway>;
  stop(): Promise<void>;
}

/** Outside a test run, pass the database server. */
export async function startTestGateway(
  env: Record<string, string> = {},
  server?: string,
  log: Log = createLog((process.env.TEST_LOG as "info") ?? "silent"),
): Promise<TestGateway> {
  const dataDir = await mkdtemp(join(tmpdir(), "waygate-test-"));
  const store = await createTestDatabase(server);
  const settings = { ...baseSettings(store, dataDir), ...env };
  let gateway = await startGateway(readConfig(settings), { log });
  const database = openDatabase(store.url, { max: 4, application_name: "waygate test" });
  // A machine that stalls for seconds must not look like an unavailable database.
  database.pool.options.connectionTimeoutMillis = 60_000;
  let { client: owner } = await signIn(gateway.url);
  const others: { gateway: Gateway; dataDir: string }[] = [];

  const createInstance: TestGateway["createInstance"] = async (input = {}) => {
    const { data } = await owner.createInstance({ name: "Sales", network: "sandbox", ...input });
    const { id, api_key, webhook_secret } = data;
    return {
      id,
      api_key,
      webhook_secret,
      phone: "",
      client: createClient({ baseUrl: gateway.url, apiKey: api_key }),
    };
  };

  return {
    get gateway() {
      return gateway;
    },
    get url() {
      return gateway.url;
    },
    database,
    get owner() {
      return owner;
    },
    get admin() {
      return createClient({ baseUrl: gateway.url, adminToken: ADMIN_TOKEN });
    },
    get anonymous() {
      return createClient({ baseUrl: gateway.url });
    },
    createInstance,
    async connectInstance({ phone = newPhone(), ...input } = {}) {
      const instance = await createInstance(input);
      await instance.client.sandboxScan({ id: instance.id, phone });
      await waitUntil(
        async () => (await instance.client.getInstanceStatus({ id: instance.id })).data.connected,
      );
      return { ...instance, phone };
    },
    advance: (ms) => advance(database, gateway.engine, ms),
    async restart(changed = {}) {
      await gateway.stop();
      gateway = await startGateway(readConfig({ ...settings, ...changed }), { log });
      ({ client: owner } = await signIn(gateway.url));
    },
    async addNode(changed = {}) {
      const place = await mkdtemp(join(tmpdir(), "waygate-test-"));
      const own = { ...settings, WAYGATE_DATA_DIR: place, ...changed };
      const other = await startGateway(readConfig(own), { log });
      others.push({ gateway: other, dataDir: place });
      return other;
    },
    async stop() {
      for (const other of others) await other.gateway.stop();
      for (const other of others) await rm(other.dataDir, { recursive: true, force: true });
      await gateway.stop();
      await database.close();
      await store.drop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

function baseSettings(store: TestDatabase, dataDir: string): Record<string, string> {
  return {
    NODE_ENV: "test",
    WAYGATE_PORT: "0",
    // Nothing listens there: no test may reach the real network.
    WAYGATE_WHATSAPP_URL: "ws://127.0.0.1:1/",
    WAYGATE_DATA_DIR: dataDir,
    DATABASE_URL: store.url,
    WAYGATE_SECRET_KEY: randomBytes(32).toString("base64"),
    WAYGATE_ADMIN_TOKEN: ADMIN_TOKEN,
    WAYGATE_OWNER_EMAIL: OWNER.email,
    WAYGATE_OWNER_PASSWORD: OWNER.password,
    WAYGATE_BACKUP_AT: "off",
    // The event loop of a busy test machine is slow.
    WAYGATE_MAX_LAG: "0s",
    WAYGATE_ALLOWED_HOSTS: "external,private,loopback",
  };
}

/** Another account with the plan `unlimited`, and a token of its user. */
export async function addUnlimitedAccount({ owner, database, url }: TestGateway, name: string) {
  const email = `boss@${name}.example`;
  const { data } = await owner.createAccount({ name, email, password: PASSWORD, user_name: name });
  await database.db
    .updateTable("account")
    .set(({ selectFrom }) => ({ plan_id: selectFrom("plan").select("id").where("name", "=", "unlimited") }))
    .where("id", "=", data.id)
    .execute();
  return { data, token: (await signIn(url, { email })).token };
}

let phones = 0;

/** A unique number without special behaviour in the sandbox. */
export function newPhone(): string {
  phones += 1;
  return `5511${90_000_000 + phones}8`;
}

/** Moves stored times `ms` back, and makes the engine poll. */
async function advance({ db }: Database, engine: Engine, ms: number): Promise<void> {
  const by = sql`${ms} * interval '1 millisecond'`;
  for (const change of [
    sql`update job set run_at = run_at - ${by}`,
    sql`update message set deadline = deadline - ${by}, submitted_at = submitted_at - ${by}, send_at = send_at - ${by}
      where outcome_at is null`,
    sql`update instance set sends_paused_until = sends_paused_until - ${by} where sends_paused_until is not null`,
    sql`update campaign set next_at = next_at - ${by}, scheduled_at = scheduled_at - ${by}`,
    sql`update idempotency set created_at = created_at - ${by}`,
    sql`update delivery set next_retry_at = next_retry_at - ${by}`,
  ])
    await despiteDeadlocks(() => change.execute(db));
  const lanes = await db.selectFrom("lane").select("id").execute();
  engine.wake(
    lanes.map((lane) => lane.id),
    { changed: true },
  );
}

/** These statements lock rows in another order than the gateway, so PostgreSQL may abort one on a deadlock. */
async function despiteDeadlocks(change: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      return void (await change());
    } catch (error) {
      if ((error as { code?: string }).code !== "40P01") throw error;
    }
  }
}

/** Polls until the condition holds. */
export async function waitUntil(
  condition: () => Promise<unknown> | unknown,
  timeoutMs = 60_000,
): Promise<void> {
  const giveUpAt = performance.now() + timeoutMs;
  // Polls less often over time, because each query costs the tested gateway.
  for (let pauseMs = 10; !(await condition()); pauseMs = Math.min(80, pauseMs * 1.3)) {
    if (performance.now() > giveUpAt) throw new Error(`the condition did not hold within ${timeoutMs} ms`);
    await sleep(pauseMs);
  }
}
