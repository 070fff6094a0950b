import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../test/database.ts";
import { startTestGateway, type TestGateway, waitUntil } from "../../../test/gateway.ts";
import { loadSealedKey } from "../../platform/config/load-sealed-key.ts";
import { requireSecretKey } from "../../platform/config/require-secret-key.ts";
import { createSecretBox, encryptionContextOf } from "../../platform/secrets/secret-box.ts";
import { sealForMessage } from "../messages/log/seal-for-message.ts";
import { createCredentialStore } from "../sessions/credential-store.ts";
import { rotateSecrets, SEALED_COLUMNS } from "./rotate-secrets.ts";

const OLD = "8fJ2mQ7vXc4RtY9wLp3ZsB6nHd1KgA5e";
const NEW = "Zp4Rk8Tn1Vx6Bq3Mw7Gj2Fd9Lc5Hs0Ye";
const old = createSecretBox(OLD);
const both = createSecretBox(NEW, OLD);
const fresh = createSecretBox(NEW);
let test: TestDatabase;

/** Binary columns without encrypted values: digests, hashes and files. */
const NOT_SEALED = [
  "api_key.digest",
  "audit_seal.hash",
  "suppression.digest",
  "use_counter.key",
  "instance_link.browser",
  "instance_link.digest",
  "event.body",
  "outgoing_media.bytes",
  "idempotency.fingerprint",
  "account_idempotency.fingerprint",
  "oauth_code.digest",
  "oauth_token.digest",
  "welcome_link.digest",
];

/** More than two batches. */
const COUNT = 1_203;

beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

it("key rotation classifies every binary column of the schema as sealed or not", async () => {
  const { rows } = await sql<{ name: string }>`
    select table_name || '.' || column_name as name from information_schema.columns c
    join information_schema.tables t using (table_schema, table_name)
    where c.table_schema = 'public' and c.data_type = 'bytea' and t.table_type = 'BASE TABLE'
      and not exists (select from pg_inherits where inhrelid = table_name::regclass)`.execute(
    test.database.db,
  );
  const known = [...SEALED_COLUMNS.map(({ table, column }) => `${table}.${column}`), ...NOT_SEALED];
  expect(rows.map(({ name }) => name).sort()).toEqual(known.sort());
});

it("key rotation reseals every secret, also those that change during the rotation", async () => {
  const { db } = test.database;
  for (const box of [old, both]) await requireSecretKey(db, box);
  const kept = await loadSealedKey(db, old, "test");
  await sql`insert into account (name, account_type, plan_id) values ('Shop', 'client', 1)`.execute(db);
  const sealAll = (column: string) =>
    Array.from({ length: COUNT }, (_, i) =>
      old.seal(`secret ${i}`, encryptionContextOf("instance", column, i + 1)),
    );
  await sql`
    insert into instance (id, account_id, lane, global_lane, name, network, webhook_secret, proxy)
    select id, 1, 0, 0, 'x', 'sandbox', secret, case when random() < 0.5 then proxy end
    from unnest(${sealAll("webhook_secret")}::bytea[], ${sealAll("proxy")}::bytea[]) with ordinality as x (secret, proxy, id)
    `.execute(db);
  let isOver = false;
  const changed = new Set<number>();
  const changing = (async () => {
    for (let id = 1; !isOver; id = (id % 1_200) + 1) {
      changed.add(id);
      await db
        .updateTable("instance")
        .set({ webhook_secret: both.seal("changed", encryptionContextOf("instance", "webhook_secret", id)) })
        .where("id", "=", id)
        .execute();
    }
  })();
  const { resealed } = await rotateSecrets(db, both);
  isOver = true;
  await changing;
  expect(resealed["instance.webhook_secret"]).toBeGreaterThanOrEqual(COUNT - changed.size);
  expect(resealed["instance.proxy"]).toBeGreaterThan(400);
  const rows = await db
    .selectFrom("instance")
    .select(["id", "webhook_secret", "proxy"])
    .orderBy("id")
    .execute();
  expect(
    rows.every(({ id, webhook_secret, proxy }) => {
      const isKept =
        proxy === null ||
        fresh.open(proxy, encryptionContextOf("instance", "proxy", id)) === `secret ${id - 1}`;
      return (
        isKept &&
        ["changed", `secret ${id - 1}`].includes(
          fresh.open(webhook_secret, encryptionContextOf("instance", "webhook_secret", id)),
        )
      );
    }),
  ).toBe(true);
  await requireSecretKey(db, fresh);
  expect(await loadSealedKey(db, fresh, "test")).toEqual(kept);
  expect(await rotateSecrets(db, fresh)).toEqual({ resealed: {} });
});

it("key rotation stops at a secret of an unknown key, and loses nothing", async () => {
  const { db } = test.database;
  const third = createSecretBox("Wq5Lk2Rn8Vx3Bp6Mz9Gj4Fd7Tc1Hs0Yb");
  await expect(rotateSecrets(db, third)).rejects.toThrow("is encrypted with another WAYGATE_SECRET_KEY");
  await requireSecretKey(db, fresh);
});

describe("a gateway's secrets", () => {
  let gateway: TestGateway;

  beforeAll(async () => {
    gateway = await startTestGateway({ WAYGATE_SECRET_KEY: OLD });
  });
  afterAll(() => gateway.stop());

  /** Every encrypted value, created as users and sessions do. */
  async function fillColumns(): Promise<void> {
    const { db } = gateway.database;
    const { id, client } = await gateway.connectInstance();
    await client.updateInstance({ id, proxy: { url: "http://me:pass@127.0.0.1:1" } });
    const webhook = { id, url: "http://127.0.0.1:1/", format: "evolution" as const, format_token: "token" };
    const { data } = await client.createWebhook({ ...webhook, name: "Own", headers: { "x-key": "value" } });
    await client.updateWebhook({ id, webhookId: data.id, rotate_secret: true });
    await client.saveIntegration({
      id,
      provider: "n8n",
      config: { webhook_url: "http://127.0.0.1:1/", token: "token" },
    });
    const { data: other } = await gateway.owner.createInstance(
      { name: "Once", network: "sandbox" },
      { idempotencyKey: "once" },
    );
    const sent = await client.sendText({ id, number: "5521966661234", text: "Oi" });
    const secret = sealForMessage(old, "secret", id, sent.data.message_id ?? "", "secret");
    const raw = sealForMessage(old, "raw", id, sent.data.message_id ?? "", "raw");
    await sql`update message set secret = decode(${secret}, 'hex'), raw = decode(${raw}, 'hex') where instance_id = ${id}`.execute(
      db,
    );
    const { id: laneId } = await db
      .insertInto("lane")
      .values({ kind: "test", key: String(other.id), owner: "a", epoch: 1 })
      .returning("id")
      .executeTakeFirstOrThrow();
    const lane = { id: laneId, kind: "test", key: String(other.id), epoch: 1 };
    const store = createCredentialStore({ db, box: old, node: "a", lane });
    await store.saveRegistration(Buffer.from("registration"));
    await sql`update credential set secret = registration where instance_id = ${other.id}`.execute(db);
    await store.keys?.commit({
      keys: [{ kind: "session", id: "a", value: "key" }],
      journal_entries: [{ id: "b", is_done: false, body: "entry" }],
      deleted_journal_ids: [],
    });
    await sql`update credential set secret = null where instance_id = ${other.id}`.execute(db);
  }

  it("are sealed for the rows in which a rotation looks for them", async () => {
    await fillColumns();
    const { resealed } = await rotateSecrets(gateway.database.db, both);
    expect(Object.keys(resealed).sort()).toEqual(
      SEALED_COLUMNS.map(({ table, column }) => `${table}.${column}`).sort(),
    );
  });

  it("do not open in another row: that request fails with the reason, and other requests work", async () => {
    await gateway.restart({ WAYGATE_SECRET_KEY: NEW });
    const { id, client } = await gateway.connectInstance();
    const add = async (name: string) =>
      (await client.createWebhook({ id, name, url: "http://127.0.0.1:1/", headers: { "x-key": name } })).data;
    const [one, two] = [await add("One"), await add("Two")];
    await sql`update webhook set headers = (select headers from webhook where id = ${two.id})
      where id = ${one.id}`.execute(gateway.database.db);
    await expect(client.testWebhook({ id, webhookId: one.id })).rejects.toMatchObject({ code: "INTERNAL" });
    await expect(client.testWebhook({ id, webhookId: two.id })).rejects.toMatchObject({
      code: "SEND_FAILED",
    });
    await client.sandboxReceive({ id, from: "5521966660000", text: "Oi" });
    await waitUntil(async () => (await client.listDeliveryLogs({ id, webhook_id: two.id })).data.length > 1);
    expect((await client.listDeliveryLogs({ id, webhook_id: one.id })).data).toEqual([]);
    await client.updateWebhook({ id, webhookId: one.id, headers: { "x-key": "anew" } });
    await expect(client.testWebhook({ id, webhookId: one.id })).rejects.toMatchObject({
      code: "SEND_FAILED",
    });
  });
});
