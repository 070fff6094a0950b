import { DEFAULT_CONNECTION_CONFIG } from "baileys";
import { sql } from "kysely";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  newPhone,
  startTestGateway,
  type TestGateway,
  type TestInstance,
  waitUntil,
} from "../../../../test/gateway.ts";
import { startWebClientServer, type WebClientServer } from "../../../../test/servers/web-client-server.ts";
import { startWhatsAppServer, type WhatsAppServer } from "../../../../test/whatsapp-server/server.ts";
import { trustAuthority } from "../../../../test/whatsapp-stage.ts";
import { createClient } from "../../../client/client.ts";
import { BUILT_IN_REVISION } from "../../../core/client-version/find-revision.ts";

const HOUR_MS = 3_600_000;
const FIRST = BUILT_IN_REVISION + 70_000;
const SECOND = FIRST + 70_000;
const THIRD = SECOND + 70_000;

let web: WebClientServer;
let network: WhatsAppServer;
let running: TestGateway;
let raisedAt: number;

async function start(env: Record<string, string> = {}): Promise<void> {
  running = await startTestGateway({
    WAYGATE_WHATSAPP_URL: network.url,
    WAYGATE_WHATSAPP_ROOT_KEY: network.rootKeyHex,
    WAYGATE_CLIENT_VERSION_ORIGIN: web.origin,
    WAYGATE_METRICS_TOKEN: "metrics-token-of-the-test",
    ...env,
  });
}

const versionOf = async (url = running.url) => {
  const { detail } = await createClient({
    baseUrl: url,
    adminToken: "test-admin-token-that-is-long-enough",
  }).health();
  return detail?.client_version;
};
const isFetched = (revision: number, url?: string) =>
  waitUntil(async () => (await versionOf(url))?.version === `2.3000.${revision}`);
/** Versions of all logins since the minimum was raised, in order. */
const logins = async () =>
  (await network.control.ledger()).sockets
    .filter(({ opened_at }) => opened_at > raisedAt)
    .map(({ version }) => Number(version?.split(".")[2]));

async function createInstance(): Promise<TestInstance> {
  const { data } = await running.owner.createInstance({ name: "Sales", network: "whatsapp" });
  const client = createClient({ baseUrl: running.url, apiKey: data.api_key });
  return { ...data, phone: newPhone(), client };
}

const statusOf = async ({ client, id }: TestInstance) => (await client.getInstanceStatus({ id })).data;
const isConnected = (instance: TestInstance) => waitUntil(async () => (await statusOf(instance)).connected);

async function pair(): Promise<TestInstance> {
  const instance = await createInstance();
  await network.control.addPerson({ phone: instance.phone });
  const { data } = await instance.client.connectInstance({ id: instance.id, wait_seconds: 30 });
  await network.control.scan(instance.phone, data.qr_code ?? "");
  await isConnected(instance);
  return instance;
}

/** Advances the clock of the version search. */
async function later(ms: number): Promise<void> {
  const by = sql`${ms}::float8 * interval '1 millisecond'`;
  const { db } = running.database;
  await sql`
    update client_version set found_at = found_at - ${by}, searched_at = searched_at - ${by},
      changed_at = changed_at - ${by}, requested_at = requested_at - ${by}`.execute(db);
}

/** Waits until the scheduled run has ended and started its reconnects. */
const searchIsOver = () =>
  waitUntil(async () => {
    const { rows } = await running.database.pool.query(
      "select 1 from job where grp = 'client-version' and run_at > now()",
    );
    return rows.length === 1;
  });

/** Rejects all older clients and ends open connections. */
async function raiseFloor(revision: number, { phone }: TestInstance): Promise<void> {
  await network.control.settings({ oldestRevision: revision });
  raisedAt = Date.now();
  await network.control.end(phone, 428);
}

test("The client version built into Waygate is the one of the pinned Baileys", () => {
  expect(DEFAULT_CONNECTION_CONFIG.version).toEqual([2, 3000, BUILT_IN_REVISION]);
});

describe("A gateway", () => {
  beforeEach(async () => {
    [web, network] = await Promise.all([startWebClientServer(FIRST), startWhatsAppServer()]);
    trustAuthority(network.caFile);
    raisedAt = 0;
  });

  afterEach(async () => {
    await running.stop();
    await Promise.all([web.close(), network.close()]);
  });

  test("logs in as the version that web.whatsapp.com serves, and shows it to operators", async () => {
    await start();
    await isFetched(FIRST);
    await pair();
    expect(new Set(await logins())).toEqual(new Set([FIRST]));
    expect(await versionOf()).toMatchObject({
      source: "fetched",
      searching: true,
      problem: null,
      age_seconds: expect.any(Number),
      found_at: expect.any(String),
    });
    const headers = { authorization: "Bearer metrics-token-of-the-test" };
    const metrics = await (await fetch(`${running.url}/metrics`, { headers })).text();
    expect(metrics).toContain(
      `waygate_whatsapp_client_version_info{version="2.3000.${FIRST}",source="fetched"} 1`,
    );
    expect(metrics).toMatch(/^waygate_whatsapp_client_version_age_seconds \d+$/m);
  });

  test("does not wait for the version: it pairs as the built-in one while the search hangs", async () => {
    for (const path of ["/sw.js", "/"] as const) web.respond(path, () => {});
    await start();
    await waitUntil(() => web.requests.length > 0);
    await pair();
    expect(new Set(await logins())).toEqual(new Set([BUILT_IN_REVISION]));
    expect(await versionOf()).toMatchObject({ source: "built-in", found_at: null, age_seconds: null });
  });

  test.each([
    ["HTTP 400", 400, ""],
    ["garbage", 200, "<html>"],
    ["a number that is no revision", 200, '"client_revision":1795000000,'],
  ])("keeps its current version when the response is %s", async (_what, status, body) => {
    await start();
    await isFetched(FIRST);
    for (const path of ["/sw.js", "/"] as const) {
      web.respond(path, (response) => void response.writeHead(status).end(body));
    }
    await later(24 * HOUR_MS);
    await running.advance(HOUR_MS);
    await waitUntil(async () => (await versionOf())?.problem);
    await pair();
    expect(new Set(await logins())).toEqual(new Set([FIRST]));
  });

  test("logs in as the version that a list of others names while WhatsApp's own pages cannot be read", async () => {
    for (const path of ["/sw.js", "/"] as const) {
      web.respond(path, (response) => void response.writeHead(400).end());
    }
    web.respond("/versions.json", (response) =>
      response.end(JSON.stringify({ currentVersion: `2.3000.${SECOND}-alpha` })),
    );
    await start();
    await isFetched(SECOND);
    expect(await versionOf()).toMatchObject({ source: "listed", problem: expect.stringContaining("400") });
    await pair();
    expect(new Set(await logins())).toEqual(new Set([SECOND]));
    web.publish(FIRST);
    await searchIsOver();
    await later(HOUR_MS);
    await running.advance(HOUR_MS);
    await isFetched(FIRST);
    expect(await versionOf()).toMatchObject({ source: "fetched", problem: null });
  });

  test("asks the list of others at once when its version is refused and WhatsApp's own pages cannot be read", async () => {
    await start();
    await isFetched(FIRST);
    const instance = await pair();
    await later(HOUR_MS);
    for (const path of ["/sw.js", "/"] as const) {
      web.respond(path, (response) => void response.writeHead(400).end());
    }
    web.respond("/versions.json", (response) =>
      response.end(JSON.stringify({ currentVersion: `2.3000.${SECOND}-alpha` })),
    );
    await raiseFloor(SECOND, instance);
    await waitUntil(async () => (await logins()).includes(SECOND));
    await isConnected(instance);
    expect(await versionOf()).toMatchObject({ source: "listed" });
  });

  test("does not go back to an older version", async () => {
    web.publish(SECOND);
    await start();
    await isFetched(SECOND);
    web.publish(FIRST);
    await later(24 * HOUR_MS);
    await running.advance(HOUR_MS);
    await waitUntil(async () => (await versionOf())?.problem?.includes(`older than ${SECOND}`));
    expect((await versionOf())?.version).toBe(`2.3000.${SECOND}`);
  });

  test("searches for a newer version at once when its own is refused, and connects with it", async () => {
    await start();
    await isFetched(FIRST);
    const instance = await pair();
    await later(HOUR_MS);
    web.publish(SECOND);
    await raiseFloor(SECOND, instance);
    await waitUntil(async () => (await logins()).includes(SECOND));
    await isConnected(instance);
    expect(await logins()).toEqual([FIRST, SECOND]);
  });

  test("shows a QR although the version of its first connection is refused", async () => {
    await start();
    await isFetched(FIRST);
    web.publish(SECOND);
    await later(HOUR_MS);
    await network.control.settings({ oldestRevision: SECOND });
    await pair();
    expect(await logins()).toEqual([FIRST, SECOND, SECOND]);
  });

  test("stops using a refused version, and reconnects by itself when a newer one is served", async () => {
    await start();
    await isFetched(FIRST);
    const instance = await pair();
    await later(HOUR_MS);
    await raiseFloor(SECOND, instance);
    await waitUntil(async () => (await statusOf(instance)).status === "error");
    const { reason } = await statusOf(instance);
    expect(reason).toContain(`outdated: WhatsApp rejects version 2.3000.${FIRST}`);
    expect(reason).toContain("web.whatsapp.com offers no newer one");
    const asked = web.requests.length;
    await running.advance(HOUR_MS);
    expect(await logins()).toEqual([FIRST]);
    web.publish(THIRD);
    await later(24 * HOUR_MS);
    await running.advance(HOUR_MS);
    await isConnected(instance);
    expect(await logins()).toEqual([FIRST, THIRD]);
    expect(web.requests.length).toBe(asked + 1);
  });

  test("does not restart a pairing that was refused, because no user would scan its QR code", async () => {
    await start();
    await isFetched(FIRST);
    await network.control.settings({ oldestRevision: THIRD });
    const instance = await createInstance();
    const { client, id } = instance;
    await expect(client.connectInstance({ id, wait_seconds: 30 })).rejects.toMatchObject({
      code: "CONNECT_FAILED",
      details: { status: "error", reason: expect.stringContaining("outdated") },
    });
    expect((await statusOf(instance)).pairing_error).toMatchObject({
      code: "client_outdated",
      message: expect.stringContaining(`2.3000.${FIRST}`),
      action: expect.stringContaining("looks again every day"),
    });
    expect(await logins()).toEqual([FIRST]);
    web.publish(THIRD);
    await later(24 * HOUR_MS);
    await running.advance(HOUR_MS);
    await isFetched(THIRD);
    await searchIsOver();
    expect((await statusOf(instance)).status).toBe("error");
    const { data } = await client.connectInstance({ id, wait_seconds: 30 });
    expect(data.qr_code).toContain("https://wa.me/");
    expect(await logins()).toEqual([FIRST, THIRD]);
  });

  test("shares the version with the other nodes of its database, and one node requests it", async () => {
    await start();
    await isFetched(FIRST);
    const other = await running.addNode();
    await isFetched(FIRST, other.url);
    // Notifications are sent only to known nodes.
    await waitUntil(() => running.gateway.engine.countLiveNodes("sessions") === 2);
    web.publish(SECOND);
    await later(24 * HOUR_MS);
    const asked = web.requests.length;
    await running.advance(HOUR_MS);
    await isFetched(SECOND);
    await isFetched(SECOND, other.url);
    expect(web.requests.length).toBe(asked + 1);
  });

  test("warns each linked instance of the day from which WhatsApp refuses its version, once for each warning", async () => {
    await start();
    await isFetched(FIRST);
    const instance = await pair();
    await instance.client.createWebhook({
      id: instance.id,
      url: "http://127.0.0.1:1/hook",
      events: ["instance.attention"],
    });
    await running.addNode();
    // Notifications are sent only to known nodes.
    await waitUntil(() => running.gateway.engine.countLiveNodes("sessions") === 2);
    const announce = (t?: string) =>
      network.control.push(instance.phone, {
        tag: "ib",
        attrs: { from: "s.whatsapp.net" },
        content: [{ tag: "client_expiration", attrs: t === undefined ? {} : { t } }],
      });
    const inDays = (days: number) => Math.floor(Date.now() / 1000) + days * 86_400;
    const warnings = async () => {
      const { rows } = await running.database.pool.query<{ body: Buffer }>(
        "select body from event where event = 'instance.attention' order by id",
      );
      return rows.map(({ body }) => JSON.parse(body.toString()).data);
    };
    for (const nonsense of ["soon", "-1", "", "4294967295", "99999999999999999999", "0"])
      await announce(nonsense);
    await announce(String(inDays(10)));
    const at = new Date(inDays(10) * 1000).toISOString();
    await waitUntil(async () => (await versionOf())?.expires_at);
    expect(Math.abs(Date.parse((await versionOf())?.expires_at ?? "") - Date.parse(at))).toBeLessThan(60_000);
    await waitUntil(async () => (await warnings()).length === 1);
    expect(await warnings()).toMatchObject([{ code: "client_expiring", phone: instance.phone }]);
    await announce(String(inDays(12)));
    await announce(String(inDays(10)));
    await sql`update client_version set expires_at = now() + interval '60 hours'`.execute(
      running.database.db,
    );
    await searchIsOver();
    await running.advance(HOUR_MS);
    await waitUntil(async () => (await warnings()).length === 2);
    await searchIsOver();
    await running.advance(HOUR_MS);
    await searchIsOver();
    expect(await warnings()).toHaveLength(2);
    const headers = { authorization: "Bearer metrics-token-of-the-test" };
    const metrics = await (await fetch(`${running.url}/metrics`, { headers })).text();
    expect(metrics).toMatch(/^waygate_whatsapp_client_version_remaining_seconds \d+$/m);
    await announce();
    await waitUntil(async () => (await versionOf())?.expires_at === null);
  });

  test("does not search when the version is set", async () => {
    await start({ WAYGATE_WHATSAPP_VERSION: `2.3000.${FIRST - 1}` });
    const instance = await pair();
    await raiseFloor(FIRST, instance);
    await waitUntil(async () => (await statusOf(instance)).status === "error");
    expect((await statusOf(instance)).reason).toContain("which WAYGATE_WHATSAPP_VERSION sets");
    expect(await versionOf()).toMatchObject({
      version: `2.3000.${FIRST - 1}`,
      source: "pinned",
      searching: false,
    });
    expect(web.requests).toEqual([]);
  });

  test("reports that its rules for outgoing requests forbid the search", async () => {
    await start({ WAYGATE_ALLOWED_HOSTS: "example.com" });
    await waitUntil(async () => (await versionOf())?.problem?.includes("not allowed"));
    const instance = await pair();
    await raiseFloor(FIRST, instance);
    await waitUntil(async () => (await statusOf(instance)).status === "error");
    expect((await statusOf(instance)).reason).toContain("Let the gateway reach https://web.whatsapp.com");
    expect(web.requests).toEqual([]);
  });
});
