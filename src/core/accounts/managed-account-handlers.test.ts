import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { changeTiming } from "../../../test/change-sandbox-timing.ts";
import { newPhone, startTestGateway, type TestGateway, waitUntil } from "../../../test/gateway.ts";
import { createHttpRequester } from "../../../test/http-requester.ts";
import { PASSWORD, signIn } from "../../../test/sign-in.ts";
import { type Client, createClient, WaygateError } from "../../client/client.ts";
import { createSandboxControl } from "../../network/sandbox/sandbox-control.ts";
import { CREDENTIAL_TIMING } from "./access/credential-cache.ts";
import { endTrials } from "./end-trials.ts";

changeTiming(CREDENTIAL_TIMING, { ttlMs: 250 });
let test: TestGateway;

beforeAll(async () => {
  test = await startTestGateway({ WAYGATE_UNKNOWN_RATE: "0" });
});
afterAll(() => test.stop());

let made = 0;

interface Person {
  account_id: number;
  user_id: number;
  email: string;
  client: Client;
}

/** An account created by this caller, with its first user signed in. */
async function makeAccount(
  by: Client,
  input: { account_type?: "reseller" | "client"; plan_id?: number; trial_ends_at?: string } = {},
): Promise<Person> {
  const email = `person${made++}@example.com`;
  const { data } = await by.createAccount({ name: `Shop ${made}`, email, password: PASSWORD, ...input });
  return { account_id: data.id, user_id: data.user.id, email, client: await clientOf(email) };
}

async function clientOf(email: string, password = PASSWORD): Promise<Client> {
  return (await signIn(test.url, { email, password })).client;
}

/** Code and details of the request's error. */
async function refusal(asking: Promise<unknown>) {
  const error = await asking.then(() => undefined).catch((thrown: unknown) => thrown);
  if (!(error instanceof WaygateError)) throw new Error("It was not refused.", { cause: error });
  return { code: error.code, details: error.details };
}

const codeOf = async (asking: Promise<unknown>) => (await refusal(asking)).code;

async function makePlan(limits: Parameters<Client["createPlan"]>[0] extends infer P ? Partial<P> : never) {
  const { data } = await test.owner.createPlan({ name: `Plan ${made++}`, ...limits });
  return data;
}

describe("users", () => {
  it("are added, listed, changed and removed by an administrator, each with an audit entry", async () => {
    const { client, account_id, user_id } = await makeAccount(test.owner);
    const email = `agent${made++}@example.com`;
    const { data: added } = await client.createUser({ name: "Bia", email, password: PASSWORD });
    expect(added).toMatchObject({ name: "Bia", email, role: "agent" });
    expect((await client.listUsers()).data.map(({ id }) => id)).toEqual([added.id, user_id]);
    expect((await client.updateUser({ id: added.id, name: "Beatriz", role: "admin" })).data).toMatchObject({
      name: "Beatriz",
      role: "admin",
      email,
    });
    await client.deleteUser({ id: added.id });
    expect((await client.listUsers()).data).toHaveLength(1);
    const { data } = await test.owner.listLogs({ type: "audit", account_id, action: "user.*" });
    expect(data).toMatchObject([
      { action: "user.delete", target_id: String(added.id), actor: "user", actor_id: user_id },
      { action: "user.update", fields: ["name", "role"] },
      { action: "user.create", fields: ["name", "email", "password", "role"] },
    ]);
  });

  it("are asked for another password when somebody else has chosen it, unless that one says otherwise", async () => {
    const { client } = await makeAccount(test.owner);
    const bia = { name: "Bia", email: `agent${made++}@example.com`, password: PASSWORD };
    const { data } = await client.createUser(bia);
    const isAsked = async () => (await (await clientOf(bia.email)).me()).data.user.must_change_password;
    expect(await isAsked()).toBe(true);
    await client.updateUser({ id: data.id, must_change_password: false });
    expect(await isAsked()).toBe(false);
    await client.updateUser({ id: data.id, name: "Beatriz" });
    expect(await isAsked()).toBe(false);
    await client.updateUser({ id: data.id, password: PASSWORD });
    expect(await isAsked()).toBe(true);
    const own = { ...bia, email: `agent${made++}@example.com`, must_change_password: false };
    expect((await client.createUser(own)).data.must_change_password).toBe(false);
  });

  it("are signed out at once when they are removed, or their password or role is changed", async () => {
    const { client } = await makeAccount(test.owner);
    const email = `agent${made++}@example.com`;
    const { data: user } = await client.createUser({ name: "Bia", email, password: PASSWORD });
    const NEW = "gravel trombone oyster lamp";
    for (const change of [{ role: "admin" as const }, { password: NEW }]) {
      const theirs = await clientOf(email);
      await client.updateUser({ id: user.id, ...change });
      expect(await refusal(theirs.me())).toMatchObject({ code: "INVALID_TOKEN" });
    }
    const theirs = await clientOf(email, NEW);
    await client.deleteUser({ id: user.id });
    expect(await refusal(theirs.me())).toMatchObject({ code: "INVALID_TOKEN" });
  });

  it("cannot raise or lock out themselves, nor leave the account without an administrator", async () => {
    const { client, user_id } = await makeAccount(test.owner);
    expect(await codeOf(client.updateUser({ id: user_id, role: "agent" }))).toBe("VALIDATION_ERROR");
    expect(await codeOf(client.updateUser({ id: user_id, password: PASSWORD }))).toBe("VALIDATION_ERROR");
    expect(await codeOf(client.deleteUser({ id: user_id }))).toBe("CONFLICT");
    const email = `admin${made++}@example.com`;
    const { data } = await client.createUser({ name: "Bia", email, password: PASSWORD, role: "admin" });
    const other = await clientOf(email);
    const responses = await Promise.allSettled([
      other.updateUser({ id: user_id, role: "agent" }),
      client.updateUser({ id: data.id, role: "agent" }),
    ]);
    expect(responses.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  });

  it("can have a list of instances if they are agents, and only of instances of the account", async () => {
    const { client } = await makeAccount(test.owner);
    const { client: neighbour } = await makeAccount(test.owner);
    const { data: own } = await client.createInstance({ name: "Ours", network: "sandbox" });
    const { data: foreign } = await neighbour.createInstance({ name: "Theirs", network: "sandbox" });
    const add = (more: Partial<Parameters<Client["createUser"]>[0]>) =>
      client.createUser({ name: "Bia", email: `agent${made++}@example.com`, password: PASSWORD, ...more });
    const refused = { code: "VALIDATION_ERROR", details: { fields: [{ field: "instance_ids" }] } };
    expect(await refusal(add({ role: "admin", instance_ids: [own.id] }))).toMatchObject(refused);
    expect(await refusal(add({ instance_ids: [own.id, foreign.id] }))).toMatchObject(refused);
    const { data: added } = await add({ instance_ids: [own.id, own.id] });
    const { id } = added;
    const change = async (input: Omit<Parameters<Client["updateUser"]>[0], "id">) =>
      (await client.updateUser({ id, ...input })).data.instance_ids;
    expect([added.instance_ids, await change({ name: "Beatriz" })]).toEqual([[own.id], [own.id]]);
    expect(await change({ role: "admin" })).toBeNull();
    expect(await refusal(change({ instance_ids: [own.id] }))).toMatchObject(refused);
    expect(await change({ role: "agent", instance_ids: [own.id] })).toEqual([own.id]);
    expect(await change({ instance_ids: null })).toBeNull();
  });

  it("lose an instance that is taken off their list or removed at once, and reach none when none is left", async () => {
    const { client } = await makeAccount(test.owner);
    const create = async (name: string) =>
      (await client.createInstance({ name, network: "sandbox" })).data.id;
    const [first, second] = [await create("First"), await create("Second")];
    const email = `agent${made++}@example.com`;
    const { data: user } = await client.createUser({
      name: "Bia",
      email,
      password: PASSWORD,
      instance_ids: [first, second],
    });
    await client.createCampaign({ name: "Spring", instance_id: second, message_template: "Hi" });
    const agent = await clientOf(email);
    const seen = async () => (await agent.listInstances()).data.map(({ id }) => id);
    expect(await seen()).toEqual([second, first]);
    await client.updateUser({ id: user.id, instance_ids: [first] });
    expect(await refusal(agent.getInstance({ id: second }))).toMatchObject({ code: "NOT_FOUND" });
    await create("Third");
    expect(await seen()).toEqual([first]);
    await client.deleteInstance({ id: first });
    expect((await client.listUsers()).data.find(({ id }) => id === user.id)?.instance_ids).toEqual([]);
    await waitUntil(async () => (await agent.me()).data.user.instance_ids?.length === 0);
    const { instances_by_status } = (await agent.accountOverview()).data;
    const { used } = (await agent.getAccount()).data;
    const campaigns = (await agent.listCampaigns()).data;
    expect([await seen(), campaigns, instances_by_status, used.instances]).toEqual([[], [], {}, 0]);
  });

  it("with a role above administrator are created and changed by a super_admin only", async () => {
    const { client } = await makeAccount(test.owner);
    const input = { name: "Boss", email: `boss${made++}@example.com`, password: PASSWORD };
    expect(await refusal(client.createUser({ ...input, role: "super_admin" }))).toMatchObject({
      code: "FORBIDDEN",
      details: { needs: "super_admin" },
    });
    const { data } = await test.owner.createUser({ ...input, role: "admin" });
    const admin = await clientOf(input.email);
    const { data: me } = await test.owner.me();
    expect(await codeOf(admin.updateUser({ id: me.user.id, name: "x" }))).toBe("FORBIDDEN");
    expect(await codeOf(admin.deleteUser({ id: me.user.id }))).toBe("FORBIDDEN");
    await test.owner.deleteUser({ id: data.id });
  });

  it("have a unique e-mail address in their account, even if another account uses it", async () => {
    const { client } = await makeAccount(test.owner);
    const bia = { name: "Bia", email: "BIA@example.com", password: PASSWORD };
    expect((await client.createUser(bia)).data.email).toBe(bia.email);
    const again = { ...bia, email: "bia@EXAMPLE.com" };
    expect(await codeOf(client.createUser(again))).toBe("CONFLICT");
    const weak = { ...bia, email: "weak@example.com", password: "password1234" };
    expect(await codeOf(client.createUser(weak))).toBe("VALIDATION_ERROR");
    expect((await client.listUsers()).data).toHaveLength(2);
  });

  it("never exceed the plan's limit, however many requests run at once", async () => {
    const plan = await makePlan({ max_users: 3 });
    const { client } = await makeAccount(test.owner, { plan_id: plan.id });
    const added = await Promise.allSettled(
      Array.from({ length: 5 }, () =>
        client.createUser({ name: "Bia", email: `u${made++}@example.com`, password: PASSWORD }),
      ),
    );
    expect(added.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
    const input = { name: "Bia", email: `u${made++}@example.com`, password: PASSWORD };
    expect(await refusal(client.createUser(input))).toEqual({
      code: "QUOTA_EXCEEDED",
      details: { quota: "max_users", limit: 3, used: 3, left: 0 },
    });
  });
});

describe("the user's own account", () => {
  it("shows plan, usage and settings, and accepts a new name and single settings", async () => {
    const { client, account_id } = await makeAccount(test.owner);
    await client.createInstance({ name: "Sales", network: "sandbox" });
    expect((await client.getAccount()).data).toMatchObject({
      id: account_id,
      account_type: "client",
      status: "active",
      trial_ends_at: null,
      plan: { name: "standard", max_users: null },
      used: { instances: 1, users: 1 },
      settings: { auto_create_leads: false },
    });
    await client.updateAccount({ settings: { auto_create_leads: true } });
    expect((await client.updateAccount({ name: "New name" })).data).toMatchObject({
      name: "New name",
      settings: { auto_create_leads: true },
    });
  });

  it("take a setting inside or outside of settings, also as camel case", async () => {
    const { client, email } = await makeAccount(test.owner);
    const { token } = await signIn(test.url, { email });
    const change = async (body: object) => {
      const response = await fetch(`${test.url}/api/account`, {
        method: "PATCH",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      return response.status;
    };
    const country = async () => (await client.getAccount()).data.settings;
    expect(await change({ default_country: "pt", timeZone: "Europe/Lisbon" })).toBe(200);
    expect(await country()).toMatchObject({ default_country: "PT", time_zone: "Europe/Lisbon" });
    expect(await change({ default_country: "ZZ" })).toBe(400);
    expect(await change({ settings: { defaultCountry: "AR" } })).toBe(200);
    expect(await country()).toMatchObject({ default_country: "AR" });
  });

  it("keep the stages of their board in order, each of them once", async () => {
    const { client } = await makeAccount(test.owner);
    expect((await client.getAccount()).data.settings.lead_stages).toEqual([]);
    const stages = ["Won", "Talking"];
    await client.updateAccount({ settings: { lead_stages: stages } });
    await client.updateAccount({ settings: { auto_create_leads: true } });
    expect((await client.getAccount()).data.settings.lead_stages).toEqual(stages);
    const refused = client.updateAccount({ settings: { lead_stages: ["Won", " Won "] } });
    await expect(refused).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  });

  it("have a time zone that the clock knows, or none", async () => {
    const { client } = await makeAccount(test.owner);
    const setTo = async (time_zone: string | null) =>
      (await client.updateAccount({ settings: { time_zone } })).data.settings.time_zone;
    expect(await setTo("America/Sao_Paulo")).toBe("America/Sao_Paulo");
    await expect(setTo("Mars/Olympus")).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
    expect(await setTo(null)).toBeNull();
  });

  it("keep each stage of their board that several people add or take off at the same time", async () => {
    const { client } = await makeAccount(test.owner);
    await client.updateAccount({ settings: { lead_stages: ["First", "Old"] } });
    const names = ["Talking", "Offer", "Won", "Lost"];
    await Promise.all([
      ...names.map((name) => client.updateAccount({ add_lead_stages: ["First", name] })),
      client.updateAccount({ remove_lead_stages: ["Old"] }),
    ]);
    const { lead_stages } = (await client.getAccount()).data.settings;
    expect(lead_stages[0]).toBe("First");
    expect([...lead_stages].sort()).toEqual(["First", ...names].sort());
    const many = Array.from({ length: 50 }, (_, n) => `Stage ${n}`);
    await expect(client.updateAccount({ add_lead_stages: many })).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
    });
    expect((await client.getAccount()).data.settings.lead_stages).toEqual(lead_stages);
  });

  it("take a new board first, and what is added or taken off in the same request after it", async () => {
    const { client } = await makeAccount(test.owner);
    const { data } = await client.updateAccount({
      settings: { lead_stages: ["First", "Old"] },
      add_lead_stages: ["Won"],
      remove_lead_stages: ["Old"],
    });
    expect(data.settings.lead_stages).toEqual(["First", "Won"]);
  });
});

describe("accounts", () => {
  it("are made with a country in either place, and refuse the other settings by name", async () => {
    const { headers } = await signIn(test.url);
    const create = async (body: object) => {
      const response = await fetch(`${test.url}/api/admin/accounts`, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify({ name: "Shop", email: `made${made++}@example.com`, ...body }),
      });
      // biome-ignore lint/suspicious/noExplicitAny: a success and a refusal have different fields
      return (await response.json()) as any;
    };
    const { data } = await create({ settings: { default_country: "de" } });
    const { rows } = await test.database.pool.query("select settings from account where id = $1", [data.id]);
    expect(rows[0].settings).toEqual({ default_country: "DE" });
    const refused = await create({ settings: { time_zone: "Europe/Berlin" }, defaultCountry: "DE" });
    expect(refused.details.fields).toMatchObject([{ field: "settings.time_zone" }]);
  });

  it("get a generated password if none is given, which is shown once", async () => {
    const email = `made${made++}@example.com`;
    const { data } = await test.owner.createAccount({ name: "Shop", email, user_name: "Bia" });
    expect(data).toMatchObject({
      account_type: "client",
      status: "active",
      parent_id: null,
      plan: { name: "standard" },
      user: { name: "Bia", email, role: "admin" },
      users: 1,
      instances: 0,
    });
    const client = await clientOf(email, data.password);
    expect((await client.me()).data.account.id).toBe(data.id);
  });

  it("are found by name or e-mail, by status and kind, page by page", async () => {
    const word = `findme${made++}`;
    for (let i = 0; i < 3; i++) {
      await test.owner.createAccount({ name: `${word} ${i}%`, email: `${word}${i}@example.com` });
    }
    const first = await test.owner.listAccounts({ q: word, limit: 2 });
    expect(first.data.map(({ name }) => name)).toEqual([`${word} 2%`, `${word} 1%`]);
    const cursor = first.pagination.next_cursor ?? undefined;
    const rest = await test.owner.listAccounts({ q: word, limit: 2, cursor });
    expect([rest.data.map(({ name }) => name), rest.pagination.has_more]).toEqual([[`${word} 0%`], false]);
    expect((await test.owner.listAccounts({ q: `${word}1@` })).data).toHaveLength(1);
    expect((await test.owner.listAccounts({ account_type: "owner" })).data).toHaveLength(1);
    expect((await test.owner.listAccounts({ q: word, status: "blocked" })).data).toEqual([]);
  });

  it("out of service lose sign-in, tokens and keys soon, until their release", async () => {
    const statuses = ["paused", "blocked", "expired", "cancelled"] as const;
    const shops = await Promise.all(
      statuses.map(async (status) => {
        const shop = await makeAccount(test.owner);
        const { data } = await shop.client.createInstance({ name: "Sales", network: "sandbox" });
        const key = createClient({ baseUrl: test.url, apiKey: data.api_key });
        return { ...shop, status, calls: [() => key.getInstance({ id: data.id }), () => shop.client.me()] };
      }),
    );
    const calls = shops.flatMap((shop) => shop.calls);
    const countRefused = async () => {
      const asked = await Promise.all(calls.map((request) => request().catch(({ code }) => code)));
      return asked.filter((code) => code === "ACCOUNT_RESTRICTED").length;
    };
    expect(await countRefused()).toBe(0);
    for (const { account_id: id, status } of shops) await test.owner.changeAccount({ id, status });
    for (const { email, status } of shops) {
      expect(await refusal(clientOf(email))).toEqual({ code: "ACCOUNT_RESTRICTED", details: { status } });
    }
    await waitUntil(async () => (await countRefused()) === calls.length);
    for (const { account_id: id } of shops) await test.owner.changeAccount({ id, status: "active" });
    await waitUntil(async () => (await countRefused()) === 0);
  });

  it("that are blocked send nothing more, but still store inbound messages", async () => {
    const { client, account_id } = await makeAccount(test.owner);
    const { data } = await client.createInstance({ name: "Sales", network: "sandbox" });
    const key = createClient({ baseUrl: test.url, apiKey: data.api_key });
    const phone = newPhone();
    await key.sandboxScan({ id: data.id, phone });
    await waitUntil(async () => (await key.getInstanceStatus({ id: data.id })).data.connected);
    const text = { number: "5511987651234", text: "Hi" };
    await key.sendText({ id: data.id, ...text, async: true, delay: 60_000 });
    await test.owner.changeAccount({ id: account_id, status: "blocked" });
    const messages = async () =>
      test.database.db
        .selectFrom("message")
        .select(["direction", "status", "error"])
        .where("instance_id", "=", data.id)
        .orderBy("id")
        .execute();
    const phones = createSandboxControl(test.database.pool, account_id);
    await phones.receive(phone, { from: "5511987651239", content: { kind: "text", text: "Hello" } });
    await waitUntil(async () => {
      await test.advance(20_000);
      return (await messages()).every(({ status }) => status !== "pending");
    });
    await waitUntil(async () => (await messages()).length === 2);
    expect(await messages()).toMatchObject([
      { direction: "outbound", status: "failed", error: { code: "ACCOUNT_RESTRICTED", retryable: false } },
      { direction: "inbound", status: "received" },
    ]);
  });

  it("on trial expire when the trial ends, and the expiry is stored", async () => {
    const from = (ms: number) => new Date(Date.now() + ms).toISOString();
    const { client, account_id } = await makeAccount(test.owner, { trial_ends_at: from(3_600_000) });
    expect((await client.getAccount()).data.status).toBe("trial");
    const over = await test.owner.changeAccount({ id: account_id, trial_ends_at: from(-1_000) });
    expect(over.data.status).toBe("expired");
    await waitUntil(() =>
      client.me().then(
        () => false,
        ({ code }) => code === "ACCOUNT_RESTRICTED",
      ),
    );
    await endTrials(test.database.db);
    const row = await test.database.db
      .selectFrom("account")
      .select("status")
      .where("id", "=", account_id)
      .executeTakeFirst();
    expect(row?.status).toBe("expired");
    const { data } = await test.owner.listLogs({ type: "audit", account_id, action: "account.expire" });
    expect(data).toMatchObject([{ actor: "system", fields: ["status"] }]);
  });

  it("of the owner keep their status and plan, and a second owner cannot be created", async () => {
    const { data } = await test.owner.me();
    const plan = await makePlan({ max_instances: 1 });
    for (const change of [{ status: "blocked" as const }, { plan_id: plan.id }]) {
      expect(await codeOf(test.owner.changeAccount({ id: data.account.id, ...change }))).toBe("CONFLICT");
    }
    const input = { name: "x", email: `x${made++}@example.com`, account_type: "owner" as "client" };
    expect(await codeOf(test.owner.createAccount(input))).toBe("VALIDATION_ERROR");
  });
});

describe("a reseller", () => {
  it("never has more customers than its plan allows, however many are added at once", async () => {
    const plan = await makePlan({ max_accounts: 2 });
    const { client, account_id } = await makeAccount(test.owner, {
      account_type: "reseller",
      plan_id: plan.id,
    });
    const results = await Promise.allSettled(
      Array.from({ length: 4 }, () =>
        client.createAccount({ name: "Shop", email: `customer${made++}@example.com` }),
      ),
    );
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
    const full = { code: "QUOTA_EXCEEDED", details: { quota: "max_accounts", limit: 2, used: 2, left: 0 } };
    const input = { name: "Shop", email: `customer${made++}@example.com` };
    expect(await refusal(client.createAccount(input))).toEqual(full);
    expect(await refusal(test.owner.createAccount({ ...input, parent_id: account_id }))).toEqual(full);
    const { data: other } = await test.owner.createAccount(input);
    const given = test.owner.changeAccount({ id: other.id, parent_id: account_id });
    expect(await refusal(given)).toEqual(full);
    expect((await client.listAccounts()).data).toHaveLength(2);
  });

  it("creates, sees and suspends its own customers, and no others", async () => {
    const one = await makeAccount(test.owner, { account_type: "reseller" });
    const other = await makeAccount(test.owner, { account_type: "reseller" });
    const customer = await makeAccount(one.client);
    const theirs = await makeAccount(other.client);
    expect((await one.client.listAccounts()).data).toMatchObject([
      {
        id: customer.account_id,
        parent_id: one.account_id,
        account_type: "client",
        plan: { name: "standard" },
      },
    ]);
    const missing = await refusal(one.client.changeAccount({ id: 999_999_999, status: "blocked" }));
    for (const id of [theirs.account_id, other.account_id, one.account_id, 1]) {
      expect(await refusal(one.client.changeAccount({ id, status: "blocked" }))).toEqual(missing);
    }
    expect(missing.code).toBe("NOT_FOUND");
    expect((await one.client.changeAccount({ id: customer.account_id, status: "blocked" })).data.status).toBe(
      "blocked",
    );
    await theirs.client.me();
  });

  it("cannot undo a decision of the gateway's owner", async () => {
    const reseller = await makeAccount(test.owner, { account_type: "reseller" });
    const { account_id: id } = await makeAccount(reseller.client);
    await reseller.client.changeAccount({ id, status: "paused" });
    await reseller.client.changeAccount({ id, status: "active" });
    await test.owner.changeAccount({ id, status: "blocked" });
    const late = new Date(Date.now() + 3_600_000).toISOString();
    for (const change of [{ status: "active" as const }, { trial_ends_at: late }]) {
      expect(await codeOf(reseller.client.changeAccount({ id, ...change }))).toBe("FORBIDDEN");
    }
    expect((await reseller.client.changeAccount({ id, name: "Renamed" })).data.status).toBe("blocked");
    await test.owner.changeAccount({ id, status: "active" });
    expect((await reseller.client.changeAccount({ id, status: "paused" })).data.status).toBe("paused");
  });

  it("cannot create resellers, give customers away, or assign a plan wider than its own", async () => {
    const narrow = await makePlan({ max_instances: 5, max_users: 2, features: { campaigns: false } });
    const within = await makePlan({ max_instances: 1, max_users: 2, features: { campaigns: false } });
    const wide = await makePlan({ max_instances: 6, max_users: 2, features: { campaigns: false } });
    const featured = await makePlan({ max_instances: 1, max_users: 1 });
    const reseller = await makeAccount(test.owner, { account_type: "reseller", plan_id: narrow.id });
    const other = await makeAccount(test.owner, { account_type: "reseller" });
    const shown = (await reseller.client.listPlans()).data.map(({ id }) => id);
    expect(shown).toEqual([within.id, narrow.id]);
    const customer = await makeAccount(reseller.client, { plan_id: within.id });
    const planless = { name: "y", email: `y${made++}@example.com` };
    expect((await reseller.client.createAccount(planless)).data.plan.id).toBe(narrow.id);
    const change = { id: customer.account_id };
    for (const plan_id of [wide.id, featured.id, 999_999]) {
      expect(await codeOf(reseller.client.changeAccount({ ...change, plan_id }))).toBe("VALIDATION_ERROR");
    }
    const away = { ...change, parent_id: other.account_id };
    expect(await codeOf(reseller.client.changeAccount(away))).toBe("FORBIDDEN");
    expect(await codeOf(reseller.client.changeAccount({ ...change, parent_id: null }))).toBe("FORBIDDEN");
    const input = { name: "x", email: `x${made++}@example.com`, account_type: "reseller" as const };
    expect(await codeOf(reseller.client.createAccount(input))).toBe("FORBIDDEN");
    expect(await codeOf(reseller.client.createPlan({ name: "Mine" }))).toBe("FORBIDDEN");
  });

  it("cannot assign a plan that stores messages or files for longer than its own", async () => {
    const days = (media_retention_days: number | null, max_message_retention_days: number | null) =>
      makePlan({ features: { media_retention_days, max_message_retention_days } });
    const own = await days(30, 90);
    const within = await days(30, 60);
    const longer = [await days(31, 90), await days(30, 91), await days(null, 90), await days(30, null)];
    const reseller = await makeAccount(test.owner, { account_type: "reseller", plan_id: own.id });
    const { data } = await reseller.client.listPlans();
    expect(data.map(({ id }) => id)).toEqual([within.id, own.id]);
    const customer = await makeAccount(reseller.client, { plan_id: within.id });
    for (const { id: plan_id } of [...longer, await makePlan({})]) {
      const refused = await refusal(reseller.client.changeAccount({ id: customer.account_id, plan_id }));
      expect(refused.code).toBe("VALIDATION_ERROR");
    }
  });
});

describe("plans", () => {
  it("are created and changed under unique names; the built-in plans keep their names", async () => {
    const plan = await makePlan({ price: 49.9, max_instances: 2, features: { crm: false } });
    expect(plan).toMatchObject({ price: 49.9, max_instances: 2, max_users: null, features: { crm: false } });
    expect((await test.owner.updatePlan({ id: plan.id, max_instances: null })).data).toMatchObject({
      max_instances: null,
      price: 49.9,
      features: { crm: false },
    });
    expect(await codeOf(test.owner.createPlan({ name: plan.name }))).toBe("CONFLICT");
    expect(await codeOf(test.owner.updatePlan({ id: 999_999, price: 1 }))).toBe("NOT_FOUND");
    const { data } = await test.owner.listPlans();
    const id = (name: string) => data.find((row) => row.name === name)?.id ?? 0;
    expect(await codeOf(test.owner.updatePlan({ id: id("unlimited"), max_users: 1 }))).toBe("CONFLICT");
    expect(await codeOf(test.owner.updatePlan({ id: id("standard"), name: "x" }))).toBe("CONFLICT");
  });

  it("reject an unknown feature, with the names of the known ones", async () => {
    const request = createHttpRequester(() => test.url);
    const { headers: bearer } = await signIn(test.url);
    const body = { name: "Typo", features: { media_retention: 7 } };
    const { status, body: refused } = await request("POST /api/admin/plans", body, bearer);
    expect({ status, error: refused.error }).toMatchObject({ status: 400 });
    expect(JSON.stringify(refused)).toContain(
      "features.media_retention: is not a field here. Fields are campaigns, crm, integrations, media_retention_days, max_message_retention_days, max_campaign_retention_days, max_lead_retention_days, max_event_retention_days, max_log_retention_days.",
    );
  });

  it("can be deleted once no account uses them, except for the built-in plans", async () => {
    const plan = await makePlan({});
    const { account_id } = await makeAccount(test.owner, { plan_id: plan.id });
    const inUse = { code: "CONFLICT", details: { accounts: 1 } };
    expect(await refusal(test.owner.deletePlan({ id: plan.id }))).toMatchObject(inUse);
    const { data: plans } = await test.owner.listPlans();
    const standard = plans.find(({ name }) => name === "standard")?.id ?? 0;
    await test.owner.changeAccount({ id: account_id, plan_id: standard });
    expect((await test.owner.deletePlan({ id: plan.id })).data).toEqual({ id: plan.id });
    expect(await refusal(test.owner.deletePlan({ id: standard }))).toMatchObject({ code: "CONFLICT" });
  });
});
