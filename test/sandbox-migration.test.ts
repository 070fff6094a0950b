import { afterAll, beforeAll, expect, it } from "vitest";
import { credentialsOf } from "../src/network/sandbox/pairing/pair-device.ts";
import { migrateDatabase } from "../src/platform/db/migrate-database.ts";
import { createDatabaseBefore, type TestDatabase } from "./database.ts";
import { startSandboxNetwork, storeInMemory, type TestSandboxNetwork } from "./sandbox-network.ts";

const MIGRATION = "0036-sandbox-accounts";
const [ANA, BIA, BOTH, CUSTOMER] = ["5511977770101", "5511977770102", "5511977770103", "5511977770104"];
const [OURS, THEIRS] = ["120363420000000001@g.us", "120363420000000002@g.us"];

let store: TestDatabase;
let network: TestSandboxNetwork;
/** Ana is paired with the first account, Bia with the second one, and one number with both. */
let [first, second] = [0, 0];

beforeAll(async () => {
  store = await createDatabaseBefore(MIGRATION);
  first = await insertAccount("a", [ANA, BOTH]);
  second = await insertAccount("b", [BIA, BOTH]);
  for (const [nth, phone] of [ANA, BIA, BOTH, BOTH].entries()) await insertDevice(phone, `token ${nth}`);
  await insertNetwork();
  expect(await migrateDatabase(store.database.db)).toContain(MIGRATION);
  network = await startSandboxNetwork({ store });
});
afterAll(async () => {
  await network.stop();
  await store.drop();
});

async function rows(text: string, ...values: unknown[]): Promise<Record<string, unknown>[]> {
  return (await store.database.pool.query(text, values)).rows;
}

async function insertAccount(name: string, phones: string[]): Promise<number> {
  const [account] = await rows(
    `with p as (insert into plan (name, features) values ($1, '{}') returning id)
     insert into account (name, account_type, plan_id, settings) select $1, 'client', id, '{}' from p returning id`,
    name,
  );
  for (const phone of phones) {
    await rows(
      `insert into instance (account_id, lane, global_lane, name, network, webhook_secret, phone)
       values ($1, 1, 2, 'i', 'sandbox', '', $2)`,
      account?.id,
      phone,
    );
  }
  return Number(account?.id);
}

async function insertDevice(phone: string, token: string): Promise<void> {
  await rows("insert into sandbox.device (phone, token, linked_at) values ($1, $2, now())", phone, token);
}

async function insertNetwork(): Promise<void> {
  const pair = `insert into sandbox.contact (owner, phone, name) values ($1, $2, $3)`;
  await rows(pair, ANA, CUSTOMER, "Customer of Ana");
  await rows(pair, BOTH, CUSTOMER, "Customer of both");
  await rows("insert into sandbox.profile (phone, name) values ($1, 'Customer'), ($2, 'Ana')", CUSTOMER, ANA);
  await rows("insert into sandbox.chat (owner, chat, pinned) values ($1, $2, true)", BIA, `${CUSTOMER}@x`);
  const group = "insert into sandbox.group_chat (jid, subject, invite) values ($1, $2, $3)";
  const member = "insert into sandbox.group_member (group_jid, phone) values ($1, $2), ($1, $3)";
  await rows(group, OURS, "Ours", "invite 1");
  await rows(member, OURS, ANA, CUSTOMER);
  await rows(group, THEIRS, "Of both", "invite 2");
  await rows(member, THEIRS, CUSTOMER, BOTH);
  const message = "insert into sandbox.message (phone, id, chat, body) values ($1, $2, 'chat', 'text')";
  await rows(message, ANA, "1");
  await rows(message, BOTH, "2");
  await rows("insert into sandbox.media (id, bytes) values ('file', 'x'), ('nobody', 'y')");
  await rows(
    `insert into sandbox.mailbox (device, chat, kind, body)
     select id, 'chat', 'message', '{"content":{"ref":{"media":"file"}}}' from sandbox.device where phone = $1`,
    ANA,
  );
}

it("a device that is paired now goes to the account of its instance", async () => {
  const devices = await rows("select phone, account_id from sandbox.device order by id");
  expect(devices).toEqual([
    { phone: ANA, account_id: first },
    { phone: BIA, account_id: second },
    { phone: BOTH, account_id: null },
    { phone: BOTH, account_id: null },
  ]);
});

it("a number of two accounts can be claimed by the account that has its credentials", async () => {
  const open = (token: string, account_id: number) => {
    const credentials = { ...storeInMemory(), load: async () => credentialsOf(token) };
    const listener = network.open(credentials, account_id);
    listener.session.connect();
    return listener;
  };
  const tokens = await rows("select token from sandbox.device");
  expect(tokens.every(({ token }) => /^[0-9a-f]{64}$/.test(String(token)))).toBe(true);
  const [one, other] = [open("token 2", first), open("token 3", second)];
  expect((await one.waitForEvent("connected")).me.phone).toBe(BOTH);
  expect((await other.waitForEvent("connected")).me.phone).toBe(BOTH);
  const claimed = await rows("select account_id from sandbox.device where phone = $1 order by id", BOTH);
  expect(claimed).toEqual([{ account_id: first }, { account_id: second }]);
  expect((await open("token 2", second).waitForEvent("logged_out")).reason).toBe("unlinked");
});

it("each account sees the data of its own numbers, and shared data is shown to both", async () => {
  expect(await rows("select account_id, owner, name from sandbox.address_book order by 1, 2")).toEqual([
    { account_id: first, owner: ANA, name: "Customer of Ana" },
    { account_id: first, owner: BOTH, name: "Customer of both" },
    { account_id: second, owner: BOTH, name: "Customer of both" },
  ]);
  expect(await rows("select account_id, name from sandbox.person order by 1, 2")).toEqual([
    { account_id: first, name: "Ana" },
    { account_id: first, name: "Customer" },
    { account_id: second, name: "Customer" },
  ]);
  expect(await rows("select account_id, owner, pinned from sandbox.chat_state")).toEqual([
    { account_id: second, owner: BIA, pinned: true },
  ]);
  expect(await rows("select account_id, id from sandbox.message order by 2, 1")).toEqual([
    { account_id: first, id: "1" },
    { account_id: first, id: "2" },
    { account_id: second, id: "2" },
  ]);
  expect(await rows("select account_id, id from sandbox.media order by 2")).toEqual([
    { account_id: first, id: "file" },
    { account_id: 0, id: "nobody" },
  ]);
});

it("a group goes to the accounts that are in it, with its members in their order", async () => {
  const groups = await rows(
    `select g.account_id, subject, (
       select array_agg(phone order by seat) from sandbox.group_member m
       where m.group_jid = g.jid and m.account_id = g.account_id) as members
     from sandbox.group_chat g order by subject, account_id`,
  );
  expect(groups).toEqual([
    { account_id: first, subject: "Of both", members: [CUSTOMER, BOTH] },
    { account_id: second, subject: "Of both", members: [CUSTOMER, BOTH] },
    { account_id: first, subject: "Ours", members: [ANA, CUSTOMER] },
  ]);
});

it("an older version keeps the columns that it needs to run beside this one", async () => {
  const OLD = [
    "insert into sandbox.message (phone, id, chat, body) values ('1', '1', 'x', 'x') on conflict do nothing",
    "insert into sandbox.media (id, bytes) values ('m', 'x') on conflict do nothing",
    "insert into sandbox.device (phone, token) values ('1', 'old')",
    "insert into sandbox.pairing (id, host, expires_at) values ('p', 1, now())",
    "insert into sandbox.profile (phone) values ('1') on conflict (phone) do update set name = 'x'",
    "insert into sandbox.contact (owner, phone) values ('1', '2') on conflict (owner, phone) do update set name = 'x'",
    "insert into sandbox.chat (owner, chat) values ('1', '2') on conflict (owner, chat) do update set pinned = true",
    "insert into sandbox.group_chat (jid, subject, invite) values ('g', 'x', 'i') on conflict do nothing",
    `insert into sandbox.group_member (group_jid, phone) values ('${OURS}', '1') on conflict do nothing`,
    "select nextval('sandbox.number'), nextval('sandbox.group_number')",
  ];
  for (const statement of [...OLD, OLD[0]]) await rows(statement ?? "");
});
