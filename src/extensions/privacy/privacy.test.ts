import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestGateway, type TestGateway, type TestInstance, waitUntil } from "../../../test/gateway.ts";
import { createHttpRequester, type HttpRequester } from "../../../test/http-requester.ts";
import { type Receiver, startReceiver } from "../../../test/servers/receiver.ts";
import { PASSWORD, signIn } from "../../../test/sign-in.ts";
import { type Client, createClient } from "../../client/client.ts";
import { privacyContract } from "./contract.ts";
import { failInterruptedExports } from "./export-account.ts";
import { repeatErasure } from "./request-erasure.ts";

let test: TestGateway;
let call: HttpRequester;
let receiver: Receiver;

beforeAll(async () => {
  test = await startTestGateway();
  call = createHttpRequester(() => test.url);
  receiver = await startReceiver();
});
afterAll(async () => {
  await test.stop();
  await receiver.close();
});

let accounts = 0;

interface Tenant {
  id: number;
  user_id: number;
  token: string;
  client: Client;
}

/** A separate account, so that no story erases the data of another. */
async function makeTenant(): Promise<Tenant> {
  accounts += 1;
  const email = `boss${accounts}@example.com`;
  const { data } = await test.owner.createAccount({
    name: `Shop ${accounts}`,
    email,
    password: PASSWORD,
    user_name: "Boss",
  });
  await test.database.pool.query(
    "update account set plan_id = (select id from plan where name = 'unlimited') where id = $1",
    [data.id],
  );
  const { token, client } = await signIn(test.url, { email });
  return { id: data.id, user_id: data.user.id, token, client };
}

async function connect({ client }: Tenant): Promise<Omit<TestInstance, "phone">> {
  const { data } = await client.createInstance({ name: "Sales", network: "sandbox" });
  await client.sandboxScan({ id: data.id });
  await waitUntil(async () => (await client.getInstanceStatus({ id: data.id })).data.connected);
  const { id, api_key, webhook_secret } = data;
  return { id, api_key, webhook_secret, client: createClient({ baseUrl: test.url, apiKey: api_key }) };
}

async function receive({ id, client }: Pick<TestInstance, "id" | "client">, from: string, text: string) {
  const { data } = await client.sandboxReceive({ id, from, push_name: "Ana", text });
  const isThere = async () =>
    (await client.listMessages({ id })).data.some((one) => one.message_id === data.message_id);
  await waitUntil(isThere);
  return data.message_id;
}

async function exportOf({ token }: Pick<Tenant, "token">) {
  return call("POST /api/data/export", undefined, { authorization: `Bearer ${token}` });
}

/** Sends the request and waits for its end, which may come after the response. */
async function anonymise({ client }: Tenant, scope: Parameters<Client["anonymizeData"]>[0]["scope"]) {
  const { requestId } = (await client.anonymizeData({ scope })).data;
  const find = async () => (await client.listDataRequests()).data.find(({ id }) => id === requestId);
  await waitUntil(async () => (await find())?.status === "completed", 60_000);
  return find();
}

describe("a data export", () => {
  it("contains all data of the account beyond the limits of lists, and no secret", async () => {
    const tenant = await makeTenant();
    const instance = await connect(tenant);
    await receive(instance, "5511987651011", "Hello there");
    await instance.client.sendText({ id: instance.id, number: "5511987651011", text: "Hello to you" });
    const lead = await tenant.client.createLead({ phone: "5511987651011", name: "Ana" });
    await tenant.client.addLeadNote({ id: lead.data.id, note: "likes tea" });
    await tenant.client.recordConsent({ purpose: "news", consent_type: "opt_in", granted: true });
    await tenant.client.saveIntegration({
      id: instance.id,
      provider: "n8n",
      enabled: false,
      config: { webhook_url: "http://127.0.0.1:9/hidden-path", token: "hidden-token", auth: "bearer" },
    });
    const { status, headers, body } = await exportOf(tenant);
    expect([status, headers.get("content-type")]).toEqual([200, "application/json; charset=utf-8"]);
    expect(body).toMatchObject({ success: true, requestId: expect.any(Number) });
    const { data } = body;
    expect(new Date(data.exportedAt).getTime()).toBeGreaterThan(0);
    expect(data.account).toMatchObject({ id: tenant.id, name: `Shop ${accounts}` });
    expect(data.instances).toMatchObject([{ id: instance.id, name: "Sales" }]);
    expect(data.conversations).toMatchObject([{ phone: "5511987651011" }]);
    expect(data.messages.map((one: { content: { text: string } }) => one.content.text)).toEqual([
      "Hello there",
      "Hello to you",
    ]);
    expect(data.leads).toMatchObject([{ name: "Ana" }]);
    expect(data.leadNotes).toMatchObject([{ note: "likes tea" }]);
    expect(data.consentRecords).toMatchObject([{ purpose: "news", granted: true }]);
    expect(data.integrations).toMatchObject([{ provider: "n8n", enabled: false }]);
    const text = JSON.stringify(body);
    const secrets = ["password_hash", "webhook_secret", "digest", "proxy", "hidden-", instance.api_key];
    for (const secret of secrets) expect(text).not.toContain(secret);
    expect((await tenant.client.listDataRequests()).data).toMatchObject([
      { id: body.requestId, request_type: "export", status: "completed", affected: { message: 2 } },
    ]);
    await test.database.pool.query(
      `insert into message (account_id, instance_id, conversation_id, message_id, direction, from_me, origin, jid, type,
         content, status)
       select account_id, instance_id, conversation_id, 'm' || n, direction, from_me, origin, jid, type,
         jsonb_build_object('kind', 'text', 'text', 'Number ' || n), status
       from message, generate_series(1, 1001) n where instance_id = $1 and direction = 'inbound'`,
      [instance.id],
    );
    const document = await (await tenant.client.exportData()).json();
    expect(privacyContract.exportData.output.parse(document)).toEqual(document);
    expect(document.data.users).toMatchObject([{ name: "Boss" }]);
    expect(new Set(document.data.messages.map(({ id }) => id)).size).toBe(1003);
  });
});

describe("a data export whose process was killed", () => {
  it("is marked as failed, and a running export is not", async () => {
    const tenant = await makeTenant();
    const { db } = test.database;
    for (const hours of [2, 0]) {
      const created_at = new Date(Date.now() - hours * 3_600_000);
      const request = { account_id: tenant.id, request_type: "export", until: "{}", created_at } as const;
      await db.insertInto("data_request").values(request).execute();
    }
    await failInterruptedExports(db);
    const { data } = await tenant.client.listDataRequests();
    expect(data.map(({ status }) => status)).toEqual(["processing", "failed"]);
  });
});

/** Tables whose files on disk contain the text. */
async function tablesWith(word: string, tables: readonly string[]): Promise<string[]> {
  const { pool } = test.database;
  await pool.query("checkpoint");
  const found = await Promise.all(
    tables.map(async (table) => {
      const { rows } = await pool.query<{ has: boolean }>(
        "select lower(encode(pg_read_binary_file(pg_relation_filepath($1)), 'escape')) like $2 as has",
        [table, `%${word}%`],
      );
      return rows[0]?.has === true ? [table] : [];
    }),
  );
  return found.flat();
}

describe("anonymisation", () => {
  it("leaves no erased text in the table files, and treats a person who writes again as a new contact", async () => {
    const tenant = await makeTenant();
    const instance = await connect(tenant);
    await receive(instance, "5511987651098", "Zq65inword");
    await tenant.client.saveQuickReply({ shortcut: "zq65", content: "Zq65inreply" });
    const tables = ["message", "message_search", "contact", "quick_reply"];
    expect(await tablesWith("zq65in", tables)).toEqual(["message", "message_search", "quick_reply"]);
    await anonymise(tenant, "all");
    // Old row versions of every changed table are removed, however small the table is.
    const changed = [
      "account_user",
      "group_chat",
      "idempotency",
      "instance",
      "number_check",
      "outgoing_media",
    ];
    const vacuumed = `select from pg_stat_user_tables where relname = any($1) and vacuum_count > 0`;
    await waitUntil(async () => {
      const { rowCount } = await test.database.pool.query(vacuumed, [[...tables, ...changed]]);
      return rowCount === tables.length + changed.length;
    });
    // As documented, a file may contain the text until a full vacuum.
    for (const table of tables) await test.database.pool.query(`vacuum full ${table}`);
    expect(await tablesWith("zq65in", tables)).toEqual([]);
    await receive(instance, "5511987651098", "After");
    const { data } = await instance.client.listChats({ id: instance.id });
    expect(data.map(({ phone }) => phone).sort()).toEqual(["5511987651098", expect.stringMatching(/^anon-/)]);
    const { data: messages } = await instance.client.listMessages({ id: instance.id });
    expect(messages.map(({ text, phone }) => [phone, text])).toEqual([
      ["5511987651098", "After"],
      [expect.stringMatching(/^anon-/), null],
    ]);
  });

  it("of the conversations gives a person one pseudonym, and deletes held work and ignored contacts", async () => {
    const tenant = await makeTenant();
    const instance = await connect(tenant);
    const messageId = await receive(instance, "5511987651013", "I am Ana, call me on 5511987651013");
    const { id } = instance;
    const { db } = test.database;
    const held = `insert into held_job (id, lane, kind, prio, pos, grp, ref, run_at, attempts, max_attempts)
      select 1, global_lane, 'webhook', 1, 1, 'x', '{}', now(), 0, 9 from instance where id = $1`;
    await test.database.pool.query(held, [id]);
    const ignore_jids = ["5511987651019@s.whatsapp.net"];
    const config = { base_url: "http://127.0.0.1:9", public_id: "x", ignore_jids };
    await tenant.client.saveIntegration({ id, provider: "typebot", enabled: false, config });
    expect(await anonymise(tenant, "conversations")).toMatchObject({
      scope: "conversations",
      status: "completed",
      affected: { message: 1, contact: 1 },
    });
    const { rows } = await test.database.pool.query(
      `select c.jid, c.phone, p.jid as contact, p.push_name, m.jid as chat, m.sender, m.content, m.type
       from message m join conversation c on c.id = m.conversation_id join contact p on p.id = c.contact_id
       where m.message_id = $1`,
      [messageId],
    );
    const [row] = rows;
    expect(row.phone).toMatch(/^anon-[0-9a-f]{20}$/);
    const jid = `${row.phone}@s.whatsapp.net`;
    expect(row).toMatchObject({ jid, contact: jid, chat: jid, push_name: null, type: "text" });
    expect(row.sender).toMatchObject({ jid, phone: row.phone, push_name: null });
    expect(row.content).toMatchObject({ kind: "text", text: null, length: "21-100" });
    expect((await test.database.pool.query("select from pseudonym")).rows).toEqual([]);
    expect((await instance.client.listMessages({ id: instance.id })).data).toMatchObject([
      { text: null, jid },
    ]);
    expect(await db.selectFrom("held_job").selectAll().execute()).toEqual([]);
    const saved = await instance.client.getIntegration({ id, provider: "typebot" });
    expect(saved.data.config).toMatchObject({ public_id: "x", ignore_jids: [] });
  });

  it("leaves other scopes and other accounts unchanged, and can be repeated", async () => {
    const [tenant, other] = [await makeTenant(), await makeTenant()];
    for (const { client } of [tenant, other])
      await client.createLead({
        phone: "5511987651015",
        name: "Ana",
        email: "ana@example.com",
        opted_out: true,
      });
    await tenant.client.saveQuickReply({ shortcut: "hi", content: "Hello, this is Ana" });
    await anonymise(tenant, "leads");
    const { data } = await tenant.client.listLeads();
    expect(data).toMatchObject([
      { phone: expect.stringMatching(/^anon-/), email: null, opted_out_at: expect.any(String) },
    ]);
    expect(data[0]?.name).toMatch(/^anon-\d+$/);
    expect((await tenant.client.listQuickReplies()).data).toMatchObject([{ content: "Hello, this is Ana" }]);
    expect((await other.client.listLeads()).data).toMatchObject([{ phone: "5511987651015", name: "Ana" }]);
    await anonymise(tenant, "leads");
    expect((await tenant.client.listLeads()).data).toEqual(data);
    const suppressed = await test.database.pool.query("select from suppression where account_id = $1", [
      tenant.id,
    ]);
    expect(suppressed.rows).toHaveLength(1);
  });

  it("cancels queued sends first, and reports each cancellation once without its text", async () => {
    const tenant = await makeTenant();
    const { id, client } = await connect(tenant);
    await client.createWebhook({ id, name: "W", url: receiver.url, events: ["message.failed"] });
    const order = { id, number: "5511987651016", text: "Later", delay: 60_000, async: true } as const;
    const messageId = (await client.sendText(order)).data.pendingMessageId ?? "";
    const done = await anonymise(tenant, "all");
    expect(done?.affected).toMatchObject({ cancelled_sends: 1, message: 1 });
    const message = await client.getMessage({ id, messageId });
    expect(message.data).toMatchObject({ status: "cancelled", text: null, error: { code: "CANCELLED" } });
    const jobs = await test.database.pool.query("select from job where ref ->> 'do' = 'send'");
    expect(jobs.rows).toEqual([]);
    const isAboutIt = ({ body }: { body: { data?: { pendingMessageId?: string } } }) =>
      body.data?.pendingMessageId === messageId;
    const [reported] = await receiver.waitFor(isAboutIt);
    expect(reported?.body).toMatchObject({ event: "message.failed", data: { error: { code: "CANCELLED" } } });
    expect(reported?.raw.toString()).not.toMatch(/Later|5511987651016|Sales/);
    await anonymise(tenant, "all");
    const events = await client.listEvents({ id, event: "message.failed" });
    expect(events.data).toHaveLength(1);
  });

  it("of the account alone removes its names from earlier events, and leaves the rest", async () => {
    const tenant = await makeTenant();
    const { id, client } = await connect(tenant);
    await tenant.client.updateInstance({ id, metadata: { shop: "Ana's" } });
    await receive({ id, client }, "5511987651018", "Hello there");
    await anonymise(tenant, "account");
    const { rows } = await test.database.pool.query<{ body: string }>(
      "select convert_from(body, 'UTF8') as body from event where instance_id = $1 order by sequence",
      [id],
    );
    for (const { body } of rows) {
      expect(JSON.parse(body).instance).toMatchObject({ id, name: `anon-${id}`, metadata: {} });
      expect(body).not.toMatch(/Sales|Ana's/);
    }
    expect(rows.filter(({ body }) => body.includes('"text":"Hello there"'))).toHaveLength(1);
  });
});

describe("an erasure", () => {
  it("is logged by ids only, and repeated if a backup has restored the data", async () => {
    const tenant = await makeTenant();
    await anonymise(tenant, "leads");
    const logged = await test.database.db
      .selectFrom("erasure_log")
      .selectAll()
      .where("account_id", "=", tenant.id)
      .executeTakeFirstOrThrow();
    expect(logged).toMatchObject({ scope: "leads", is_due: false, subject: { request: expect.any(Number) } });
    const { data } = await tenant.client.createLead({ phone: "5511987651017", name: "Ana" });
    const subject = { ...logged.subject, until: { lead: data.id } };
    await repeatErasure(test.database.db, test.gateway.engine, { ...logged, subject });
    await waitUntil(async () => (await tenant.client.listLeads()).data[0]?.name === `anon-${data.id}`);
    await waitUntil(async () => (await tenant.client.listDataRequests()).data[0]?.status === "completed");
    expect((await tenant.client.listDataRequests()).data[0]).toMatchObject({
      requested_by: null,
      scope: "leads",
    });
  });
});

describe("the history of privacy requests", () => {
  it("is listed page by page, newest first, separately for each account", async () => {
    const tenant = await makeTenant();
    for (const scope of ["leads", "messages", "account"] as const) await anonymise(tenant, scope);
    const first = await tenant.client.listDataRequests({ limit: 2 });
    expect(first.data.map(({ scope }) => scope)).toEqual(["account", "messages"]);
    expect(first.data[0]).toMatchObject({ status: "completed", requested_by: tenant.user_id });
    const { next_cursor: cursor } = first.pagination;
    const second = await tenant.client.listDataRequests({ limit: 2, cursor: cursor ?? "" });
    expect(second.data.map(({ scope }) => scope)).toEqual(["leads"]);
    expect(second.pagination.has_more).toBe(false);
    expect((await tenant.client.me()).data.user.email).toBe(`boss${accounts}@example.com`);
  });
});
