import pg from "pg";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type Client, createClient } from "../../src/client/client.ts";
import { newPhone, waitUntil } from "../gateway.ts";
import { PASSWORD, signIn } from "../sign-in.ts";
import { type Asked, addressOf, wholeRequest } from "./bad-requests.ts";
import { credentialsFor, type FuzzTarget, type FuzzTenant, startFuzzTarget } from "./fuzz-target.ts";
import { largeFields, largeRequest } from "./large-fields.ts";
import { type Operation, readOperations } from "./operations.ts";

const FEW = 100;
/** Statements that do not depend on the size: caller, limits and rows of the path. */
const OTHER_STATEMENTS = 40;
const MOST_RESPONSE = 2_000_000;

const VCARD = "BEGIN:VCARD\nTEL:5511987654321\nEND:VCARD\n";

let target: FuzzTarget;
let tenant: FuzzTenant;
let other: FuzzTenant;
let statements = 0;

beforeAll(async () => {
  target = await startFuzzTarget();
  tenant = await target.tenant();
  other = await target.otherTenant();
  const send = pg.Client.prototype.query as (...args: unknown[]) => unknown;
  vi.spyOn(pg.Client.prototype, "query").mockImplementation(function (this: pg.Client, ...args: unknown[]) {
    const { application_name } = Reflect.get(this, "connectionParameters") as { application_name?: string };
    if (application_name === "waygate requests") statements += 1;
    return send.apply(this, args);
  } as never);
});
afterAll(async () => {
  vi.restoreAllMocks();
  await target.stop();
});

/** The cost of a request, and whether another tenant could read meanwhile. */
async function costOf(operation: Operation, asked: Asked) {
  const [method, path] = addressOf(operation, asked).split(" ");
  const before = statements;
  const response = fetch(`${target.gateway.url}${path}`, {
    method,
    headers: {
      ...credentialsFor(operation, tenant, 0),
      "content-type": typeof asked.body === "string" ? "text/csv" : "application/json",
    },
    body: typeof asked.body === "string" ? asked.body : JSON.stringify(asked.body),
  });
  const readsMeanwhile = createClient({ baseUrl: target.gateway.url, apiKey: other.key }).listAccountMessages(
    { limit: 1 },
  );
  const { status } = await response;
  // A stream may end early.
  const text = await (await response).text().catch(() => "");
  return {
    status,
    bytes: text.length,
    text,
    statements: statements - before,
    others: (await readsMeanwhile).data.length,
  };
}

/** A lane that changes its node has a new epoch. */
async function laneOwners(): Promise<unknown> {
  const keys = [tenant, other].map(({ instance }) => String(instance));
  const { rows } = await target.gateway.database.pool.query(
    "select key, owner, epoch from lane where kind = 'session' and key = any($1) order by key",
    [keys],
  );
  return rows;
}

async function expectBounded(operation: Operation, ask: (n: number) => Asked): Promise<void> {
  const lanes = await laneOwners();
  const small = await costOf(operation, ask(FEW));
  const large = await costOf(operation, ask(4 * FEW));
  for (const { status, others, bytes } of [small, large]) {
    expect([operation.id, status < 500, others, bytes < MOST_RESPONSE]).toEqual([
      operation.id,
      true,
      1,
      true,
    ]);
  }
  const growth = large.statements - 4 * Math.max(small.statements, OTHER_STATEMENTS);
  expect({ operation: operation.id, growth: Math.max(0, growth) }).toEqual({
    operation: operation.id,
    growth: 0,
  });
  expect(await laneOwners()).toEqual(lanes);
}

const OPERATIONS = readOperations();
const operationOf = (id: string) => OPERATIONS.find((one) => one.id === id) as Operation;
const WITH_TWO = OPERATIONS.filter((one) => largeFields(one).length >= 2);

describe("a request with every list and text at four times the length", () => {
  test("exists for many routes", () => {
    expect(WITH_TWO.map(({ id }) => id)).toEqual(
      expect.arrayContaining(["sendText", "addRecipients", "createLead", "createWebhook", "updateAccount"]),
    );
  });

  test.each(WITH_TWO.map((operation) => [operation.id, operation] as const))(
    "costs at most four times as much, and another tenant reads meanwhile: %s",
    async (_id, operation) => {
      await expectBounded(operation, (n) => largeRequest(operation, tenant, n));
    },
  );
});

describe("a table", () => {
  test.each([
    ["many columns and rows", (n: number) => `phone${",".repeat(50 * n)}\n${"1\n".repeat(n)}`],
    ["many cells in one row", (n: number) => `phone\n"1"${",".repeat(10_000 * n)}`],
    [
      "long names of columns",
      (n: number) =>
        `phone,${Array.from({ length: n / 4 }, (_, at) => `c${at}${"각".repeat(500)}`).join()}\n1\n`,
    ],
    ["vCards with many lines between them", (n: number) => VCARD + "\n".repeat(10_000 * n) + VCARD],
    ["a vCard of soft breaks", (n: number) => `${VCARD}FN;QUOTED-PRINTABLE:${"a=\n".repeat(50 * n)}`],
    ["a long record", (n: number) => `phone,name\n1,"${"x".repeat(10_000 * n)}"\n`],
    ["an open quote", (n: number) => `phone,name\n1,"${"x\n".repeat(1_000 * n)}`],
    [
      "as many columns as allowed",
      (n: number) => `phone,${",".repeat(126)}\n${`1${",".repeat(120)}\n`.repeat(n)}`,
    ],
  ])("of %s is refused, or read at a cost by its length", async (_what, tableOf) => {
    for (const id of ["importLeads", "addRecipients"]) {
      const operation = operationOf(id);
      const { path } = wholeRequest(operation, tenant.knownFor(operation));
      await expectBounded(operation, (n) => ({ path, query: {}, body: tableOf(n) }));
    }
  });
});

test("a preview of as many variables, recipients and text as allowed has a bounded response", async () => {
  const { client } = await signIn(target.gateway.url, { email: "boss@tenant1.example", password: PASSWORD });
  const names = Array.from({ length: 49 }, (_, at) => `{{v${at}}}`).join("");
  const message_template = names + "{{a}}".repeat(13_000);
  const { data } = await client.createCampaign({
    name: "Large",
    instance_id: tenant.instance,
    message_template,
  });
  const preview = operationOf("previewCampaign");
  let added = 0;
  await expectBounded(preview, () => ({ path: { id: data.id }, query: {}, body: { limit: 20 } }));
  for (const n of [FEW, 4 * FEW]) {
    const recipients = Array.from({ length: n - added }, (_, at) => ({
      phone: `55119${71_000_000 + added + at}`,
      variables: { a: "x".repeat(1_000) },
    }));
    await client.addRecipients({ id: data.id, recipients });
    added = n;
    const cost = await costOf(preview, { path: { id: data.id }, query: {}, body: { limit: 20 } });
    expect([cost.status, cost.bytes < MOST_RESPONSE, cost.statements < OTHER_STATEMENTS]).toEqual([
      200,
      true,
      true,
    ]);
    expect(JSON.parse(cost.text).data.warnings).toHaveLength(49);
  }
});

const LONG = "字".repeat(60_000);
const MANY = Array.from({ length: 20 }, (_, at) => at);

/** Ids by page, up to 200 rows. */
async function readPages(operation: Operation, query: object): Promise<unknown[][]> {
  const { path } = wholeRequest(operation, tenant.knownFor(operation));
  const pages: unknown[][] = [];
  for (let cursor = ""; ; ) {
    const page = { ...query, limit: 200, ...(cursor && { cursor }) };
    const { status, text, bytes, others } = await costOf(operation, { path, query: page });
    expect([status, bytes < MOST_RESPONSE, others]).toEqual([200, true, 1]);
    const { data, pagination } = JSON.parse(text);
    pages.push((data.recipients ?? data).map(({ id, jid }: Record<string, unknown>) => id ?? jid));
    if (!pagination.has_more) return pages;
    cursor = pagination.next_cursor;
  }
}

describe("a page of large rows", () => {
  const fill: Record<string, (user: Client) => Promise<unknown>> = {
    async leads(user) {
      const fields = Array.from({ length: 100 }, (_, at) => [`f${at}`, LONG.slice(0, 2_000)]);
      for (const name of MANY.slice(10))
        await user.createLead({ name: `${name}`, custom_fields: Object.fromEntries(fields) });
    },
    async campaigns(user) {
      for (const name of MANY)
        await user.createCampaign({
          name: `${name}`,
          instance_id: tenant.instance,
          message_template: LONG,
        });
    },
    async recipients(user) {
      const { path } = wholeRequest(
        operationOf("addRecipients"),
        tenant.knownFor(operationOf("addRecipients")),
      );
      const variables = Object.fromEntries(
        Array.from({ length: 50 }, (_, at) => [`v${at}`, "x".repeat(1_000)]),
      );
      for (const at of MANY.concat(MANY.map((one) => one + MANY.length)))
        await user.addRecipients({
          id: Number(path.id),
          recipients: [{ phone: String(5_511_960_000_000 + at), variables }],
        });
    },
    async quickReplies(user) {
      for (const at of MANY) await user.saveQuickReply({ shortcut: `long${at}`, content: LONG });
    },
    async groups() {
      const participants = Array.from({ length: 1_000 }, (_, at) => String(5_511_950_000_000 + at));
      const client = createClient({ baseUrl: target.gateway.url, apiKey: tenant.key });
      const { data } = await client.createGroup({ id: tenant.instance, name: "Large", participants });
      // Keeps the gateway from reading them from the network meanwhile.
      await client.listGroups({ id: tenant.instance });
      await target.gateway.database.pool.query(
        `insert into group_chat (account_id, instance_id, jid, subject, announce, locked,
           join_approval, members_can_add, participants)
         select account_id, instance_id, n || jid, subject, announce, locked, join_approval, members_can_add, participants
         from group_chat, generate_series(1, 20) as n where jid = $1`,
        [data.jid],
      );
    },
    async messages() {
      const client = createClient({ baseUrl: target.gateway.url, apiKey: tenant.key });
      const id = tenant.instance;
      for (const _ of MANY) await client.sendText({ id, number: newPhone(), text: LONG });
      await target.gateway.database.pool.query(
        `insert into attempt (account_id, instance_id, event_id, event, event_at, webhook_id, webhook_name, url,
           attempt, trigger, success, duration_ms)
         select e.account_id, e.instance_id, e.event_id, e.event, e.created_at, w.id, w.name, w.url, 1, 'auto', false, 1
         from event e join webhook w using (instance_id) where instance_id = $1 and e.event = 'message.sent'`,
        [id],
      );
    },
  };

  test.each([
    ["leads", { listLeads: {} }],
    ["campaigns", { listCampaigns: {} }],
    ["recipients", { getCampaignReport: {} }],
    ["quickReplies", { listQuickReplies: {} }],
    ["groups", { listGroups: { participants: true } }],
    [
      "messages",
      {
        listMessages: {},
        listAccountMessages: {},
        listChats: {},
        listConversations: {},
        listEvents: { after: 0 },
        listDeliveryLogs: {},
      },
    ],
  ])("ends early, and its cursor leads to the rest: %s", async (rows, lists) => {
    const { client } = await signIn(target.gateway.url, {
      email: "boss@tenant1.example",
      password: PASSWORD,
    });
    await fill[rows]?.(client);
    for (const [id, query] of Object.entries(lists)) {
      const pages = await readPages(operationOf(id), query);
      const ids = pages.flat();
      expect([id, pages.length > 1, new Set(ids).size]).toEqual([id, true, ids.length]);
      expect(ids.length).toBeGreaterThanOrEqual(10);
    }
  });
});

test("an account that exports many times at once has two exports at work", async () => {
  const { pool } = target.gateway.database;
  const holder = await pool.connect();
  await holder.query("begin; lock table lead in access exclusive mode");
  let left = 6;
  let most = 0;
  const exports = Array.from({ length: left }, async () => {
    await costOf(operationOf("exportLeads"), { path: {}, query: {} });
    left -= 1;
  });
  await waitUntil(async () => {
    const { rows } = await pool.query(
      `select count(*)::int as count from pg_locks join pg_stat_activity using (pid)
       where relation = 'lead'::regclass and not granted and application_name = 'waygate requests'
         and query like '%from lead%'`,
    );
    most = Math.max(most, rows[0].count);
    return left === 0;
  });
  await Promise.all(exports);
  await holder.query("rollback");
  holder.release();
  expect(most).toBe(2);
});
