import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Client, createClient } from "../src/client/client.ts";
import { contract } from "../src/contract.ts";
import { lidOf } from "../src/network/sandbox/sandbox-numbers.ts";
import type { Route } from "../src/platform/http/route.ts";
import { addUnlimitedAccount, newPhone, startTestGateway, type TestGateway, waitUntil } from "./gateway.ts";
import { createHttpRequester, type HttpRequester, type RawHttpResponse } from "./http-requester.ts";

/** Marker in all data of the other tenant on the sandbox network. */
const MARKER = `m4rk3r${Math.random().toString(36).slice(2)}`;
const PNG = Buffer.from("iVBORw0KGgo=", "base64").toString("base64");

interface Instance {
  id: number;
  key: string;
  phone: string;
  client: Client;
}

interface Tenant {
  account_id: number;
  /** Two paired instances. */
  one: Instance;
  two: Instance;
  addInstance(phone?: string): Promise<Instance>;
}

let test: TestGateway;
let request: HttpRequester;
let alpha: Tenant;
let beta: Tenant;
/** A customer who writes to alpha. */
const CUSTOMER = newPhone();
let group: string;
let invite: string;
let message: string;
let sent: string;

beforeAll(async () => {
  test = await startTestGateway();
  request = createHttpRequester(() => test.url);
  alpha = await makeTenant("alpha");
  beta = await makeTenant("beta");
  await fill(alpha);
});
afterAll(() => test.stop());

async function makeTenant(name: string): Promise<Tenant> {
  const { data, token } = await addUnlimitedAccount(test, name);
  const addInstance = async (phone?: string) => {
    const made = await createClient({ baseUrl: test.url, token }).createInstance({
      name,
      network: "sandbox",
    });
    const { id, api_key: key } = made.data;
    const client = createClient({ baseUrl: test.url, apiKey: key });
    const scanned = await client.sandboxScan({ id, phone });
    return { id, key, client, phone: scanned.data.phone };
  };
  return { account_id: data.id, one: await addInstance(), two: await addInstance(), addInstance };
}

/** Puts the marker into every text field. */
async function fill({ account_id, one, two }: Tenant): Promise<void> {
  const { id, client } = one;
  await client.sandboxContact({ id, from: CUSTOMER, name: MARKER, push_name: MARKER, about: MARKER });
  await client.setProfileName({ id, name: MARKER });
  const media = { base64: PNG, mime_type: "image/png", file_name: MARKER, caption: MARKER };
  await client.sandboxReceive({ id, from: CUSTOMER, media });
  message = (await client.sandboxReceive({ id, from: CUSTOMER, text: `SECRET ${MARKER}` })).data.message_id;
  const made = await client.createGroup({ id, name: MARKER, participants: [two.phone, CUSTOMER] });
  group = made.data.jid;
  invite = (await client.getGroupInvite({ id, jid: group })).data.code;
  await client.sendText({ id, jid: group, text: `GROUP ${MARKER}` });
  sent = (await client.sendText({ id, number: two.phone, text: `PRIVATE ${MARKER}` })).data.message_id ?? "";
  await client.sandboxChat({ id, from: CUSTOMER, pinned: true });
  await waitUntil(async () => (await textsOf(two)).length === 2);
  await untilIdle(account_id);
}

async function textsOf({ id, client }: Instance): Promise<(string | null)[]> {
  const { data } = await client.listMessages({ id, limit: 200 });
  return data.filter(({ direction }) => direction === "inbound").map(({ text }) => text);
}

const statusOf = async ({ id, client }: Instance) => (await client.getInstanceStatus({ id })).data.status;

/** Waits until no inbox entry of this account is pending. */
async function untilIdle(account_id: number): Promise<void> {
  const mails = "select from sandbox.inbox m join sandbox.device d on d.id = m.device where account_id = $1";
  await waitUntil(async () => (await rows(mails, [account_id])).length === 0);
}

async function rows(text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
  return (await test.database.pool.query(text, values)).rows;
}

/** Content of a text once everything written before it has arrived. */
async function arrivals(instance: Instance): Promise<(string | null)[]> {
  const { id, client } = instance;
  const mark = `mark ${Math.random()}`;
  await client.sandboxReceive({ id, from: newPhone(), text: mark });
  await waitUntil(async () => (await textsOf(instance)).includes(mark));
  return textsOf(instance);
}

describe("on the sandbox network, another tenant's number", () => {
  it("can be paired like any other, and its messages go to its owner alone", async () => {
    const spy = await beta.addInstance(alpha.one.phone);
    expect(spy.phone).toBe(alpha.one.phone);
    const { id, client } = alpha.one;
    await client.sandboxReceive({ id, from: CUSTOMER, text: `LATER ${MARKER}` });
    await waitUntil(async () => (await textsOf(alpha.one)).includes(`LATER ${MARKER}`));
    expect((await arrivals(spy)).filter((text) => text?.includes(MARKER))).toEqual([]);
  });

  it("represents no other number: messages sent as it do not reach the other number's contacts", async () => {
    const spy = await beta.addInstance(alpha.one.phone);
    const { data } = await spy.client.sendText({ id: spy.id, number: alpha.two.phone, text: "As alpha" });
    expect(data.status).toBe("sent");
    expect(await arrivals(alpha.two)).not.toContain("As alpha");
  });

  it("is not banned, disconnected or called by an action on a number that looks the same", async () => {
    const spy = await beta.addInstance(alpha.one.phone);
    await spy.client.sandboxCall({ id: spy.id, from: CUSTOMER });
    await spy.client.sandboxDrop({ id: spy.id });
    await spy.client.sandboxBan({ id: spy.id });
    await waitUntil(async () => (await statusOf(spy)) === "banned");
    await arrivals(alpha.one);
    expect(await statusOf(alpha.one)).toBe("connected");
    const { data } = await alpha.one.client.listEvents({ id: alpha.one.id, limit: 200 });
    const unwanted = ["call.received", "instance.disconnected", "instance.banned"];
    expect(data.filter(({ event }) => unwanted.includes(event))).toEqual([]);
  });

  it("cannot be used to write to a group that it has not joined", async () => {
    const { id, client } = beta.one;
    await client.sandboxReceive({ id, from: newPhone(), group_jid: group, text: "Let me in" });
    await alpha.one.client.sendText({ id: alpha.one.id, jid: group, text: `AGAIN ${MARKER}` });
    await waitUntil(async () => (await textsOf(alpha.two)).includes(`AGAIN ${MARKER}`));
    expect((await arrivals(beta.one)).filter((text) => text?.includes(MARKER))).toEqual([]);
    const { data } = await alpha.one.client.getGroup({ id: alpha.one.id, jid: group, refresh: true });
    expect(data.participants.map(({ phone }) => phone).sort()).toEqual(
      [alpha.one.phone, alpha.two.phone, CUSTOMER].sort(),
    );
  });

  it("changes no group of other tenants, who get the response for a group that does not exist", async () => {
    const { id, key } = (await makeTenant("gamma")).one;
    const change = (group_jid: string) =>
      request(
        `POST /api/v1/instances/${id}/sandbox/group-settings`,
        { from: alpha.one.phone, group_jid, subject: "Mine", locked: true },
        { "x-api-key": key },
      );
    expect(says(await change("120363999999999999@g.us"), [])).toBe(says(await change(group), []));
    expect((await change(group)).body.code).toBe("NOT_FOUND");
    const join = { code: invite };
    const joined = await request(`POST /api/v1/instances/${id}/groups/join`, join, { "x-api-key": key });
    expect(joined.body.code).toBe("NOT_FOUND");
    const { data } = await alpha.one.client.getGroup({ id: alpha.one.id, jid: group, refresh: true });
    expect(data).toMatchObject({ name: MARKER, locked: false });
  });

  it("keeps its name, whatever name another tenant gives to the same number", async () => {
    const { id, client } = beta.one;
    await client.sandboxContact({ id, from: alpha.one.phone, push_name: "Impostor", about: "Impostor" });
    await alpha.one.client.sendText({ id: alpha.one.id, number: alpha.two.phone, text: "It is me" });
    await waitUntil(async () => (await textsOf(alpha.two)).includes("It is me"));
    const { data } = await alpha.two.client.contactInfo({ id: alpha.two.id, number: alpha.one.phone });
    expect(data).toMatchObject({ push_name: MARKER });
    expect(data.about).not.toBe("Impostor");
  });
});

describe("on the sandbox network, two instances of one account", () => {
  it("write to each other, and the message is delivered and read", async () => {
    const { one, two } = beta;
    const { data } = await one.client.sendText({ id: one.id, number: two.phone, text: "Between us" });
    const messageId = data.message_id ?? "";
    await waitUntil(async () => (await textsOf(two)).includes("Between us"));
    await two.client.markRead({ id: two.id, number: one.phone, message_id: messageId });
    const status = async () => (await one.client.getMessage({ id: one.id, messageId })).data.status;
    await waitUntil(async () => (await status()) === "read");
  });

  it("have numbers and groups that do not reveal how many others there are", async () => {
    const { one, two } = beta;
    expect(Math.abs(Number(one.phone) - Number(two.phone))).toBeGreaterThan(1);
    const make = async () =>
      (await one.client.createGroup({ id: one.id, name: "Team", participants: [two.phone] })).data.jid;
    const [first, second] = [await make(), await make()];
    expect(Math.abs(Number.parseInt(first, 10) - Number.parseInt(second, 10))).toBeGreaterThan(10_000);
  });
});

const sandboxRoutes = Object.entries<Route>(contract).filter(([, { http }]) => http.includes("/sandbox/"));

/** Numbers, groups and messages that a request can name. */
interface Names {
  phone: string;
  group: string;
  message: string;
}

/** The request for each sandbox route. A route without an entry fails the test below. */
const BODIES: Record<string, (names: Names) => Record<string, unknown>> = {
  sandboxScan: ({ phone }) => ({ phone }),
  sandboxReceive: ({ phone: from, message: reply_to }) => ({ from, reply_to, text: "x" }),
  sandboxReact: ({ phone: from, message: message_id }) => ({ from, message_id, reaction: "x" }),
  sandboxVote: ({ phone: from, message: message_id }) => ({ from, message_id, options: ["x"] }),
  sandboxEdit: ({ phone: from, message: message_id }) => ({ from, message_id, text: "x" }),
  sandboxDelete: ({ phone: from, message: message_id }) => ({ from, message_id }),
  sandboxRead: ({ phone: from, message: message_id }) => ({ from, message_id }),
  sandboxCall: ({ phone: from }) => ({ from }),
  sandboxContact: ({ phone: from }) => ({ from, about: "x" }),
  sandboxChat: ({ phone: from }) => ({ from, archived: true }),
  sandboxGroup: ({ phone: from }) => ({ from, subject: "x", participants: [from] }),
  sandboxGroupParticipants: ({ phone: from, group: group_jid }) => ({
    from,
    group_jid,
    action: "remove",
    participants: [from],
  }),
  sandboxGroupJoin: ({ phone: from, group: group_jid }) => ({ from, group_jid }),
  sandboxStatus: ({ phone: from }) => ({ from, text: "x" }),
  sandboxLabel: ({ phone: from }) => ({ from, label_id: "7", labelled: true }),
  sandboxPresence: ({ phone: from }) => ({ from, presence: "typing" }),
  sandboxGroupSettings: ({ phone: from, group: group_jid }) => ({ from, group_jid, subject: "x" }),
  sandboxDrop: () => ({}),
  sandboxBan: () => ({}),
};

/** The content of a response, without names from the request and newly created values. */
function says({ status, body }: RawHttpResponse, names: readonly string[]): string {
  const text = JSON.stringify({ ...body, request_id: "" })
    .replace(/"(message_id|call_id)":"[^"]*"/g, '"$1":""')
    .replace(/"message_ids":\["[^"]*"\]/g, '"message_ids":[]')
    .replace(/120363\d{12}@g\.us/g, "group");
  return names.reduce((so_far, name) => so_far.replaceAll(name, "name"), `${status} ${text}`);
}

/** All data that the network and the gateway store for an account. */
async function snapshot({ account_id, one, two }: Tenant): Promise<string> {
  await untilIdle(account_id);
  const tables = await rows(
    `select table_name from information_schema.columns where table_schema = 'sandbox'
     and column_name = 'account_id' and table_name <> 'pairing' order by table_name`,
  );
  expect(tables.length).toBeGreaterThan(6);
  const kept: unknown[] = [];
  for (const { table_name } of tables) {
    const all = `select to_jsonb(t) as row from sandbox.${table_name} t where account_id = $1 order by 1`;
    kept.push([table_name, await rows(all, [account_id])]);
  }
  const devices = "select id from sandbox.device where account_id = $1";
  kept.push(
    await rows(`select id, action, outcome from sandbox.ledger where device in (${devices}) order by id`, [
      account_id,
    ]),
    await rows("select instance_id, sequence, event from event where instance_id = any($1) order by 1, 2", [
      [one.id, two.id],
    ]),
    await rows("select id, status from instance where account_id = $1 order by id", [account_id]),
  );
  return JSON.stringify(kept);
}

/** Routes that make the instance unusable for later requests. */
const ENDINGS = ["deleteInstance", "logoutInstance", "regenerateApiKey", "sandboxDrop", "sandboxBan"];

/** Every field of an instance route that can name something on the network. */
function universal(names: Names & { code: string }, jid: string): Record<string, unknown> {
  const { phone, group: group_jid, message: message_id, code } = names;
  const target = { message_id, messageId: message_id, group_jid, jid, code };
  const people = { from: phone, participants: [phone], numbers: [phone], contact: { name: "x", phone } };
  const rest = { action: "add", text: "x", name: "x", subject: "x", reaction: "👍", blocked: true };
  return { ...target, ...people, ...rest, latitude: 1, longitude: 1, refresh: "true", archived: true };
}

const askable = Object.entries<Route>(contract).filter(
  ([name, { http, access, raw }]) =>
    http.includes("/instances/:id") && access === "instance" && !ENDINGS.includes(name) && !raw,
);

/** Requests alpha's group and contacts, with alpha's numbers and messages in every field. */
async function askOfAlpha({ id, key }: Instance, name: string, route: Route): Promise<RawHttpResponse[]> {
  const names = { phone: alpha.one.phone, group, message: sent, code: invite };
  const hasBody = !/^(GET|DELETE) /.test(route.http);
  const { shape = {} } = route.input as { shape?: object };
  const refresh = !hasBody && Object.hasOwn(shape, "refresh") ? "?refresh=true" : "";
  const responses: RawHttpResponse[] = [];
  const asked = new Set<string>();
  for (const jid of [group, `${alpha.two.phone}@s.whatsapp.net`, `${CUSTOMER}@s.whatsapp.net`]) {
    const address = addressOf(route, { id, jid, messageId: sent, mediaId: message, provider: "n8n" });
    const body = hasBody ? { ...universal(names, jid), ...BODIES[name]?.(names) } : undefined;
    const same = JSON.stringify([address, body]);
    if (!asked.has(same)) responses.push(await request(address + refresh, body, { "x-api-key": key }));
    asked.add(same);
  }
  return responses;
}

function leaksIn(name: string, response: RawHttpResponse): string[] {
  const { status, body } = response;
  return [
    ...(JSON.stringify(body).includes(MARKER) ? [`${name} shows the marker`] : []),
    ...(status === 500 ? [`${name}: ${says(response, [])}`] : []),
    ...(/is not a (filter|parameter)/.test(body.message) ? [`${name} was not asked`] : []),
  ];
}

function addressOf({ http }: Route, ids: Record<string, string | number>): string {
  return http.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(ids[name] ?? 1)));
}

/** Uses a new instance if the request makes it unusable. */
async function responseTo(
  { addInstance }: Tenant,
  by: Instance,
  [name, route]: [string, Route],
  asked: Names,
): Promise<string> {
  const body = BODIES[name];
  if (!body) throw new Error(`${name} has no body here.`);
  const { id, key, phone } = /^sandbox(Scan|Drop|Ban)$/.test(name) ? await addInstance() : by;
  if (name === "sandboxScan") await logOut(id, key);
  const response = await request(addressOf(route, { id }), body(asked), { "x-api-key": key });
  return says(response, [asked.phone, lidOf(asked.phone), phone]);
}

describe("the isolation between the tenants of the sandbox network", () => {
  it("covers every table", async () => {
    const open = await rows(
      `select table_name from information_schema.tables t where table_schema = 'sandbox' and not exists (
         select from information_schema.columns c where c.table_schema = 'sandbox'
         and c.table_name = t.table_name and c.column_name in ('account_id', 'device')) order by 1`,
    );
    // Pictures have an unguessable id.
    expect(open.map(({ table_name }) => table_name)).toEqual(["picture"]);
  });

  it("lets no route distinguish another tenant's number, group or message from an unknown one", async () => {
    const tenant = await makeTenant("delta");
    const there = { phone: alpha.one.phone, group, message };
    const nowhere = {
      phone: newPhone(),
      group: "120363888888888888@g.us",
      message: message.replace(/.$/, "0"),
    };
    const wrong: string[] = [];
    for (const [name, route] of sandboxRoutes.filter(([, { access }]) => access !== "public")) {
      const [known, unknown] = [
        await responseTo(tenant, tenant.one, [name, route], there),
        await responseTo(tenant, tenant.two, [name, route], nowhere),
      ];
      if (known !== unknown) wrong.push(`${name}: ${known} / ${unknown}`);
    }
    expect(wrong).toEqual([]);
  });

  it("protects all data of a tenant, and the marker in it, from all requests of another one", async () => {
    const before = await snapshot(alpha);
    // Its number in the other tenant's network is the same: the closest possible case.
    const spy = await beta.addInstance(alpha.one.phone);
    expect(askable.length).toBeGreaterThan(50);
    const leaks: string[] = [];
    // The second round reads what the first one stored.
    for (const [name, route] of [...askable, ...askable.filter(([, { http }]) => http.startsWith("GET "))]) {
      for (const response of await askOfAlpha(spy, name, route)) leaks.push(...leaksIn(name, response));
    }
    await spy.client.sandboxBan({ id: spy.id });
    expect(leaks).toEqual([]);
    expect(await snapshot(alpha)).toBe(before);
  });

  it("refuses one's own key on another tenant's instance on every route of the sandbox", async () => {
    const before = await snapshot(alpha);
    const codes = new Set<string>();
    for (const [name, route] of sandboxRoutes.filter(([, { access }]) => access !== "public")) {
      const body = BODIES[name]?.({ phone: CUSTOMER, group, message });
      const response = await request(addressOf(route, { id: alpha.one.id }), body, {
        "x-api-key": beta.one.key,
      });
      codes.add(response.body.code);
    }
    expect([...codes]).toEqual(["INSTANCE_FORBIDDEN"]);
    expect(await snapshot(alpha)).toBe(before);
  });
});

async function logOut(id: number, key: string): Promise<void> {
  await request(`POST /api/v1/instances/${id}/logout`, {}, { "x-api-key": key });
  const client = createClient({ baseUrl: test.url, apiKey: key });
  await waitUntil(async () => (await client.getInstanceStatus({ id })).data.status === "disconnected");
}
