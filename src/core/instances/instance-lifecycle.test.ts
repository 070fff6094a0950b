import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ADMIN_TOKEN, type TestInstance } from "../../../test/gateway.ts";
import { createHttpRequester } from "../../../test/http-requester.ts";
import {
  type MessagingStory,
  startMessagingStory,
  waitUntil,
} from "../../../test/stories/messaging-story.ts";
import { createSandboxControl } from "../../network/sandbox/sandbox-control.ts";
import { openDatabase } from "../../platform/db/database.ts";
import { recordEvents } from "../events/events.ts";

let story: MessagingStory;

beforeAll(async () => {
  story = await startMessagingStory();
});
afterAll(() => story.stop());

const db = () => story.gateway.database.db;
let personCount = 0;
const newNumber = () => `55116${7000 + personCount++}1111`;

describe("creating an instance with an Idempotency-Key", () => {
  const create = (key: string, body: object) => {
    const headers = { admintoken: ADMIN_TOKEN, "idempotency-key": key };
    return createHttpRequester(() => story.gateway.url)(
      "POST /instance/create",
      { network: "sandbox", ...body },
      headers,
    );
  };
  const named = async (name: string) =>
    (await db().selectFrom("instance").select("id").where("name", "=", name).execute()).length;

  test("creates one instance for two requests, and returns the same response with the secrets", async () => {
    const body = { name: "Once", webhook_url: "https://hook.example/in" };
    const first = await create("once", body);
    const second = await create("once", { webhook_url: body.webhook_url, name: body.name });
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(second.body.data).toEqual(first.body.data);
    expect(second.body.token).toMatch(/^wg_/);
    expect([first, second].map(({ headers }) => headers.get("idempotent-replayed"))).toEqual([null, "true"]);
    expect(await named("Once")).toBe(1);
    const { rows } = await sql<{ response: Buffer }>`select response from account_idempotency`.execute(db());
    expect(rows[0]?.response.includes(first.body.token)).toBe(false);
  });

  test("creates one instance for ten requests at once", async () => {
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => create("at-once", { name: "At once" })),
    );
    expect(responses.map(({ body }) => body)).toEqual(responses.map(() => responses[0]?.body));
    expect(responses[0]).toMatchObject({ status: 200, body: { data: { api_key: expect.any(String) } } });
    expect(await named("At once")).toBe(1);
  });

  test("rejects another body; a failure frees the key, and so does a day", async () => {
    await create("again", { name: "Again" });
    const other = await create("again", { name: "Another" });
    expect([other.status, other.body.code]).toEqual([422, "IDEMPOTENCY_MISMATCH"]);
    const settings = { send_delay_min_ms: 5, send_delay_max_ms: 1 };
    expect((await create("failed", { name: "Failed", settings })).status).toBe(400);
    expect((await create("failed", { name: "Failed" })).status).toBe(200);
    await sql`update account_idempotency set created_at = created_at - interval '25 hours'`.execute(db());
    expect((await create("again", { name: "Again" })).headers.get("idempotent-replayed")).toBeNull();
    expect(await named("Again")).toBe(2);
  });
});

describe("the logs of an instance", () => {
  const logs = (query: object = {}) => story.sales.client.listInstanceLogs({ id: story.sales.id, ...query });

  test("show messages, connections, deliveries and requests, newest first", async () => {
    const { data } = await story.sales.client.sendText({
      id: story.sales.id,
      number: newNumber(),
      text: "Hi",
    });
    await story.outcome(data.message_id ?? "");
    await refusedCall();
    await waitUntil(async () => (await logs()).data.api.some(({ code }) => code === "NOT_FOUND"));
    await waitUntil(async () => (await logs()).data.webhooks.length > 0);
    const { data: shown, pagination } = await logs({ limit: 3 });
    expect(shown.messages[0]).toMatchObject({
      message_id: data.message_id,
      direction: "outbound",
      origin: "api",
    });
    expect(shown.connections[0]).toMatchObject({ status: "connected" });
    expect(shown.webhooks[0]).toMatchObject({ success: true, url: story.receiver.url });
    expect(pagination).toMatchObject({ limit: 3, next_cursor: null });
    const { data: all } = await logs({ type: "api", limit: 200 });
    const sent = all.api.find(({ route }) => route.endsWith("/send-text"));
    expect(sent).toMatchObject({
      method: "POST",
      route: "/api/v1/instances/:id/send-text",
      status: 200,
      code: null,
      caller: "key",
      key_last4: story.sales.api_key.slice(-4),
      ip: "127.0.0.0",
      request_id: expect.stringMatching(/^req_/),
    });
    expect(JSON.stringify(all)).not.toContain(story.sales.api_key);
    expect(all.messages).toEqual([]);
  });

  const refusedCall = () => story.request(`GET /api/v1/instances/${story.sales.id}/webhook-events/evt_none`);

  test("keep stable pages while rows are added", async () => {
    const seen: number[] = [];
    let cursor: string | undefined;
    const { data: newest } = await logs({ type: "messages", limit: 1 });
    do {
      const page = await logs({ type: "messages", limit: 2, cursor });
      seen.push(...page.data.messages.map(({ id }) => id));
      cursor = page.pagination.next_cursor ?? undefined;
      await story.sales.client.sendText({ id: story.sales.id, number: newNumber(), text: "More" });
    } while (cursor);
    expect(seen[0]).toBe(newest.messages[0]?.id);
    expect(new Set(seen).size).toBe(seen.length);
  });

  test("can be limited to what went wrong or did not, and to a time, the end of which is excluded", async () => {
    const { id, client } = await story.join({ name: "Banned" });
    await client.sandboxBan({ id });
    await waitUntil(async () => (await client.getInstanceStatus({ id })).data.status === "banned");
    const find = async (filter: { failed?: string; since?: string; until?: string } = {}) =>
      (await client.listInstanceLogs({ id, type: "connections", ...filter })).data.connections;
    const statuses = async (filter: object) => (await find(filter)).map(({ status }) => status);
    expect(await statuses({ failed: "true" })).toEqual(["banned"]);
    const well = await statuses({ failed: "false" });
    expect(well).toContain("connected");
    expect([...well, "banned"].sort()).toEqual((await statuses({})).sort());
    const at = (await find())[0]?.created_at ?? "";
    const from = (ms: number) => new Date(Date.parse(at) + ms).toISOString();
    expect(await statuses({ since: from(1_000) })).toEqual([]);
    expect(await statuses({ since: at })).toContain("banned");
    expect(await statuses({ until: from(-3_600_000) })).toEqual([]);
    await expect(find({ since: "yesterday" })).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  });

  test("reject a cursor without a type, and an unknown type", async () => {
    for (const query of ["cursor=MQ", "type=secrets", "type=api&cursor=nonsense"]) {
      const { status, body } = await story.request(`GET /api/v1/instances/${story.sales.id}/logs?${query}`);
      expect([query, status, body.code]).toEqual([query, 400, "VALIDATION_ERROR"]);
    }
  });
});

test("the status shows the messages of 24 hours, and the time since the last inbound message", async () => {
  const shop = await story.join({ name: "Activity" });
  const status = async () => (await shop.client.getInstanceStatus({ id: shop.id })).data;
  expect(await status()).toMatchObject({
    seconds_since_last_inbound: null,
    messages_24h: 0,
    last_errors: [],
  });
  const received = await shop.client.sandboxReceive({ id: shop.id, from: newNumber(), text: "Hi" });
  await waitUntil(async () => (await status()).messages_24h === 1);
  await shop.client
    .sendText({ id: shop.id, number: `${newNumber().slice(0, 9)}0001`, text: "Hi" })
    .catch(() => {});
  await sql`update message set created_at = created_at - interval '100 seconds'
    where message_id = ${received.data.message_id}`.execute(db());
  const now = await status();
  const at = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/);
  expect(now).toMatchObject({ messages_24h: 2, failures_24h: 1, last_errors: [{ code: "SEND_FAILED", at }] });
  expect(now.seconds_since_last_inbound).toBeGreaterThanOrEqual(100);
});

describe("a proxy of an instance", () => {
  test("reopens the live session without logging out, and is stored sealed", async () => {
    const shop = await story.join({ name: "Moved" });
    const row = () =>
      db()
        .selectFrom("instance")
        .select(["connected_at", "jid", "proxy", "status"])
        .where("id", "=", shop.id)
        .executeTakeFirstOrThrow();
    const before = await row();
    const proxy = { url: "http://user:secret@127.0.0.1:3999" };
    await shop.client.updateInstance({ id: shop.id, proxy });
    const isBack = async (earlier: Date | null) => {
      const now = await row();
      return (
        now.status === "connected" && now.connected_at !== null && now.connected_at > (earlier ?? new Date(0))
      );
    };
    await waitUntil(() => isBack(before.connected_at));
    const after = await row();
    expect(after.jid).toBe(before.jid);
    expect(after.proxy?.includes("secret")).toBe(false);
    await shop.client.updateInstance({ id: shop.id, proxy, name: "Still there" });
    expect((await row()).connected_at).toEqual(after.connected_at);
    await shop.client.updateInstance({ id: shop.id, proxy: null });
    await waitUntil(() => isBack(after.connected_at));
    expect((await row()).proxy).toBeNull();
  });
});

describe("removing an instance", () => {
  test("deletes its delivery log with the receivers' addresses, but no log of another instance", async () => {
    const [gone, stays] = [await story.join({ name: "Gone" }), await story.join({ name: "Stays" })];
    for (const { id, client } of [gone, stays]) {
      const hook = { id, name: "Hook", url: "http://127.0.0.1:1/secret-path" };
      const { data } = await client.createWebhook({ ...hook, events: ["message.received"] });
      await expect(client.testWebhook({ id, webhookId: data.id })).rejects.toMatchObject({ status: 502 });
    }
    const logged = async ({ id }: { id: number }) =>
      (await db().selectFrom("attempt").select("url").where("instance_id", "=", id).execute()).length;
    for (const instance of [gone, stays]) expect(await logged(instance)).toBeGreaterThan(0);
    await gone.client.deleteInstance({ id: gone.id });
    expect(await logged(gone)).toBe(0);
    expect(await logged(stays)).toBeGreaterThan(0);
  });

  test.each([
    ["connected", async () => {}],
    ["logged out", ({ id, client }: TestInstance) => client.logoutInstance({ id })],
  ] as const)(
    "that is %s deletes its data in the sandbox network at once, and no other data",
    async (_, prepare) => {
      const [gone, stays] = [await story.join({ name: "Gone" }), await story.join({ name: "Stays" })];
      const before = [];
      for (const { id, phone, client } of [gone, stays]) {
        const { rows: accounts } = await sql<{ account_id: number }>`
        select account_id from instance where id = ${id}`.execute(db());
        const network = createSandboxControl(story.gateway.database.pool, accounts[0]?.account_id ?? 0);
        const from = newNumber();
        const received = await network.receive(phone, { from, content: { kind: "text", text: "Hello" } });
        const { data } = await client.sendText({ id, number: from, text: "Hi" });
        await waitUntil(async () => (await story.ledger({ message_id: data.message_id })).length > 0);
        await waitUntil(async () => (await storedOf(id)) === 2);
        const files = [`${from}/${received}`, `${phone}/${data.message_id}`];
        await sql`
        insert into sandbox.media (id, bytes, account_id)
        select unnest(${files}::text[]), 'x', ${accounts[0]?.account_id}`.execute(db());
        const entry = { id: "UNREAD", sender: { phone: from } };
        await sql`
        insert into sandbox.inbox (device, chat, kind, body, due_at)
        select id, 'chat', 'message', ${JSON.stringify(entry)}, now() + interval '1 day'
        from sandbox.device where phone = ${phone} and linked_at is not null`.execute(db());
        before.push({ id, phone, from, files });
      }
      const [left, kept] = before.map((one) => () => keptOf(one));
      expect(await left?.()).toEqual({ messages: 2, files: 2, entries: 1, has_log: true });
      await prepare(gone);
      await gone.client.deleteInstance({ id: gone.id });
      expect(await left?.()).toEqual({ messages: 0, files: 0, entries: 0, has_log: false });
      expect(await kept?.()).toEqual({ messages: 2, files: 2, entries: 1, has_log: true });
    },
  );

  async function storedOf(id: number): Promise<number> {
    return (await db().selectFrom("message").select("id").where("instance_id", "=", id).execute()).length;
  }

  /** The sandbox network's rows for a phone and its senders. */
  async function keptOf({ phone, from, files }: { phone: string; from: string; files: string[] }) {
    const devices = sql`select id from sandbox.device where phone = ${phone}`;
    const { rows } = await sql`
      select (select count(*) from sandbox.message where phone in (${phone}, ${from})) as messages,
        (select count(*) from sandbox.media where id = any(${files})) as files,
        (select count(*) from sandbox.inbox where device in (${devices}) and due_at > now() + interval '1 hour') as entries,
        exists (select from sandbox.ledger where device in (${devices})) as has_log`.execute(db());
    return rows[0];
  }

  test("leaves no job in a deleted lane, even if an event is recorded meanwhile", async () => {
    const shop = await story.join({ name: "Gone" });
    const other = openDatabase(story.gateway.database.url, { max: 3 });
    try {
      const held = await hold(other.db, shop.id);
      const removing = shop.client.deleteInstance({ id: shop.id });
      await waitUntil(() => areWaiting(1));
      const draft = {
        event: "instance.connected",
        instance_id: shop.id,
        chat: "instance",
        data: {},
      } as const;
      const recording = other.db.transaction().execute((trx) => recordEvents(trx, [draft]));
      await waitUntil(() => areWaiting(2));
      await held.release();
      await Promise.all([removing, recording]);
      const { rows } = await sql`
        select from job where not exists (select from lane where lane.id = job.lane)`.execute(db());
      expect(rows).toEqual([]);
    } finally {
      await other.close();
    }
  });

  /** Locks the webhooks of an instance, which stops its removal in the middle. */
  async function hold(own: ReturnType<typeof db>, id: number) {
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let isHeld = false;
    const done = own.transaction().execute(async (trx) => {
      await sql`set local idle_in_transaction_session_timeout = 0`.execute(trx);
      await trx.selectFrom("webhook").select("id").where("instance_id", "=", id).forUpdate().execute();
      isHeld = true;
      await released;
    });
    await waitUntil(() => isHeld);
    return {
      release: async () => {
        release();
        await done;
      },
    };
  }

  async function areWaiting(many: number): Promise<boolean> {
    const { rows } = await sql<{ n: number }>`
      select count(*) as n from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(db());
    return (rows[0]?.n ?? 0) >= many;
  }
});
