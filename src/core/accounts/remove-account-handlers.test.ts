import { sql } from "kysely";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ADMIN_TOKEN, startTestGateway, type TestGateway, waitUntil } from "../../../test/gateway.ts";
import { PASSWORD, signIn } from "../../../test/sign-in.ts";
import { type Client, createClient } from "../../client/client.ts";
import { createRequestLog } from "../instance-logs/request-log.ts";
import { accountTables } from "./finish-account-removals.ts";
import { repeatAccountRemoval } from "./remove-account-handlers.ts";

const CUSTOMER = "5521966661234";
const email = "shop@example.com";
let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway({ WAYGATE_UNKNOWN_RATE: "0", WAYGATE_SANDBOX: "on" });
});
afterAll(() => gateway.stop());

async function makeAccount(address: string, account_type: "client" | "reseller" = "client") {
  const made = { name: "Shop", email: address, password: PASSWORD, account_type };
  return (await gateway.owner.createAccount(made)).data;
}

async function clientOf(email: string): Promise<Client> {
  return (await signIn(gateway.url, { email })).client;
}

/** Tables with rows of the account, including those of the sandbox network. */
async function findRows(account_id: number): Promise<string[]> {
  const { rows: tables } = await sql<{ name: string }>`
    select c.table_schema || '.' || c.table_name as name
    from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
    where c.column_name = 'account_id' and c.table_schema in ('public', 'sandbox') and t.table_type = 'BASE TABLE'`.execute(
    gateway.database.db,
  );
  const found = await Promise.all(
    tables.map(async ({ name }) => {
      const { rows } =
        await sql`select from ${sql.table(name)} where account_id = ${account_id} limit 1`.execute(
          gateway.database.db,
        );
      return rows.length > 0 ? [name] : [];
    }),
  );
  return found.flat().sort();
}

async function findAccounts(id: number): Promise<number> {
  const found = await gateway.database.db.selectFrom("account").select("id").where("id", "=", id).execute();
  return found.length;
}

/** Resolves when the accounts are gone. Runs the next removal at once. */
async function untilGone(...ids: number[]): Promise<void> {
  await waitUntil(async () => {
    await gateway.advance(5_000);
    const left = await Promise.all(ids.map(findAccounts));
    return left.every((count) => count === 0);
  });
}

/** Fills an account with an instance, messages, a webhook and more. */
async function fillAccount(user: Client): Promise<{ id: number; api_key: string }> {
  const { data } = await user.createInstance({ name: "Sales", network: "sandbox" });
  const { id, api_key } = data;
  const client = createClient({ baseUrl: gateway.url, apiKey: api_key });
  await client.sandboxScan({ id });
  await waitUntil(async () => (await client.getInstanceStatus({ id })).data.connected);
  await client.createWebhook({ id, name: "Hook", url: "http://127.0.0.1:1/" });
  await client.sandboxReceive({ id, from: CUSTOMER, text: "Oi" });
  await client.sendText({ id, number: CUSTOMER, text: "Hello" });
  await user.createLead({ name: "Ana", phone: CUSTOMER });
  return { id, api_key };
}

describe("removing an account", () => {
  it("ends its access at once, then removes all data except the audit and request logs", async () => {
    const { id: account_id } = await makeAccount(email);
    const user = await clientOf(email);
    const instance = await fillAccount(user);
    const key = createClient({ baseUrl: gateway.url, apiKey: instance.api_key });
    expect(await findRows(account_id)).toEqual(expect.arrayContaining(["public.message", "sandbox.device"]));

    expect((await gateway.owner.removeAccount({ id: account_id })).data).toEqual({
      id: account_id,
      instances: 1,
    });
    await expect(user.me()).rejects.toMatchObject({ status: 401 });
    await expect(key.getInstanceStatus({ id: instance.id })).rejects.toMatchObject({ status: 401 });
    await expect(clientOf(email)).rejects.toMatchObject({ code: "INVALID_CREDENTIALS" });
    expect((await gateway.owner.listAccounts()).data.map(({ id }) => id)).not.toContain(account_id);
    await expect(gateway.owner.removeAccount({ id: account_id })).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
    await untilGone(account_id);
    expect(await findRows(account_id)).toEqual(["public.audit", "public.erasure_log"]);
    const entries = await gateway.database.db
      .selectFrom("audit")
      .select(["action", "ip"])
      .where("account_id", "=", account_id)
      .execute();
    expect(entries.map(({ action }) => action)).toEqual(
      expect.arrayContaining(["account.delete", "instance.delete", "account.removed"]),
    );
    expect(entries.every(({ ip }) => ip === null)).toBe(true);
    await makeAccount(email);
  });

  it("leaves no row of a request that is logged only afterwards", async () => {
    const { id: account_id } = await makeAccount("late@example.com");
    const log = createRequestLog({ db: gateway.database.db, log: pino({ level: "silent" }) });
    const caller = {
      kind: "user",
      user_id: 1,
      account_id,
      account_type: "client",
      role: "super_admin",
      instance_ids: null,
      is_fresh: true,
    } as const;
    const request = { method: "GET", route: "/late", status: 200, seconds: 0, ip: "127.0.0.1" };
    await gateway.owner.removeAccount({ id: account_id });
    await untilGone(account_id);
    log.record({ ...request, request_id: "r1", caller: { ...caller, sign_in: "s1" } });
    log.record({ ...request, request_id: "r2", caller: { kind: "admin" } });
    await log.close();
    expect(await findRows(account_id)).toEqual(["public.audit", "public.erasure_log"]);
    const logged = await sql`select request_id from api_log where route = '/late'`.execute(
      gateway.database.db,
    );
    expect(logged.rows).toEqual([{ request_id: "r2" }]);
  });

  it("is rejected for the owner's account and for a reseller with customers, with the reason", async () => {
    const own = (await gateway.owner.me()).data.account.id;
    await expect(gateway.owner.removeAccount({ id: own })).rejects.toMatchObject({ code: "CONFLICT" });
    const reseller = await makeAccount("reseller@example.com", "reseller");
    const seller = await clientOf("reseller@example.com");
    const { data } = await seller.createAccount({
      name: "His",
      email: "his@example.com",
      password: PASSWORD,
    });
    await expect(gateway.owner.removeAccount({ id: reseller.id })).rejects.toMatchObject({
      code: "CONFLICT",
      message: expect.stringContaining("1 customers"),
      details: { customers: 1 },
    });
    await expect(seller.removeAccount({ id: data.id })).rejects.toMatchObject({ status: 403 });
    await gateway.owner.removeAccount({ id: data.id });
    await gateway.owner.removeAccount({ id: reseller.id });
    await untilGone(reseller.id, data.id);
  });

  it("prevents adding an instance or a customer to the account meanwhile", async () => {
    const address = "hidden@example.com";
    const { id } = await makeAccount(address, "reseller");
    // An instance whose removal never ends stops the account's removal in the middle.
    await (await clientOf(address)).createInstance({ name: "Left", network: "sandbox" });
    await sql`update account set removed_at = now() where id = ${id}`.execute(gateway.database.db);
    const admin = createClient({ baseUrl: gateway.url, adminToken: ADMIN_TOKEN });
    await expect(
      admin.createInstanceWithKey({ name: "More", network: "sandbox", account_id: id }),
    ).rejects.toMatchObject({ code: "NOT_FOUND" });
    const customer = { name: "His", email: "late@example.com", password: PASSWORD, parent_id: id };
    await expect(gateway.owner.createAccount(customer)).rejects.toMatchObject({
      details: { fields: [{ field: "parent_id" }] },
    });
  });

  it("is repeated if a restore has brought the account back", async () => {
    const { id } = await makeAccount("back@example.com");
    await repeatAccountRemoval({ db: gateway.database.db, engine: gateway.gateway.engine }, id);
    await repeatAccountRemoval({ db: gateway.database.db, engine: gateway.gateway.engine }, id);
    await untilGone(id);
  });

  it("covers every table that has rows of an account", async () => {
    const { rows } = await sql<{ name: string }>`
      select c.table_name as name
      from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
      where c.column_name = 'account_id' and c.table_schema = 'public' and t.table_type = 'BASE TABLE'
        and not exists (select from pg_inherits where inhrelid = c.table_name::regclass)`.execute(
      gateway.database.db,
    );
    const kept = ["audit", "erasure_log", "instance"];
    expect(rows.map(({ name }) => name).sort()).toEqual([...accountTables(), ...kept].sort());
  });
});
