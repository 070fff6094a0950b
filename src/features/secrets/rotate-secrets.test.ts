import { sql } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../test/database.ts";
import { readKeptKey } from "../../platform/kept-key.ts";
import { createSecretBox } from "../../platform/secret-box.ts";
import { requireSecretKey } from "../../platform/secret-check.ts";
import { rotateSecrets, SEALED_COLUMNS } from "./rotate-secrets.ts";

const OLD = "8fJ2mQ7vXc4RtY9wLp3ZsB6nHd1KgA5e";
const NEW = "Zp4Rk8Tn1Vx6Bq3Mw7Gj2Fd9Lc5Hs0Ye";
const old = createSecretBox(OLD);
const both = createSecretBox(NEW, OLD);
const fresh = createSecretBox(NEW);
let test: TestDatabase;

/** Binary columns that no secret box has sealed: digests, hashes and files. */
const NOT_SEALED = [
  ...["api_key.digest", "audit_seal.hash", "suppression.digest", "sign_in_guess.key"],
  ...["instance_link.browser", "instance_link.digest"],
  ...["event.body", "outgoing_media.bytes", "idempotency.fingerprint", "account_idempotency.fingerprint"],
];

beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

it("knows every binary column of the schema as sealed or not", async () => {
  const { rows } = await sql<{ name: string }>`
    select c.table_name || '.' || c.column_name as name from information_schema.columns c
    where c.table_schema = 'public' and c.data_type = 'bytea'
      and not exists (select from pg_inherits where inhrelid = c.table_name::regclass)`.execute(
    test.database.db,
  );
  const known = [...SEALED_COLUMNS.map((column) => column.join(".")), ...NOT_SEALED];
  expect(rows.map(({ name }) => name).sort()).toEqual(known.sort());
});

it("seals everything anew, also what changes meanwhile, and keeps what the kept keys have marked", async () => {
  const { db } = test.database;
  await requireSecretKey(db, old);
  const kept = await readKeptKey(db, old, "test");
  await sql`insert into account (name, account_type, plan_id) values ('Shop', 'client', 1)`.execute(db);
  const secrets = Array.from({ length: 1_203 }, (_, i) => old.seal(`secret ${i}`));
  await sql`
    insert into instance (account_id, lane, global_lane, name, network, webhook_secret, proxy)
    select 1, 0, 0, 'x', 'sandbox', secret, case when random() < 0.5 then secret end
    from unnest(${secrets}::bytea[]) as secret`.execute(db);
  let isOver = false;
  const changed = new Set<number>();
  const changing = (async () => {
    for (let id = 1; !isOver; id = (id % 1_200) + 1) {
      changed.add(id);
      await db
        .updateTable("instance")
        .set({ webhook_secret: both.seal("changed") })
        .where("id", "=", id)
        .execute();
    }
  })();
  const { resealed } = await rotateSecrets(db, both);
  isOver = true;
  await changing;
  expect(resealed["instance.webhook_secret"]).toBeGreaterThanOrEqual(secrets.length - changed.size);
  expect(resealed["instance.proxy"]).toBeGreaterThan(400);
  const rows = await db
    .selectFrom("instance")
    .select(["id", "webhook_secret", "proxy"])
    .orderBy("id")
    .execute();
  expect(
    rows.every(({ id, webhook_secret, proxy }) => {
      const isKept = proxy === null || fresh.open(proxy) === `secret ${id - 1}`;
      return isKept && ["changed", `secret ${id - 1}`].includes(fresh.open(webhook_secret));
    }),
  ).toBe(true);
  await requireSecretKey(db, fresh);
  expect(await readKeptKey(db, fresh, "test")).toEqual(kept);
  expect(await rotateSecrets(db, fresh)).toEqual({ resealed: {} });
});

it("stops at a secret of a key that it was not given, and loses nothing", async () => {
  const { db } = test.database;
  const third = createSecretBox("Wq5Lk2Rn8Vx3Bp6Mz9Gj4Fd7Tc1Hs0Yb");
  await expect(rotateSecrets(db, third)).rejects.toThrow("sealed with another WAYGATE_SECRET_KEY");
  await requireSecretKey(db, fresh);
});
