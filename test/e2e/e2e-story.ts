import { randomBytes } from "node:crypto";
import { type Client, createClient } from "../../src/client/client.ts";
import { createTestDatabase, type TestDatabase, WORK_LEFT } from "../database.ts";
import { newPhone, waitUntil } from "../gateway.ts";
import { makeScratchDir } from "../run/scratch-dir.ts";
import { type LaunchedGateway, launchGateway, type SpawnedGateway } from "../run/spawn-gateway.ts";
import { type Receiver, startReceiver } from "../servers/receiver.ts";
import { OWNER, signIn } from "../sign-in.ts";

const DIES_WITHIN_MS = 300_000;

/** A paired instance, whose API key survives every restart. */
export interface PairedInstance {
  id: number;
  phone: string;
  api_key: string;
}

/** A gateway process that can be killed and restarted on the same data, with its surroundings. */
export interface E2eStory {
  readonly store: TestDatabase;
  readonly receiver: Receiver;
  /** The latest process. */
  readonly gateway: SpawnedGateway;
  readonly settings: Readonly<Record<string, string>>;
  /** Starts it with these additional settings and waits until it listens. */
  start(settings?: Record<string, string>): Promise<SpawnedGateway>;
  /** Restarts it with a fault point, does the work, and resolves when the process is dead. */
  dieAt(point: string, work?: () => unknown): Promise<void>;
  launch(settings?: Record<string, string>): LaunchedGateway;
  signIn(): Promise<Client>;
  /** Creates, pairs and connects an instance with its own webhook path at the receiver. */
  pair(): Promise<PairedInstance>;
  clientOf(instance: PairedInstance): Client;
  isConnected(instance: PairedInstance): Promise<boolean>;
  /** Runs SQL on the gateway's database. */
  rows<Row extends object>(text: string, ...values: unknown[]): Promise<Row[]>;
  /** Changes when a lane changes its owner. */
  laneEpochs(): Promise<string>;
  drained(timeoutMs?: number): Promise<void>;
  end(): Promise<void>;
}

/** Uses its own database. Outside a test run, pass the server. */
export async function createE2eStory(more: Record<string, string> = {}, server?: string): Promise<E2eStory> {
  const store = await createTestDatabase(server);
  const { path: dataDir, remove } = await makeScratchDir("waygate-e2e-");
  const receiver = await startReceiver();
  const launched: LaunchedGateway[] = [];
  const settings = {
    NODE_ENV: "test",
    WAYGATE_PORT: "0",
    // Nothing listens there: no test may reach the real network.
    WAYGATE_WHATSAPP_URL: "ws://127.0.0.1:1/",
    WAYGATE_DATA_DIR: dataDir,
    DATABASE_URL: store.url,
    WAYGATE_SECRET_KEY: randomBytes(32).toString("base64"),
    WAYGATE_OWNER_EMAIL: OWNER.email,
    WAYGATE_OWNER_PASSWORD: OWNER.password,
    WAYGATE_LOG_LEVEL: "warn",
    WAYGATE_ALLOWED_HOSTS: "external,private,loopback",
    WAYGATE_UNKNOWN_OUTCOME_WAIT: "1s",
    // No scheduled backup may run during a test.
    WAYGATE_BACKUP_AT: "off",
    // The event loop of a busy test machine is slow.
    WAYGATE_MAX_LAG: "0s",
    ...more,
  };
  let current: SpawnedGateway | undefined;
  let paired = 0;

  const story: E2eStory = {
    store,
    receiver,
    settings,
    get gateway() {
      if (!current) throw new Error("the gateway has not been started");
      return current;
    },
    launch(changed = {}) {
      const gateway = launchGateway({ ...settings, ...changed });
      launched.push(gateway);
      return gateway;
    },
    async start(changed) {
      const gateway = story.launch(changed);
      current = { ...gateway, url: await gateway.listening };
      return current;
    },
    async dieAt(point, work) {
      const gateway = story.launch({ WAYGATE_FAULT_POINT: point });
      // Unfinished work of the previous process may kill it before it listens.
      await gateway.listening.then(
        (url) => {
          current = { ...gateway, url };
        },
        () => {},
      );
      await work?.();
      const alive = AbortSignal.timeout(DIES_WITHIN_MS);
      alive.addEventListener("abort", () => void gateway.kill("SIGTERM"));
      const { signal } = await gateway.exited;
      if (signal !== "SIGKILL") throw new Error(`it did not die at ${point}:\n${gateway.output()}`);
    },
    async signIn() {
      return (await signIn(story.gateway.url)).client;
    },
    async pair() {
      const owner = await story.signIn();
      const phone = newPhone();
      const { data } = await owner.createInstance({
        name: "Sales",
        network: "sandbox",
        webhook_url: `${receiver.url}/${inLetters(++paired)}`,
      });
      const { id, api_key, webhook_secret } = data;
      receiver.trust(webhook_secret);
      await owner.sandboxScan({ id, phone });
      const instance = { id, phone, api_key };
      await waitUntil(() => story.isConnected(instance));
      return instance;
    },
    clientOf: ({ api_key }) => createClient({ baseUrl: story.gateway.url, apiKey: api_key }),
    async isConnected(instance) {
      return (await story.clientOf(instance).getInstanceStatus({ id: instance.id })).data.connected;
    },
    async rows(text, ...values) {
      return (await store.database.pool.query(text, values)).rows;
    },
    async laneEpochs() {
      const lanes = "select id, epoch from lane where kind in ('session', 'webhook') order by id";
      return JSON.stringify(await story.rows(lanes));
    },
    async drained(timeoutMs = 60_000) {
      const left = () => story.rows(WORK_LEFT);
      await waitUntil(async () => (await left()).length === 0, timeoutMs).catch(async (error) => {
        throw new Error(`${error.message}, there is left: ${JSON.stringify(await left())}`);
      });
    },
    async end() {
      await Promise.all(launched.map((gateway) => gateway.kill()));
      await receiver.close();
      await store.drop();
      await remove();
    },
  };
  return story;
}

/** The path in the table identifies the receiver. A number could be masked as a token. */
function inLetters(number: number): string {
  return String(number).replaceAll(/\d/g, (digit) => "abcdefghij".charAt(Number(digit)));
}
