import { afterAll, beforeAll, expect, test } from "vitest";
import { contract } from "../src/contract.ts";
import { readInput } from "../src/platform/http/input/read-input.ts";
import type { Route } from "../src/platform/http/route.ts";
import { newPhone, startTestGateway, type TestGateway, type TestInstance, waitUntil } from "./gateway.ts";
import { PASSWORD } from "./sign-in.ts";

/** Filters that accept any text: search words, labels, ids and addresses. */
const FREE = new Set(
  "q tag status:listLeads status:exportLeads kanban_status action track_id chat event_id phone number:getCatalog".split(
    " ",
  ),
);
const IN_PAGES = ["limit", "cursor"];

const routes: [string, Route][] = Object.entries(contract);
const lists = routes.filter(
  ([, { http, output, beside }]) =>
    http.startsWith("GET ") && (output.def.type === "array" || (beside && "pagination" in beside.shape)),
);
const tables = routes.filter(([, { raw }]) => raw === "text/csv");

const fieldsOf = ({ input }: Route) =>
  Object.keys((input as { shape?: object } & Route["input"]).shape ?? {});
const pathOf = ({ http }: Route) =>
  Object.fromEntries(
    [...http.matchAll(/:(\w+)/g)].map(([, name = ""]) => [name, name === "userId" ? "me" : "1"]),
  );
const filtersOf = (route: Route) =>
  fieldsOf(route).filter((name) => !(name in pathOf(route)) && !IN_PAGES.includes(name));

function accepts(route: Route, query: Record<string, string>): boolean {
  try {
    readInput(route, { path: pathOf(route), query, body: undefined });
    return true;
  } catch {
    return false;
  }
}

test("every list has pages", () => {
  const without = lists.filter(
    ([, route]) =>
      !("pagination" in (route.beside?.shape ?? {})) ||
      IN_PAGES.some((name) => !fieldsOf(route).includes(name)),
  );
  expect(without.map(([name]) => name)).toEqual([]);
  expect(lists.length).toBeGreaterThan(25);
});

test("every filter with fixed values refuses an unknown value", () => {
  const open = [...lists, ...tables].flatMap(([name, route]) =>
    filtersOf(route)
      .filter((filter) => !FREE.has(filter) && !FREE.has(`${filter}:${name}`))
      .filter((filter) => accepts(route, { [filter]: "nope" }))
      .map((filter) => `${name} ${filter}`),
  );
  expect(open).toEqual([]);
});

/** Lists without named rows, short ones, and those with another filter. */
const NOT_SEARCHED =
  "adminMonitor adminMonitorAsPublished getCatalog listBackups listDataRequests listEvents listIntegrations listJoinRequests listLabelledChats listLabelledMessages listLabels listScheduled listStatusViews listStatuses";

test("every list can be searched, unless its rows have no names", () => {
  const without = lists.filter(([, route]) => !filtersOf(route).includes("q"));
  expect(without.map(([name]) => name).sort()).toEqual(NOT_SEARCHED.split(" "));
});

test("every searchable list accepts the query as q and as search", () => {
  const searched = [...lists, ...tables].filter(([, route]) => filtersOf(route).includes("q"));
  const refused = searched.flatMap(([name, route]) =>
    ["q", "search"]
      .filter((filter) => !accepts(route, { [filter]: "Ana" }))
      .map((filter) => `${name} ${filter}`),
  );
  expect(refused).toEqual([]);
  expect(searched.length).toBeGreaterThan(8);
});

/** Their bodies accept any field. */
const OPEN = ["setLeadFields", "saveIntegration"];

test("every route that programs call refuses a parameter that it does not have, and names it", () => {
  const called = routes.filter(([, { access }]) => access !== "public");
  const deaf = called.filter(([, route]) => {
    try {
      readInput(route, { path: pathOf(route), query: { sort_by: "name" }, body: {} });
      return true;
    } catch (error) {
      return !(error as Error).message.startsWith("sort_by: ");
    }
  });
  expect(deaf.map(([name]) => name)).toEqual(OPEN);
  expect(called.length).toBeGreaterThan(150);
});

test("a parameter beside a JSON body is refused, since it would do nothing there", () => {
  const send = (query: object) => () =>
    readInput(contract.sendText, {
      path: { id: "1" },
      query: { ...query },
      body: { number: "5511999990004", text: "Hi" },
    });
  expect(send({})).not.toThrow();
  expect(send({ async: "true" })).toThrow(
    "async: is not read in the query of this request. Send it in the JSON body.",
  );
});

test.each(["message.*", "instance.*", "*", "campaign.progress", "Message.Received"])(
  "the lists of events and attempts take %s as an event",
  (event) => {
    for (const route of [contract.listEvents, contract.listDeliveryLogs, contract.listLogs])
      expect(accepts(route, { event })).toBe(true);
  },
);

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

/** All pages of a list, one row each. */
async function walk(page: (of: { limit: number; cursor?: string }) => Promise<Page>): Promise<number[]> {
  const ids: number[] = [];
  let cursor: string | null = null;
  do {
    const { data, pagination } = await page({ limit: 1, ...(cursor !== null && { cursor }) });
    expect(pagination).toMatchObject({ limit: 1, has_more: pagination.next_cursor !== null });
    ids.push(...data.map(({ id }) => id));
    cursor = pagination.next_cursor;
  } while (cursor !== null);
  return ids;
}

interface Page {
  data: { id: number }[];
  pagination: { next_cursor: string | null; has_more: boolean };
}

const newestFirst = (ids: number[]) => ids.toSorted((a, b) => b - a);

test("the pages of webhooks and of custom fields contain each row once, newest first", async () => {
  const { id, client } = await gateway.createInstance();
  for (const path of ["a", "b", "c"]) await client.createWebhook({ id, url: `http://127.0.0.1:9/${path}` });
  const webhooks = await walk((of) => client.listWebhooks({ id, ...of }));
  expect(webhooks).toEqual(newestFirst(webhooks));
  expect(new Set(webhooks).size).toBe((await client.listWebhooks({ id })).data.length);
  for (const name of ["Size", "Age", "Plan"]) await gateway.owner.createCustomField({ name });
  const fields = await walk((of) => gateway.owner.listCustomFields(of));
  expect(fields).toEqual(newestFirst(fields));
  expect(fields).toHaveLength(3);
});

test("the pages of integrations contain each one once", async () => {
  const { id, client } = await gateway.createInstance();
  const url = "http://127.0.0.1:9/webhook/in";
  await client.saveIntegration({ id, provider: "n8n", enabled: false, webhook_url: url });
  await client.saveIntegration({ id, provider: "typebot", enabled: false, base_url: url, public_id: "bot" });
  const first = await client.listIntegrations({ id, limit: 1 });
  const next = await client.listIntegrations({ id, limit: 1, cursor: first.pagination.next_cursor ?? "" });
  expect([...first.data, ...next.data].map(({ provider }) => provider)).toEqual(["typebot", "n8n"]);
  expect([first, next].map(({ pagination }) => pagination.has_more)).toEqual([true, false]);
});

test.each<[string, (of: Record<string, never>) => Promise<unknown>, string]>([
  ["labels", (of) => gateway.owner.listLeadLabels(of), "It has none."],
  ["a timeline", (of) => gateway.owner.getCampaignTimeline({ id: 1, ...of }), "It has none."],
  ["held work", (of) => gateway.owner.getHeldWork(of), "It has none."],
  [
    "figures",
    (of) => gateway.owner.getWebhookFigures({ id: 1, ...of }),
    "Did you mean period? Parameters are webhook_id, period.",
  ],
])("the route of %s returns 400 for a misspelt parameter", async (_, ask, advice) => {
  const misspelt = { perod: "week" } as object as Record<string, never>;
  await expect(ask(misspelt)).rejects.toMatchObject({
    status: 400,
    message: `perod: is not a parameter of this route. ${advice}`,
  });
});

test("leads are found by q as by search, and events by the names of a group", async () => {
  await gateway.owner.createLead({ name: "Zuleika" });
  const sought: object = { search: "zuleika" };
  expect((await gateway.owner.listLeads(sought)).data).toMatchObject([{ name: "Zuleika" }]);
  expect((await gateway.owner.listLeads({ q: "nobody" })).data).toEqual([]);
  const { id, client } = await gateway.connectInstance();
  const names = async (event: "message.*" | "instance.*" | "*") =>
    (await client.listEvents({ id, event })).data.map((one) => one.event.split(".")[0]);
  expect(new Set(await names("instance.*"))).toEqual(new Set(["instance"]));
  expect(await names("message.*")).toEqual([]);
  expect(await names("*")).toEqual(await names("instance.*"));
});

/** A name with SQL pattern characters, and one that the unescaped pattern would match. */
const NAMES = ["Conceição 100%_\\ off", "Filho 1000 off", "Łódź Straße Ørsted Æsop"];
/** Number of matches of each search. */
const SEARCHES: readonly (readonly [q: string, found: number])[] = [
  ["0 off", 1],
  ["conceicao", 1],
  ["CONCEIÇÃO 100", 1],
  ["100%_\\ off", 1],
  ["100_ off", 0],
  ["1%off", 0],
  ["100\\%", 0],
  ["lodz strasse", 1],
  ["ØRSTED aesop", 1],
];
/** They search messages by whole words: list-messages.test.ts. */
const BY_WORDS = ["listChatMessages", "listMessages", "listAccountMessages"];
/** They search the names of accounts and applications. */
const ELSEWHERE = [...BY_WORDS, "listManagedDataRequests", "listAssistants"];

interface NamedRows {
  add(name: string): Promise<unknown>;
  lists: Record<string, (page: { q: string }) => Promise<{ data: unknown }>>;
}

let made = 0;

/** Rows with user-chosen names, and the lists that show them. */
function namedRows({ id, client }: TestInstance): NamedRows[] {
  const { owner } = gateway;
  let report: number | undefined;
  const email = () => `searched${made++}@example.com`;
  return [
    {
      async add(name) {
        const { data } = await client.createWebhook({
          id,
          name,
          url: "http://127.0.0.1:9/",
          is_active: false,
        });
        await client.testWebhook({ id, webhookId: data.id }).catch(() => {});
      },
      lists: {
        listWebhooks: (page) => client.listWebhooks({ id, ...page }),
        listDeliveryLogs: (page) => client.listDeliveryLogs({ id, ...page }),
        listLogs: (page) => owner.listLogs({ type: "webhooks", ...page }),
        async listInstanceLogs(page) {
          const { data } = await client.listInstanceLogs({ id, ...page });
          return { data: Object.values(data).flat() };
        },
      },
    },
    {
      add: (name) => client.createGroup({ id, name, participants: ["5511988887777"] }),
      lists: { listGroups: (page) => client.listGroups({ id, ...page }) },
    },
    {
      async add(push_name) {
        await client.sandboxReceive({ id, from: newPhone(), push_name, text: "Hello" });
        await waitUntil(async () =>
          (await client.listContacts({ id })).data.some((contact) => contact.push_name === push_name),
        );
      },
      lists: {
        listContacts: (page) => client.listContacts({ id, ...page }),
        listChats: (page) => client.listChats({ id, type: "contact", ...page }),
        listConversations: (page) => client.listConversations({ type: "contact", ...page }),
      },
    },
    {
      add: (name) => owner.createCampaign({ name, instance_id: id, message_template: "Hello" }),
      lists: { listCampaigns: (page) => owner.listCampaigns(page) },
    },
    {
      async add(name) {
        report ??= (await owner.createCampaign({ name: "May", instance_id: id, message_template: "Hi" })).data
          .id;
        const recipients = [{ phone: `+${newPhone()}`, variables: { name } }];
        await owner.addRecipients({ id: report, recipients });
      },
      lists: {
        getCampaignReport: async (page) => {
          const { data } = await owner.getCampaignReport({ id: report ?? 0, ...page });
          return { data: data?.recipients };
        },
      },
    },
    {
      add: (purpose) =>
        owner.recordConsent({ phone: `+${newPhone()}`, purpose, consent_type: "opt_in", granted: true }),
      lists: { listConsent: (page) => owner.listConsent({ userId: "me", ...page }) },
    },
    {
      add: (name) => owner.createLead({ name }),
      lists: { listLeads: (page) => owner.listLeads(page) },
    },
    {
      add: (name) => owner.createCustomField({ name }),
      lists: { listCustomFields: (page) => owner.listCustomFields(page) },
    },
    {
      add: (content) => owner.saveQuickReply({ shortcut: `searched${made++}`, content }),
      lists: { listQuickReplies: (page) => owner.listQuickReplies(page) },
    },
    {
      add: (name) => owner.createInstance({ name, network: "sandbox" }),
      lists: {
        listInstances: (page) => owner.listInstances(page),
        listAllInstances: (page) => gateway.admin.listAllInstances(page),
      },
    },
    {
      add: (name) => owner.createUser({ name, email: email(), password: PASSWORD }),
      lists: {
        listUsers: (page) => owner.listUsers(page),
        listAccountUsers: (page) => owner.listAccountUsers({ id: 1, ...page }),
      },
    },
    { add: (name) => owner.createPlan({ name }), lists: { listPlans: (page) => owner.listPlans(page) } },
    // Last, because a second account blocks all requests to this machine.
    {
      add: (name) => owner.createAccount({ name, email: email() }),
      lists: { listAccounts: (page) => owner.listAccounts(page) },
    },
  ];
}

test("every list that can be searched finds a part of a name as it is written, in any case and without accents", async () => {
  const found: Record<string, unknown[]> = {};
  for (const { add, lists: shown } of namedRows(await gateway.connectInstance())) {
    for (const name of NAMES) await add(name);
    for (const [list, find] of Object.entries(shown))
      found[list] = await Promise.all(
        SEARCHES.map(async ([q]) => [q, ((await find({ q })).data as unknown[]).length]),
      );
  }
  const searched = lists.filter(([, route]) => filtersOf(route).includes("q")).map(([name]) => name);
  const named = searched.filter((name) => !ELSEWHERE.includes(name));
  expect(found).toEqual(Object.fromEntries(named.map((name) => [name, SEARCHES])));
});

test("data requests are found by a part of their account's name", async () => {
  const { owner } = gateway;
  await owner.anonymizeData({ scope: "person", number: "+5511987650079" });
  const { name } = (await owner.getAccount({})).data;
  const requests = async (q: string) => (await owner.listManagedDataRequests({ q })).data.length;
  expect(await requests(name.toUpperCase())).toBe(1);
  expect(await requests("nobody")).toBe(0);
});
