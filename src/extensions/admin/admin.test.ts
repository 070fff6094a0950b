import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  ADMIN_TOKEN,
  startTestGateway,
  type TestGateway,
  type TestInstance,
  waitUntil,
} from "../../../test/gateway.ts";
import { PASSWORD, signIn } from "../../../test/sign-in.ts";
import { type Client, createClient } from "../../client/client.ts";
import { countSentMessages } from "../../core/plans/count-sent-messages.ts";
import { recommendAction } from "./recommend-action.ts";

let test: TestGateway;
let mine: TestInstance;
let reseller: Client;
let customer: { id: number; client: Client; instance: number; key: Client };

beforeAll(async () => {
  test = await startTestGateway({
    WAYGATE_UNKNOWN_RATE: "0",
    WAYGATE_TRUSTED_PROXIES: "127.0.0.1",
    WAYGATE_ADMIN_FROM: "127.0.0.1, 192.0.2.0/24",
  });
  mine = await test.connectInstance({ name: "Mine" });
  await mine.client.sendText({ id: mine.id, number: "5511987651234", text: "Hello" });
  await mine.client.sandboxReceive({ id: mine.id, from: "5511987651239", text: "Hi" });
  const received = { id: mine.id, event: "message.received" } as const;
  await waitUntil(async () => (await mine.client.listEvents(received)).data.length === 1);
  const made = await makeAccount(test.owner, "reseller");
  reseller = made.client;
  const theirs = await makeAccount(reseller, "client");
  const { data } = await theirs.client.createInstance({ name: "Theirs", network: "sandbox" });
  const key = createClient({ baseUrl: test.url, apiKey: data.api_key });
  customer = { ...theirs, instance: data.id, key };
});
afterAll(() => test.stop());

async function makeAccount(by: Client, account_type: "reseller" | "client") {
  const email = `${account_type}@example.com`;
  const { data } = await by.createAccount({ name: account_type, account_type, email, password: PASSWORD });
  return { id: data.id, client: (await signIn(test.url, { email })).client };
}

describe("an owner who manages other accounts", () => {
  it("finds the users of any account, to give one a new password", async () => {
    const { data: accounts } = await test.owner.listAccounts({ account_id: customer.id });
    expect(accounts).toMatchObject([{ id: customer.id, name: "client", users: 1 }]);
    const { data } = await test.owner.listAccountUsers({ id: customer.id });
    expect(data.map(({ email, role }) => [email, role])).toEqual([["client@example.com", "admin"]]);
    const missing = test.owner.listAccountUsers({ id: 999_999_999 });
    await expect(missing).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(reseller.listAccountUsers({ id: customer.id })).rejects.toMatchObject({ code: "FORBIDDEN" });
  });

  it("sees the data requests of all accounts by account, kind and state; a reseller those of its customers", async () => {
    const { requestId: id } = await (await customer.client.exportData()).json();
    const request = { id, account_id: customer.id, account_name: "client", request_type: "export" };
    expect((await reseller.listManagedDataRequests()).data).toMatchObject([request]);
    await (await test.owner.exportData()).json();
    expect((await test.owner.listManagedDataRequests()).data).toHaveLength(2);
    const { data } = await test.owner.listManagedDataRequests({
      account_id: customer.id,
      request_type: "export",
      status: "completed",
    });
    expect(data).toMatchObject([request]);
    expect((await test.owner.listManagedDataRequests({ request_type: "anonymize" })).data).toEqual([]);
    expect((await reseller.listManagedDataRequests()).data).toHaveLength(1);
    await expect(customer.client.listManagedDataRequests()).rejects.toMatchObject({ code: "FORBIDDEN" });
  });

  it("sees the running nodes in the monitor, which a reseller does not", async () => {
    const { nodes } = (await test.owner.adminMonitor()).data;
    expect(nodes).toHaveLength(1);
    expect(nodes[0]?.roles).toEqual(expect.arrayContaining(["sessions", "worker"]));
    expect((await reseller.adminMonitor()).data.nodes).toEqual([]);
  });
});

describe("the administration overview", () => {
  it("counts all accounts for the owner and the operator, and its own accounts for a reseller", async () => {
    const { data } = await test.owner.adminOverview();
    expect(data).toMatchObject({
      accounts: 3,
      active_accounts: 3,
      resellers: 1,
      customers: 1,
      users: 3,
      instances: 2,
      connected_instances: 1,
      failed_webhooks: 0,
    });
    expect((await test.admin.adminOverview()).data).toMatchObject({ accounts: 3, instances: 2 });
    expect((await reseller.adminOverview()).data).toMatchObject({
      accounts: 2,
      resellers: 1,
      customers: 1,
      users: 2,
      instances: 1,
      connected_instances: 0,
    });
  });

  it("counts each sent message once, and no message of the last minute", async () => {
    const { db } = test.database;
    const count = async () => {
      await Promise.all([countSentMessages(db), countSentMessages(db)]);
      return (await test.owner.adminOverview()).data.messages_month;
    };
    expect(await count()).toBe(0);
    await sql`update message set created_at = created_at - interval '2 minutes'`.execute(db);
    const sentThisMonth = await db
      .selectFrom("message")
      .select("id")
      .where("direction", "=", "outbound")
      .where("created_at", ">=", sql<Date>`date_trunc('month', now() at time zone 'utc') at time zone 'utc'`)
      .execute();
    expect(await count()).toBe(sentThisMonth.length);
    expect(await count()).toBe(sentThisMonth.length);
    await sql`update message set created_at = created_at + interval '2 minutes'`.execute(db);
  });

  it("counts no failed message, and counts a pending message once it was delivered", async () => {
    const { db } = test.database;
    const count = async () => {
      await countSentMessages(db);
      return (await test.owner.adminOverview()).data.messages_month;
    };
    const before = await count();
    const { rows } = await sql<{ id: number }>`
      insert into message (id, account_id, instance_id, conversation_id, message_id, direction, from_me, origin, mode, jid,
        type, content, status, sent_at, created_at)
      select nextval('message_id_seq'), account_id, id, 0, 'TALLY' || status, 'outbound', true, 'api', 'async', 'x',
        'text', '{}', status, now(), now() - interval '2 minutes'
      from (select id, account_id from instance order by id limit 1) i,
        unnest('{sent,failed,pending}'::text[]) as s (status) returning id`.execute(db);
    expect(await count()).toBe(before + 1);
    await sql`update message set status = 'delivered' where message_id = 'TALLYpending'`.execute(db);
    expect(await count()).toBe(before + 2);
    expect(await count()).toBe(before + 2);
    const ids = rows.map(({ id }) => id);
    await db.deleteFrom("message").where("id", "in", ids).execute();
  });

  it("is available to the operator only from allowed addresses that a trusted proxy reports", async () => {
    const ask = async (from: string) => {
      const headers = { admintoken: ADMIN_TOKEN, "x-forwarded-for": from };
      return (await fetch(`${test.url}/api/admin/overview`, { headers })).status;
    };
    expect([await ask("192.0.2.7"), await ask("203.0.113.9")]).toEqual([200, 403]);
  });
});

describe("the administration monitor", () => {
  it("shows recent activity and recommendations per instance, identically at both addresses", async () => {
    const { data, pagination } = await test.owner.adminMonitor();
    expect(data.instances).toMatchObject([
      { id: customer.instance, name: "Theirs", status: "created", messages_24h: 0, waiting_sends: 0 },
      {
        id: mine.id,
        name: "Mine",
        account_name: "Owner",
        status: "connected",
        messages_24h: 2,
        failures_24h: 0,
      },
    ]);
    expect(data.instances[0]).toMatchObject({ seconds_since_last_inbound: null });
    expect(data.instances[0]?.recommended_action).toContain("QR");
    expect(data.instances[1]?.recommended_action).toBeNull();
    expect(data.instances[1]?.seconds_since_last_inbound).toBeLessThan(600);
    expect(data.noc).toEqual({ severity: "ok", headline: "All is well.", critical: 0, warnings: 0 });
    expect(data.metrics).toMatchObject({
      instances: 2,
      connected_instances: 1,
      instances_by_status: { created: 1, connected: 1 },
    });
    expect(pagination).toMatchObject({ has_more: false });
    const published = await test.owner.adminMonitorAsPublished();
    expect(published.data.instances.map(({ id }) => id)).toEqual(data.instances.map(({ id }) => id));
  });

  it("has pages and filters, and shows a reseller its own instances", async () => {
    const first = await test.owner.adminMonitor({ limit: 1 });
    expect(first.data.instances.map(({ id }) => id)).toEqual([customer.instance]);
    const cursor = first.pagination.next_cursor ?? undefined;
    expect((await test.owner.adminMonitor({ limit: 1, cursor })).data.instances.map(({ id }) => id)).toEqual([
      mine.id,
    ]);
    expect((await test.owner.adminMonitor({ status: "connected" })).data.instances).toHaveLength(1);
    expect((await test.owner.adminMonitor({ account_id: customer.id })).data.instances).toHaveLength(1);
    const { data } = await reseller.adminMonitor();
    expect(data.instances.map(({ id }) => id)).toEqual([customer.instance]);
    expect(data.metrics).toMatchObject({ accounts: 2, instances: 1 });
  });

  it("raises alerts with recommendations for lost instances, failing webhooks and late queues", async () => {
    const { db } = test.database;
    const { data: webhook } = await mine.client.createWebhook({
      id: mine.id,
      name: "W",
      url: "http://127.0.0.1:9/",
    });
    await db
      .updateTable("webhook")
      .set({ failing_since: new Date(Date.now() - 3_600_000), failed_events: 7, is_active: false })
      .where("id", "=", webhook.id)
      .execute();
    await db.updateTable("instance").set({ status: "banned" }).where("id", "=", customer.instance).execute();
    await sql`
      insert into lane (id, kind, key) overriding system value values (900001, 'nobody', 'late')`.execute(db);
    await sql`insert into job (lane, prio, pos, grp, run_at, ref)
      values (900001, 1, 1, 'x', now() - interval '20 minutes', '{}')`.execute(db);
    const { data } = await test.owner.adminMonitor();
    expect(data.alerts.map(({ key, severity }) => [key, severity])).toEqual([
      ["instance_lost", "critical"],
      ["queue_late", "critical"],
      ["webhook_failing", "warning"],
    ]);
    expect(data.alerts.every(({ recommended_action }) => recommended_action.length > 10)).toBe(true);
    expect(data.alerts[1]).toMatchObject({ name: "nobody", status: expect.stringMatching(/^12\d\d$/) });
    expect(data.noc).toMatchObject({ severity: "critical", critical: 2, warnings: 1 });
    expect(data.webhooks).toMatchObject([{ id: webhook.id, failed_events: 7 }]);
    expect(data.queues.find(({ name }) => name === "nobody")).toMatchObject({ waiting: 1, due: 1 });
    expect((await reseller.adminMonitor()).data.alerts).toMatchObject([
      { key: "instance_lost", instance_id: customer.instance, account_id: customer.id },
    ]);
    await sql`delete from job where lane = 900001`.execute(db);
    await mine.client.deleteWebhook({ id: mine.id, webhookId: webhook.id });
    await db.updateTable("instance").set({ status: "created" }).where("id", "=", customer.instance).execute();
  });

  it("reports a failing webhook first, and not the queue that waits for it", async () => {
    const { db } = test.database;
    const { data: webhook } = await mine.client.createWebhook({
      id: mine.id,
      name: "Own",
      url: "http://127.0.0.1:9/",
    });
    await test.admin.putGlobalWebhook({ url: "http://127.0.0.1:9/all", enabled: true });
    await sql`
      insert into lane (id, kind, key) overriding system value
      values (900002, 'nobody', 'own'), (900003, 'nobody', 'all')`.execute(db);
    await sql`insert into job (lane, prio, pos, grp, run_at, ref)
      select lane, 1, 1, 'x', now() - interval '2 minutes', '{}' from unnest('{900002,900003}'::bigint[]) as lane`.execute(
      db,
    );
    const { lane } = await db
      .selectFrom("webhook")
      .select("lane")
      .where("id", "=", webhook.id)
      .executeTakeFirstOrThrow();
    const { global_lane } = await db
      .selectFrom("instance")
      .select("global_lane")
      .where("id", "=", mine.id)
      .executeTakeFirstOrThrow();
    await db.updateTable("webhook").set({ lane: 900002 }).where("id", "=", webhook.id).execute();
    await db.updateTable("instance").set({ global_lane: 900003 }).where("id", "=", mine.id).execute();
    const failing = { failing_since: new Date(Date.now() - 60_000), last_status: null };
    await db.updateTable("webhook").set(failing).where("id", "=", webhook.id).execute();
    const alerts = async () => (await test.owner.adminMonitor()).data.alerts.map(({ key }) => key);
    expect(await alerts()).toEqual(["webhook_failing", "queue_late"]);
    await db.updateTable("webhook").set(failing).where("instance_id", "is", null).execute();
    expect(await alerts()).toEqual(["webhook_failing", "webhook_failing"]);
    const { data } = await test.owner.adminMonitor();
    expect(data.noc.headline).toMatch(
      /^Webhook \d+ \(.+\) fails: no response comes from its receiver\. Start the receiver/,
    );
    expect(data.queues.find(({ name }) => name === "nobody")).toEqual({
      name: "nobody",
      waiting: 2,
      due: 0,
      oldest_due_seconds: null,
    });
    await sql`delete from job where lane in (900002, 900003)`.execute(db);
    await db.updateTable("webhook").set({ lane }).where("id", "=", webhook.id).execute();
    await db.updateTable("instance").set({ global_lane }).where("id", "=", mine.id).execute();
    await mine.client.deleteWebhook({ id: mine.id, webhookId: webhook.id });
    await test.admin.putGlobalWebhook({ url: "" });
  });

  it.each([
    [{ status: "disconnected", wanted: "stopped" }, null, null],
    [{ status: "disconnected", wanted: "connected" }, "Reconnect", "status"],
    [{ status: "logged_out" }, "scan the QR", "status"],
    [{ status: "connected", messages_24h: 20, failures_24h: 4 }, "One message in five", "failures"],
    [{ status: "connected", messages_24h: 20, failures_24h: 3 }, null, null],
    [
      { status: "connected", messages_24h: 20, seconds_since_last_inbound: 90_000 },
      "Nothing has come in",
      "silence",
    ],
    [{ status: "connected", messages_24h: 2, seconds_since_last_inbound: 90_000 }, null, null],
  ] as const)("recommends for %j: %s", (state, words, reason) => {
    const quiet = {
      wanted: "connected",
      messages_24h: 0,
      failures_24h: 0,
      seconds_since_last_inbound: null,
    } as const;
    const { recommended_action, action_reason } = recommendAction({ ...quiet, ...state });
    expect(action_reason).toBe(reason);
    if (words === null) expect(recommended_action).toBeNull();
    else expect(recommended_action).toContain(words);
  });
});

describe("the administration logs", () => {
  it("of messages contain everything except texts and recipients", async () => {
    const { data } = await test.owner.listLogs({ type: "messages", instance_id: mine.id });
    expect(data).toMatchObject([
      { type: "messages", direction: "inbound", status: "received", instance_id: mine.id },
      { type: "messages", direction: "outbound", origin: "api", message_type: "text" },
    ]);
    expect(JSON.stringify(data)).not.toMatch(/Hello|5511987651234/);
  });

  it("of connections and webhooks list the newest entries first, page by page", async () => {
    const all = (await test.owner.listLogs({ type: "connections", instance_id: mine.id })).data;
    expect(all.length).toBeGreaterThan(1);
    const first = await test.owner.listLogs({ type: "connections", instance_id: mine.id, limit: 1 });
    const cursor = first.pagination.next_cursor ?? undefined;
    const rest = await test.owner.listLogs({ type: "connections", instance_id: mine.id, cursor });
    expect([...first.data, ...rest.data]).toEqual(all);
    const unscoped = (await test.owner.listLogs({ type: "connections" })).data;
    expect(unscoped.map(({ id }) => id)).toEqual(unscoped.map(({ id }) => id).sort((a, b) => b - a));
  });

  it("of webhooks can be filtered by event and success, and contain no passwords of addresses", async () => {
    const { data: webhook } = await mine.client.createWebhook({
      id: mine.id,
      name: "W",
      url: "http://user:hidden@127.0.0.1:9/",
    });
    const tested = mine.client.testWebhook({ id: mine.id, webhookId: webhook.id });
    await expect(tested).rejects.toMatchObject({ code: "SEND_FAILED" });
    const { data } = await test.owner.listLogs({ type: "webhooks", success: "false", event: "webhook.sent" });
    expect(data).toMatchObject([
      { type: "webhooks", webhook_id: webhook.id, success: false, trigger: "test" },
    ]);
    expect(JSON.stringify(data)).not.toContain("hidden");
    expect((await test.owner.listLogs({ type: "webhooks", success: "true" })).data).toEqual([]);
    await mine.client.deleteWebhook({ id: mine.id, webhookId: webhook.id });
  });

  it("of the audit show actor and action, for one kind of action or all", async () => {
    const { data } = await test.owner.listLogs({ type: "audit", action: "account.create" });
    expect(data).toMatchObject([
      { type: "audit", action: "account.create", actor: "user", account_id: customer.id },
      { type: "audit", action: "account.create", actor: "user" },
    ]);
    const webhooks = (await test.owner.listLogs({ type: "audit", action: "webhook.*" })).data;
    expect(webhooks.map((row) => row.type === "audit" && row.action)).toContain("webhook.delete");
    const logins = (await test.owner.listLogs({ action: "auth.login", account_id: customer.id })).data;
    expect(logins).toMatchObject([{ actor: "user", target_type: "user", ip: expect.any(String) }]);
    await expect(
      test.anonymous.login({ email: "client@example.com", password: "wrong" }),
    ).rejects.toMatchObject({ code: "INVALID_CREDENTIALS" });
    await waitUntil(async () => (await test.owner.listLogs({ action: "auth.refused" })).data.length === 1);
  });

  it("show a reseller its own rows and its customers' rows only", async () => {
    await customer.key.connectInstance({ id: customer.instance, wait_seconds: 0 });
    await waitUntil(async () => (await reseller.listLogs({ type: "connections" })).data.length > 0);
    const accounts = async (type: "audit" | "connections" | "messages" | "webhooks") =>
      new Set((await reseller.listLogs({ type })).data.map(({ account_id }) => account_id));
    expect(await accounts("connections")).toEqual(new Set([customer.id]));
    expect(await accounts("messages")).toEqual(new Set());
    const me = (await reseller.me()).data.account.id;
    expect(await accounts("audit")).toEqual(new Set([customer.id, me]));
    const { data } = await reseller.listLogs({ type: "messages", instance_id: mine.id });
    expect(data).toEqual([]);
  });

  it("of requests can be filtered by account", async () => {
    await waitUntil(
      async () => (await test.owner.listLogs({ type: "api", account_id: customer.id })).data.length > 0,
    );
    const { data } = await reseller.listLogs({ type: "api" });
    expect(new Set(data.map(({ account_id }) => account_id)).has(1)).toBe(false);
  });

  it.each(["nonsense", Buffer.from("x").toString("base64url")])("reject the cursor %s", async (cursor) => {
    await expect(test.owner.listLogs({ cursor })).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  });
});
