import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/database.ts";
import { startTestGateway, type TestGateway, type TestInstance, waitUntil } from "../../test/gateway.ts";
import { inBase64, SAMPLE } from "../../test/sample-files.ts";
import { type DatabaseProxy, startDatabaseProxy } from "../../test/servers/database-proxy.ts";
import { createClient, type WaygateError } from "../client/client.ts";

let store: TestDatabase;
let proxy: DatabaseProxy;
let gateway: TestGateway;
let shop: TestInstance;

beforeAll(async () => {
  store = await createTestDatabase();
  await store.database.pool.query(HANGING_COMMITS);
  proxy = await startDatabaseProxy(store.url);
  gateway = await startTestGateway({
    DATABASE_URL: proxy.url,
    WAYGATE_ACK_TIMEOUT: "3s",
    WAYGATE_UNKNOWN_OUTCOME_WAIT: "1s",
  });
  shop = await gateway.connectInstance();
});

afterAll(async () => {
  await release();
  await gateway.stop();
  await proxy.close();
  await store.drop();
});

beforeEach(async () => {
  await release();
  // The database of the previous test is available again.
  await waitUntil(async () => (await shop.client.getInstanceStatus({ id: shop.id })).data.connected);
});

/** While `stall` has a row, an insert of a message waits before its commit, as for a disk or a standby. */
const HANGING_COMMITS = `
  create table stall ();
  create function wait_for_disk() returns trigger language plpgsql as $$ begin
    while exists (select from stall) loop perform pg_sleep(0.02); end loop;
    return null;
  end $$;
  create trigger stalled after insert on message for each statement execute function wait_for_disk()`;

const stall = () => store.database.pool.query("insert into stall default values");
const release = () => store.database.pool.query("delete from stall");

async function hanging(): Promise<number[]> {
  const { rows } = await store.database.pool.query<{ pid: number }>(
    "select pid from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'",
  );
  return rows.map(({ pid }) => pid);
}

/** An async send with a file whose connection breaks during its commit, which continues. */
async function sendIntoStall(number: string): Promise<{ sending: Promise<SendResult> }> {
  const input = { id: shop.id, number, base64: inBase64(SAMPLE.png), async: true } as const;
  await stall();
  const sending = shop.client
    .sendMedia(input)
    .then(({ pendingMessageId = "" }) => ({ status: 202, message_id: pendingMessageId }), toResult);
  await cutInCommit();
  return { sending };
}

async function cutInCommit(): Promise<void> {
  await waitUntil(async () => (await hanging()).length > 0);
  proxy.cut();
  proxy.restore();
}

const succeeded = (): SendResult => ({ status: 200 });

function toResult({ status, code, details }: WaygateError): SendResult {
  return { status, code, ...(details as object) };
}

type SendResult = { status: number; code?: string; message_id?: string; sent?: unknown };

async function messagesTo(number: string): Promise<{ message_id: string; status: string }[]> {
  const { rows } = await store.database.pool.query(
    "select message_id, status from message where jid like $1 || '@%' and outcome_at is not null",
    [number],
  );
  return rows;
}

/** How many events report the message as failed. */
async function countReportedFailures({ message_id = "" }: SendResult): Promise<number> {
  const { rows } = await store.database.pool.query<{ body: string }>(
    "select convert_from(body, 'UTF8') as body from event where event = 'message.failed'",
  );
  return rows.filter(({ body }) => body.includes(message_id)).length;
}

async function filesLeft(): Promise<number> {
  const { rows } = await store.database.pool.query<{ count: number }>(
    "select count(*)::int as count from outgoing_media",
  );
  return rows[0]?.count ?? 0;
}

async function isResponding(): Promise<boolean> {
  return shop.client.getInstanceStatus({ id: shop.id }).then(
    () => true,
    () => false,
  );
}

test("a commit that hangs until the deadline returns 504, and its file goes out afterwards", async () => {
  const number = "5511966670018";
  const { sending } = await sendIntoStall(number);
  const response = await sending;
  expect(response).toMatchObject({ status: 504, code: "SEND_TIMEOUT", sent: "unknown" });
  expect(await filesLeft()).toBe(1);
  await release();
  await waitUntil(async () => (await messagesTo(number)).length > 0);
  expect(await messagesTo(number)).toEqual([
    { message_id: response.message_id, status: expect.stringMatching(/sent|delivered|read/) },
  ]);
  await waitUntil(async () => (await filesLeft()) === 0);
});

test("a sync send that commits after its response never starts, is reported, and frees its key", async () => {
  const number = "5511966670048";
  const input = { id: shop.id, number, text: "Too late", async: false } as const;
  const send = () => shop.client.sendText(input, { idempotencyKey: "too-late" });
  await stall();
  const sending = send().then(succeeded, toResult);
  await cutInCommit();
  const response = await sending;
  expect(response).toMatchObject({ status: 504, code: "SEND_TIMEOUT", sent: "unknown" });
  await release();
  await waitUntil(async () => (await messagesTo(number)).length > 0);
  expect(await messagesTo(number)).toMatchObject([{ message_id: response.message_id, status: "failed" }]);
  expect(await countReportedFailures(response)).toBe(1);
  await waitUntil(isResponding);
  const { data } = await send();
  expect(data.message_id).not.toBe(response.message_id);
  expect(await messagesTo(number)).toHaveLength(2);
});

test("a sync send during a database failure returns 504, and its result is reported later", async () => {
  const number = "5511966670002";
  const input = { id: shop.id, number, text: "On its way" };
  const sending = shop.client.sendText(input).then(succeeded, toResult);
  const arrived = "select from sandbox.ledger where outcome = 'silent'";
  await waitUntil(async () => (await store.database.pool.query(arrived)).rows.length > 0);
  proxy.cut();
  const response = await sending;
  proxy.restore();
  expect(response).toMatchObject({ status: 504, code: "SEND_TIMEOUT", sent: "unknown" });
  await waitUntil(async () => (await messagesTo(number)).length > 0);
  expect(await messagesTo(number)).toMatchObject([{ message_id: response.message_id, status: "failed" }]);
  expect(await countReportedFailures(response)).toBe(1);
});

describe("a send with a broken commit long before the deadline", () => {
  beforeAll(async () => {
    await gateway.restart({ WAYGATE_ACK_TIMEOUT: "30s" });
    shop = { ...shop, client: createClient({ baseUrl: gateway.url, apiKey: shop.api_key }) };
  });

  test("returns 503 and leaves nothing behind if the commit is impossible", async () => {
    const number = "5511966670038";
    const { sending } = await sendIntoStall(number);
    for (const pid of await hanging())
      await store.database.pool.query("select pg_terminate_backend($1)", [pid]);
    expect(await sending).toMatchObject({ status: 503, code: "QUEUE_UNAVAILABLE" });
    await release();
    expect(await filesLeft()).toBe(0);
    const { rows } = await store.database.pool.query("select from message where jid like $1 || '@%'", [
      number,
    ]);
    expect(rows).toEqual([]);
  });

  test("returns the normal response if the commit completes while the gateway checks for it", async () => {
    const number = "5511966670028";
    const { sending } = await sendIntoStall(number);
    await waitUntil(isResponding);
    await release();
    const response = await sending;
    expect(response.status).toBe(202);
    await waitUntil(async () => (await messagesTo(number)).length > 0);
    expect(await messagesTo(number)).toMatchObject([{ message_id: response.message_id }]);
  });
});
