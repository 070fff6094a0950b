import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createClient } from "../src/client/client.ts";
import { contract } from "../src/contract.ts";
import { oauthWireContract } from "../src/extensions/oauth/wire-contract.ts";
import type { Route, RouteAccess } from "../src/platform/http/route.ts";
import {
  ADMIN_TOKEN,
  addUnlimitedAccount,
  startTestGateway,
  type TestGateway,
  waitUntil,
} from "./gateway.ts";
import { createHttpRequester, type HttpRequester, type RawHttpResponse } from "./http-requester.ts";
import { printFigures } from "./security/run-size.ts";
import { PASSWORD, signIn } from "./sign-in.ts";

/** Marker in all data of the other tenant. */
const MARKER = `m4rk3r${Date.now().toString(36)}`;
/** Marker in all data of the other instance of the same account. */
const NEARBY_MARKER = `n3arby${Date.now().toString(36)}`;
const NOBODY = 999_999_999;
/** A contact, under whose number the other tenant writes to this one. */
const PERSON = "5511987651234@s.whatsapp.net";
const GROUP = "120363111111111111@g.us";

const routes = Object.entries<Route>(contract).filter(([, { access }]) => access !== "public");

interface Tenant {
  account_id: number;
  user_id: number;
  token: string;
  key: string;
  instance: number;
}

let test: TestGateway;
let request: HttpRequester;
let own: Tenant;
let foreign: Tenant;
let agent: string;
/** An agent with access to one of the two instances. */
let boundAgent: string;
let neighbourKey: string;
let endedKey: string;
/** Rows of the other tenant, and of the other instance of the same account. */
let foreignRows: HiddenRows;
let nearbyRows: HiddenRows;

interface HiddenRows {
  instance: number;
  account_id: number;
  /** By path parameter. */
  ids: Record<string, string>;
}

/** Responses to the tenant's own credentials; `leaks` counts those with the other tenant's marker. */
const figures = { operations: routes.length, responses: 0, responses_to_own: 0, leaks: 0 };

function countLeaks(request: HttpRequester): HttpRequester {
  return async (http, body, headers = {}) => {
    const response = await request(http, body, headers);
    figures.responses += 1;
    const shown = Object.values(headers).join(" ");
    const isOwn = [own?.key, own?.token, neighbourKey, agent, boundAgent].some(
      (one) => one && shown.includes(one),
    );
    if (isOwn) figures.responses_to_own += 1;
    if (isOwn && textOf(response).includes(MARKER)) figures.leaks += 1;
    return response;
  };
}

function textOf({ body }: RawHttpResponse): string {
  return body instanceof ArrayBuffer ? Buffer.from(body).toString("latin1") : JSON.stringify(body);
}

beforeAll(async () => {
  test = await startTestGateway({ WAYGATE_UNKNOWN_RATE: "0" });
  request = countLeaks(createHttpRequester(() => test.url));
  own = await makeTenant("own");
  foreign = await makeTenant(MARKER);
  const neighbour = await as(own.token).createInstance({ name: NEARBY_MARKER, network: "sandbox" });
  neighbourKey = neighbour.data.api_key;
  const ended = await as(own.token).createInstance({ name: "Ended", network: "sandbox" });
  endedKey = ended.data.api_key;
  await as(own.token).regenerateApiKey({ id: ended.data.id });
  agent = await makeAgent({ email: "agent@own.example" });
  boundAgent = await makeAgent({ email: "bound@own.example", instance_ids: [own.instance] });
  foreignRows = await fill(foreign, MARKER);
  nearbyRows = await fill({ ...own, key: neighbourKey, instance: neighbour.data.id }, NEARBY_MARKER);
  // Quick replies belong to the account, not to an instance.
  await as(own.token).deleteQuickReply({ id: Number(nearbyRows.ids.reply) });
  await as(own.token).deleteCustomField({ id: Number(nearbyRows.ids.field) });
  delete nearbyRows.ids.userId;
});
afterAll(() => test.stop());

const as = (token: string) => createClient({ baseUrl: test.url, token });

async function makeAgent(input: { email: string; instance_ids?: number[] }): Promise<string> {
  await as(own.token).createUser({ name: "Agent", password: PASSWORD, ...input });
  return (await signIn(test.url, input)).token;
}

async function makeTenant(name: string): Promise<Tenant> {
  const { data, token } = await addUnlimitedAccount(test, name);
  const created = await as(token).createInstance({ name, network: "sandbox", metadata: { name } });
  return {
    account_id: data.id,
    user_id: data.user.id,
    token,
    key: created.data.api_key,
    instance: created.data.id,
  };
}

/** Creates one row of each kind with an id for an instance, with the marker in each. */
async function fill(
  { token, key, instance: id, user_id, account_id }: Tenant,
  marker: string,
): Promise<HiddenRows> {
  const client = createClient({ baseUrl: test.url, apiKey: key });
  const webhook = await client.createWebhook({ id, name: marker, url: `http://127.0.0.1:9/${marker}` });
  await client.saveIntegration({ id, provider: "n8n", webhook_url: `http://127.0.0.1:9/${marker}` });
  await client.sandboxScan({ id });
  await waitUntil(async () => (await client.getInstanceStatus({ id })).data.connected);
  const sent = await client.sendText({ id, jid: PERSON, text: marker });
  await client.sandboxReceive({ id, from: "5511987651239", push_name: marker, text: marker });
  await waitUntil(async () => (await client.listEvents({ id, event: "message.received" })).data.length > 0);
  const event = (await client.listEvents({ id })).data[0];
  await expect(client.testWebhook({ id, webhookId: webhook.data.id })).rejects.toMatchObject({ status: 502 });
  const [log] = (await client.listDeliveryLogs({ id })).data;
  const ofAccount = await fillAccount(token, id, marker);
  const ids = {
    webhookId: String(webhook.data.id),
    eventId: String(event?.id),
    logId: String(log?.id),
    messageId: String(sent.data.message_id),
    userId: String(user_id),
    provider: "n8n",
    ...ofAccount,
    user: String(user_id),
    assistant: await connectAssistant({ account_id, user_id, instance: id }, marker),
  };
  return { instance: id, account_id, ids };
}

async function connectAssistant(
  { account_id, user_id, instance }: Pick<Tenant, "account_id" | "user_id" | "instance">,
  marker: string,
) {
  const { id } = await test.database.db
    .insertInto("oauth_grant")
    .values({
      account_id,
      user_id,
      client_id: marker,
      client_name: marker,
      redirect_host: marker,
      scopes: ["read"],
      instance_ids: [instance],
      activated_at: new Date(),
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  return String(id);
}

async function fillAccount(token: string, instance_id: number, marker: string) {
  const bearer = { authorization: `Bearer ${token}` };
  const made = async (http: string, body: unknown) =>
    String((await request(http, body, bearer)).body.data.id);
  const lead = await made("POST /api/leads", { name: marker, phone: "5511987651232" });
  return {
    lead,
    noteId: await made(`POST /api/leads/${lead}/notes`, { note: marker }),
    field: await made("POST /api/custom-fields", { name: marker }),
    reply: await made("POST /api/quick-replies", { shortcut: marker, content: marker }),
    campaign: await made("POST /api/campaigns", { name: marker, instance_id, message_template: marker }),
  };
}

function addressOf({ http }: Route, ids: Readonly<Record<string, string | number>>): string {
  return http.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(ids[name] ?? NOBODY)));
}

function ask(route: Route, ids: Readonly<Record<string, string | number>>, headers: Record<string, string>) {
  const hasBody = !/^(GET|DELETE) /.test(route.http);
  return request(addressOf(route, ids), hasBody ? {} : undefined, headers);
}

/** The response without its request id. */
function saysOf({ status, body }: RawHttpResponse): string {
  return `${status} ${JSON.stringify({ ...body, request_id: "" })}`;
}

type Kind =
  | "none"
  | "neighbour key"
  | "foreign key"
  | "ended key"
  | "foreign token"
  | "admin token"
  | "token as a key"
  | "key as a token"
  | "own key"
  | "own token";

const HEADERS: Record<Kind, () => Record<string, string>> = {
  none: () => ({}),
  "neighbour key": () => ({ "x-api-key": neighbourKey }),
  "foreign key": () => ({ "x-api-key": foreign.key }),
  "ended key": () => ({ "x-api-key": endedKey }),
  "foreign token": () => ({ authorization: `Bearer ${foreign.token}` }),
  "admin token": () => ({ admintoken: ADMIN_TOKEN }),
  "token as a key": () => ({ "x-api-key": own.token }),
  "key as a token": () => ({ "x-auth-token": own.key }),
  "own key": () => ({ "x-api-key": own.key }),
  "own token": () => ({ authorization: `Bearer ${own.token}` }),
};

const KINDS = (Object.keys(HEADERS) as Kind[]).filter((kind) => !kind.startsWith("own"));

/** Routes that need a user's token. */
const REFUSED_WITHOUT_USER: Partial<Record<Kind, string>> = {
  none: "AUTH_REQUIRED",
  "neighbour key": "AUTH_REQUIRED",
  "foreign key": "AUTH_REQUIRED",
  "ended key": "AUTH_REQUIRED",
  "token as a key": "AUTH_REQUIRED",
  "key as a token": "INVALID_TOKEN",
};

/** Error codes for a refused credential; undefined if it is accepted with its own rights. */
const REFUSED: Record<Exclude<RouteAccess, "public">, Partial<Record<Kind, string>>> = {
  instance: {
    none: "AUTH_REQUIRED",
    "neighbour key": "INSTANCE_FORBIDDEN",
    "foreign key": "INSTANCE_FORBIDDEN",
    "ended key": "INVALID_API_KEY",
    "foreign token": "NOT_FOUND",
    "admin token": "AUTH_REQUIRED",
    "token as a key": "INVALID_API_KEY",
    "key as a token": "INVALID_TOKEN",
  },
  key: {
    none: "AUTH_REQUIRED",
    "ended key": "INVALID_API_KEY",
    "admin token": "AUTH_REQUIRED",
    "token as a key": "INVALID_API_KEY",
    "key as a token": "INVALID_TOKEN",
  },
  key_or_admin: {
    none: "AUTH_REQUIRED",
    "ended key": "INVALID_API_KEY",
    "foreign token": "AUTH_REQUIRED",
    "token as a key": "INVALID_API_KEY",
    "key as a token": "AUTH_REQUIRED",
  },
  account: { ...REFUSED_WITHOUT_USER, "admin token": "AUTH_REQUIRED" },
  admin: Object.fromEntries(
    KINDS.filter((kind) => kind !== "admin token").map((kind) => [kind, "AUTH_REQUIRED"]),
  ),
  owner: { ...REFUSED_WITHOUT_USER, "foreign token": "FORBIDDEN" },
  manager: { ...REFUSED_WITHOUT_USER, "foreign token": "FORBIDDEN" },
};

/** Problems of a route's responses to a credential that it refuses. */
async function wrongAbout(name: string, route: Route, kind: Kind, expected: string): Promise<string[]> {
  const there = await ask(route, { id: own.instance }, HEADERS[kind]());
  const wrong = there.body.code === expected ? [] : [`${name}: ${there.status} ${there.body.code}`];
  // Without an id in the path it would be the same request.
  const nowhere = /:id\b/.test(route.http) ? await ask(route, { id: NOBODY }, HEADERS[kind]()) : there;
  return saysOf(there) === saysOf(nowhere) ? wrong : [...wrong, `${name} tells what exists`];
}

describe("a wrong credential", () => {
  it.each(KINDS)(
    "(%s) is refused on every route that does not accept it, whether the row exists or not",
    async (kind) => {
      const wrong: string[] = [];
      for (const [name, route] of routes) {
        const expected = route.access === "public" ? undefined : REFUSED[route.access][kind];
        if (expected === undefined) continue;
        wrong.push(...(await wrongAbout(name, route, kind, expected)));
      }
      expect(wrong).toEqual([]);
    },
  );
});

/** The hidden row that `:id` names on account routes. */
function hiddenRow({ http }: Route, { ids, instance, account_id }: HiddenRows): string {
  if (http.includes("/api/leads/")) return ids.lead ?? "";
  if (http.includes("/api/custom-fields/")) return ids.field ?? "";
  if (http.includes("/api/quick-replies/")) return ids.reply ?? "";
  if (http.includes("/api/campaigns/")) return ids.campaign ?? "";
  if (http.includes("/api/account/assistants/")) return ids.assistant ?? "";
  if (http.includes("/api/users/")) return ids.user ?? "";
  if (/\/api\/(v1\/instances\/|:session)/.test(http)) return String(instance);
  return String(account_id);
}

/** Required fields of changes. */
const BODY = {
  since: "2026-01-01T00:00:00Z",
  scope: "account",
  send_at: "2030-01-01T00:00:00Z",
  name: "x",
  text: "x",
  note: "x",
  tags: ["x"],
  fields: { x: "y" },
  number: "5511987651233",
  recipients: ["5511987651233"],
  action: "approve",
  participants: ["5511987651233"],
  rawId: "AAAA",
  type: "public-key",
  message_id: "x",
  response: { clientDataJSON: "AAAA", authenticatorData: "AAAA", signature: "AAAA" },
};

/** Whether the path can name a foreign row. Routes that create missing rows cannot. */
function hasForeignRow({ http, access }: Route): boolean {
  if (http.startsWith("PUT /api/v1/instances/:id/integrations/")) return false;
  return access === "instance"
    ? /:id\/.*:/.test(http)
    : /^(account|key)$/.test(access) && http.includes("/:");
}

async function askForHidden(
  route: Route,
  rows: HiddenRows,
  bearer: Record<string, string>,
): Promise<{ there: RawHttpResponse; nowhere: RawHttpResponse }> {
  const body = /^(GET|DELETE) /.test(route.http) ? undefined : BODY;
  const isOfInstance = route.access === "instance";
  const id = isOfInstance ? own.instance : hiddenRow(route, rows);
  const isOfGroup = route.http.includes("/groups/:jid");
  const [jid, noJid] = isOfGroup
    ? [GROUP, "120363000000000000@g.us"]
    : [PERSON, "5511900000000@s.whatsapp.net"];
  const there = await request(addressOf(route, { ...rows.ids, id, jid, session: id }), body, bearer);
  return {
    there,
    nowhere: await request(
      addressOf(route, isOfInstance ? { id, jid: noJid, provider: "n8n" } : {}),
      body,
      bearer,
    ),
  };
}

describe("a row of another tenant", () => {
  it("looks to another tenant's token exactly like a row that does not exist", async () => {
    const wrong: string[] = [];
    for (const [name, route] of routes.filter(([, route]) => hasForeignRow(route))) {
      const { there, nowhere } = await askForHidden(route, foreignRows, HEADERS["own token"]());
      if (saysOf(there) !== saysOf(nowhere)) wrong.push(`${name}: ${saysOf(there)} / ${saysOf(nowhere)}`);
      if (saysOf(there).includes(MARKER)) wrong.push(`${name} shows it`);
      // Data of the session is unavailable while it is disconnected.
      if (!/NOT_FOUND|INSTANCE_NOT_CONNECTED/.test(there.body.code)) wrong.push(`${name}: ${saysOf(there)}`);
    }
    expect(wrong).toEqual([]);
    const client = createClient({ baseUrl: test.url, apiKey: foreign.key });
    expect((await client.listWebhooks({ id: foreign.instance })).data).toHaveLength(1);
  });

  it("is in no list and no log that another tenant can read", async () => {
    const shown: string[] = [];
    for (const [name, route] of routes.filter(([, { http, raw }]) => isList(http, raw))) {
      for (const headers of [HEADERS["own key"](), HEADERS["own token"]()]) {
        const response = await ask(route, { id: own.instance }, headers);
        if (textOf(response).includes(MARKER)) shown.push(name);
      }
    }
    expect(shown).toEqual([]);
  });

  it("cannot be distinguished from a missing row by a cursor that points at it", async () => {
    const ofForeign = createClient({ baseUrl: test.url, apiKey: foreign.key });
    const { data } = await ofForeign.listInstanceLogs({ id: foreign.instance, type: "messages" });
    const saidOf = async (row: number) => {
      const cursor = Buffer.from(String(row)).toString("base64url");
      const path = `/api/v1/instances/${own.instance}/logs?type=messages&cursor=${cursor}`;
      return saysOf(await request(`GET ${path}`, undefined, HEADERS["own key"]()));
    };
    expect(await saidOf(data.messages[0]?.id ?? 0)).toBe(await saidOf(NOBODY));
  });
});

describe("routes without a credential", () => {
  const all = Object.entries<Route>({ ...contract, ...oauthWireContract });

  it("are exempt from rate limits and free only if they report the health", () => {
    const health = ["health", "healthReady", "healthLive"];
    const named = all.filter(([, route]) => route.isExemptFromLimits).map(([name]) => name);
    const free = all.filter(([, { cost = 1 }]) => cost < 1).map(([name]) => name);
    expect(named).toEqual(health);
    expect(free.filter((name) => !health.includes(name))).toEqual([]);
  });

  it("accept a large body only behind a token in their path, and no other route reads its bytes", () => {
    const large = all.filter(
      ([, route]) => route.access === "public" && (route.bodyLimitBytes ?? 0) > 65_536,
    );
    expect(large.map(([name, { pathToken }]) => [name, pathToken])).toEqual([["receiveChatwoot", true]]);
    for (const [, route] of all) expect(route.signed ?? false).toBe(route.pathToken ?? false);
  });
});

function isList(http: string, raw: string | undefined): boolean {
  return http.startsWith("GET ") && raw !== "text/event-stream";
}

/** What an agent may read and do. Any other route needs an administrator, or a reason in this list. */
const FOR_AGENTS = {
  reads: `
    accountOverview getAccount getBusiness getCampaign getCampaignReport getCampaignTimeline
    getCatalog getEvent getGroup getGroupInvite getInstance getInstanceQr getInstanceStatus
    getLeadDetails getMedia getMessage getMessageReceipts getPasskey getProfile listAccountMessages
    listAssistants listCampaigns listChatMessages listChats listConsent listContacts
    listConversations listCustomFields listDataRequests listEvents listGroups listInstanceLogs
    listInstances listJoinRequests listLabelledChats listLabelledMessages listLabels listLeadLabels
    listLeads listMessages listQuickReplies listScheduled listStatusViews listStatuses listVotes me
    streamAccountEvents streamEvents streamInstanceStates wahaPasskeyChallenge
    wahaPasskeyConfirmation`,
  does: `
    addLeadNote addLeadTags addRecipients answerJoinRequests archiveCampaign ask blockContact
    cancelCampaign cancelPasskey cancelScheduled changePassword changeScheduled checkContacts
    checkRecipients confirmPasskey confirmPassword connectInstance contactInfo createCampaign
    createGroup createLabel createLead createLink deleteLabel deleteLeadNote deleteMessage
    deleteQuickReply disconnectAssistant downloadMedia editMessage forwardMessage importLeads
    joinGroup labelChat labelMessage leaveGroup logout markRead mcp pauseCampaign pinMessage
    previewCampaign previewGroup react reconnectInstance recordConsent retryFailedRecipients
    revokeGroupInvite sandboxBan sandboxCall sandboxChat sandboxContact sandboxDelete sandboxDrop
    sandboxEdit sandboxGroup sandboxGroupJoin sandboxGroupParticipants sandboxGroupSettings
    sandboxLabel sandboxPresence sandboxReact sandboxRead sandboxReceive sandboxScan sandboxStatus
    sandboxVote saveContact saveQuickReply send sendContact sendLocation sendMedia sendPoll
    sendReply sendStatus sendText setChatState setLeadFields setPresence starMessage startCampaign
    startSession submitPasskeyAssertion subscribePresence updateCampaign updateGroupParticipants
    updateGroupSettings updateLabel updateLead wahaPasskey wahaPasskeyConfirm`,
};

describe("an agent", () => {
  it("may use the routes of this list, and every other one needs an administrator", () => {
    const open = routes.filter(
      ([, { role, access }]) => role === undefined && /^(account|instance|key)$/.test(access),
    );
    const namesOf = (isRead: boolean) =>
      open.filter(([, { http }]) => http.startsWith("GET ") === isRead).map(([name]) => name);
    expect(namesOf(true).toSorted()).toEqual(FOR_AGENTS.reads.trim().split(/\s+/));
    expect(namesOf(false).toSorted()).toEqual(FOR_AGENTS.does.trim().split(/\s+/));
  });

  it("sees the report of a campaign, and only an administrator gets it as a file", async () => {
    const bearer = { authorization: `Bearer ${agent}` };
    const input = { name: "Sales", instance_id: own.instance, message_template: "Hello" };
    const { data: campaign } = await as(own.token).createCampaign(input);
    const report = (format: string) =>
      request(`GET /api/campaigns/${campaign.id}/report?format=${format}`, undefined, bearer);
    expect((await report("json")).status).toBe(200);
    expect((await report("csv")).body).toMatchObject({ code: "FORBIDDEN", details: { needs: "admin" } });
  });

  it("is refused on every route for administrators, managers and the owner", async () => {
    const wrong: string[] = [];
    const bearer = { authorization: `Bearer ${agent}` };
    for (const [name, route] of routes) {
      if (route.role !== "admin" && route.access !== "manager" && route.access !== "owner") continue;
      const { body } = await ask(route, { id: own.instance }, bearer);
      if (body.code !== "FORBIDDEN") wrong.push(`${name}: ${body.code}`);
    }
    expect(wrong).toEqual([]);
  });

  it("sees the host of a delivery and no path; an administrator sees the path, tokens masked", async () => {
    const { token, instance: id } = own;
    const { data } = await as(token).createWebhook({ id, name: "Shop", url: "http://127.0.0.1:9/t0k3n" });
    await expect(as(token).testWebhook({ id, webhookId: data.id })).rejects.toMatchObject({
      code: "SEND_FAILED",
    });
    const urlsFor = async (who: string) =>
      (await as(who).listInstanceLogs({ id })).data.webhooks.map(({ url }) => url);
    expect(await urlsFor(token)).toEqual(["http://127.0.0.1:9/***"]);
    expect(await urlsFor(agent)).toEqual(["http://127.0.0.1:9"]);
  });

  it("may read and send messages", async () => {
    expect((await as(agent).listInstances()).data.map(({ id }) => id)).toContain(own.instance);
    const refused = await as(agent)
      .sendText({ id: own.instance, number: "5511987651234", text: "Hello" })
      .catch(({ code }) => code);
    expect(refused).toBe("INSTANCE_NOT_CONNECTED");
  });
});

describe("an agent who may use one instance", () => {
  const bearerOf = (token: string) => ({ authorization: `Bearer ${token}` });

  it("is refused on every route of another instance as on one that does not exist", async () => {
    const wrong: string[] = [];
    for (const [name, route] of routes.filter(([, { access }]) => access === "instance")) {
      const there = await ask(route, { id: nearbyRows.instance }, bearerOf(boundAgent));
      const nowhere = await ask(route, { id: NOBODY }, bearerOf(boundAgent));
      const expected = route.role === "admin" ? "FORBIDDEN" : "NOT_FOUND";
      if (there.body.code !== expected || saysOf(there) !== saysOf(nowhere))
        wrong.push(`${name}: ${saysOf(there)} / ${saysOf(nowhere)}`);
    }
    expect(wrong).toEqual([]);
  });

  it("finds no row of another instance by its id", async () => {
    const wrong: string[] = [];
    for (const [name, route] of routes.filter(([, route]) => hasForeignRow(route))) {
      const { there, nowhere } = await askForHidden(route, nearbyRows, bearerOf(boundAgent));
      if (saysOf(there) !== saysOf(nowhere)) wrong.push(`${name}: ${saysOf(there)} / ${saysOf(nowhere)}`);
      if (!/NOT_FOUND|FORBIDDEN|INSTANCE_NOT_CONNECTED/.test(there.body.code))
        wrong.push(`${name}: ${saysOf(there)}`);
    }
    expect(wrong).toEqual([]);
  });

  it("sees nothing of another instance in any list, where an agent of the whole account does", async () => {
    const shownTo = async (token: string) => {
      const shown: string[] = [];
      for (const [name, route] of routes.filter(([, { http, raw }]) => isList(http, raw))) {
        const response = await ask(route, { id: own.instance }, bearerOf(token));
        if (textOf(response).includes(NEARBY_MARKER)) shown.push(name);
      }
      return shown;
    };
    expect(await shownTo(boundAgent)).toEqual([]);
    expect(await shownTo(agent)).toEqual(
      expect.arrayContaining(["listInstances", "listLeads", "listCampaigns", "listAccountMessages"]),
    );
  });

  it("names another instance in no field", async () => {
    const client = as(boundAgent);
    const instance_id = nearbyRows.instance;
    const campaign = { name: "x", message_template: "x", instance_id };
    const asked: Promise<unknown>[] = [
      client.send({ instance_id, number: "5511987651234", text: "Hello" }),
      client.listAccountMessages({ instance_id }),
      client.listConversations({ instance_id }),
      client.createCampaign(campaign),
      client.checkRecipients({ instance_id, recipients: ["5511987651234"] }),
    ];
    const codes = await Promise.all(asked.map((one) => one.catch(({ code }) => code)));
    expect(new Set(codes)).toEqual(new Set(["NOT_FOUND"]));
  });

  it("is refused what concerns the whole account, whatever it asks for", async () => {
    const whole = routes.filter(
      ([, { access, role, keepsToInstances }]) =>
        /^(account|key)$/.test(access) && role === undefined && !keepsToInstances,
    );
    const names = ["deleteQuickReply", "importLeads", "listDataRequests", "saveQuickReply"];
    expect(whole.map(([name]) => name).toSorted()).toEqual(names);
    for (const [, route] of whole)
      expect((await ask(route, {}, bearerOf(boundAgent))).body.code).toBe("FORBIDDEN");
  });
});

it("the other tenant's marker is in that tenant's responses, and in no response to anyone else", async () => {
  const headers = { authorization: `Bearer ${foreign.token}` };
  expect(textOf(await request("GET /api/leads", undefined, headers))).toContain(MARKER);
  printFigures("Tenants", figures);
  expect(figures.responses_to_own).toBeGreaterThan(routes.length);
  expect(figures.leaks).toBe(0);
});
