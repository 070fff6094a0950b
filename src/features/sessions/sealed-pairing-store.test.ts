import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../test/database.ts";
import type { PairingChange } from "../../network/driver.ts";
import { createSecretBox } from "../../platform/secrets/secret-box.ts";
import { createCredentialStore } from "./credential-store.ts";
import { createSealedPairingStore } from "./sealed-pairing-store.ts";

let test: TestDatabase;
let instance = 100;
let lane = { id: 0, kind: "session", key: "", epoch: 1 };
const box = createSecretBox("k".repeat(43));
const bytes = (text: string) => new TextEncoder().encode(text);

beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

beforeEach(async () => {
  const { db } = test.database;
  const { id: account_id } = await db
    .insertInto("account")
    .values({ name: "Shop", account_type: "client", plan_id: 1, settings: "{}" })
    .returning("id")
    .executeTakeFirstOrThrow();
  const { id } = await db
    .insertInto("instance")
    .values({
      account_id,
      lane: 0,
      global_lane: 0,
      name: "Sales",
      network: "whatsapp",
      webhook_secret: Buffer.alloc(0),
      metadata: "{}",
      settings: "{}",
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  instance = id;
  const added = await db
    .insertInto("lane")
    .values({ kind: "session", key: String(id), owner: "a", epoch: 1 })
    .returning("id")
    .executeTakeFirstOrThrow();
  lane = { id: added.id, kind: "session", key: String(id), epoch: 1 };
});

const open = (epoch = 1, node = "a") => {
  const options = { db: test.database.db, box, node };
  const store = createCredentialStore({
    ...options,
    lane: { ...lane, epoch },
    pairingStore: createSealedPairingStore(options),
  });
  return { ...store, keys: store.keys ?? expect.fail("no keys") };
};
const change = (part: Partial<PairingChange>): PairingChange => ({
  keys: [],
  journal_entries: [],
  deleted_journal_ids: [],
  ...part,
});
const key = (id: string, value: string | null, kind = "session") => ({ kind, id, value });
const entry = (id: string, is_done = false) => ({ id, is_done, body: `body of ${id}` });

describe("the stored keys of a pairing", () => {
  it("are returned as they were last written, and are sealed", async () => {
    const { save, keys } = open();
    await save(bytes("identity"));
    await keys.commit(change({ keys: [key("ana.0", "first"), key("bia.0", "other")] }));
    await keys.commit(change({ keys: [key("ana.0", "second"), key("bia.0", null)] }));
    expect(await keys.read("session", ["ana.0", "bia.0", "caio.0"])).toEqual(new Map([["ana.0", "second"]]));
    expect(await keys.read("sender-key", ["ana.0"])).toEqual(new Map());
    const rows = await test.database.db.selectFrom("pairing_key").selectAll().execute();
    expect(rows.map(({ secret }) => secret.toString("latin1")).join()).not.toContain("second");
  });

  it("do not open in place of another key, and the other keys can be read", async () => {
    const { save, keys } = open();
    await save(bytes("identity"));
    await keys.commit(change({ keys: [key("ana.0", "hers"), key("bia.0", "other")] }));
    await test.database.pool.query(
      `update pairing_key set secret = (select secret from pairing_key where instance_id = $1 and id = 'bia.0')
       where instance_id = $1 and id = 'ana.0'`,
      [instance],
    );
    const [moved, whole] = await Promise.allSettled([
      keys.read("session", ["ana.0"]),
      keys.read("session", ["bia.0"]),
    ]);
    expect(moved).toMatchObject({
      reason: {
        message: expect.stringMatching(/pairing_key\.secret of \d+ was changed, or was encrypted for/),
      },
    });
    expect(whole).toMatchObject({ value: new Map([["bia.0", "other"]]) });
  });

  it("are stored together with the identity and the journal entries, or not at all", async () => {
    const { save, keys, load } = open();
    await save(bytes("one"));
    const all = { credentials: bytes("two"), keys: [key("ana.0", "x")], journal_entries: [entry("hash")] };
    expect(await keys.commit(change(all))).toBe("kept");
    expect(Buffer.from((await load()) ?? []).toString()).toBe("two");
    await test.database.db
      .updateTable("lane")
      .set({ owner: "b", epoch: 2 })
      .where("id", "=", lane.id)
      .execute();
    const late = {
      credentials: bytes("three"),
      keys: [key("ana.0", "y")],
      journal_entries: [entry("late")],
    };
    expect(await keys.commit(change(late))).toBe("lost");
    expect(Buffer.from((await load()) ?? []).toString()).toBe("two");
    expect(await keys.read("session", ["ana.0"])).toEqual(new Map([["ana.0", "x"]]));
    expect((await keys.readJournal()).map(({ id }) => id)).toEqual(["hash"]);
  });

  it("of an earlier pairing are never returned, and can no longer be written", async () => {
    const old = open();
    await old.save(bytes("old"));
    await old.keys.commit(change({ keys: [key("ana.0", "old")], journal_entries: [entry("old")] }));
    const next = open();
    await next.load();
    await next.erase();
    expect(await next.keys.read("session", ["ana.0"])).toEqual(new Map());
    expect(await next.keys.commit(change({ keys: [key("ana.0", "none")] }))).toBe("lost");
    await next.save(bytes("new"));
    expect(await old.keys.commit(change({ keys: [key("ana.0", "late")] }))).toBe("lost");
    expect(await next.keys.read("session", ["ana.0"])).toEqual(new Map());
    expect(await next.keys.readJournal()).toEqual([]);
    const left = await test.database.db
      .selectFrom("pairing_key")
      .selectAll()
      .where("instance_id", "=", instance)
      .execute();
    expect(left).toEqual([]);
  });

  it("can be written concurrently in one statement without losing a key", async () => {
    const { save, keys } = open();
    await save(bytes("identity"));
    const ids = Array.from({ length: 250 }, (_, i) => `${i}`);
    const results = await Promise.all(
      ids.map((id) => keys.commit(change({ keys: [key(id, id), key("x", id)] }))),
    );
    expect(new Set(results)).toEqual(new Set(["kept"]));
    const found = await Promise.all(ids.map((id) => keys.read("session", [id, "x"])));
    expect(found.map((one, i) => one.get(`${i}`))).toEqual(ids);
    expect(found[0]?.get("x")).toBe("249");
  });
});

describe("the journal entries of a pairing", () => {
  it("are returned in the order of arrival, until they are deleted", async () => {
    const { save, keys } = open();
    await save(bytes("identity"));
    await keys.commit(change({ journal_entries: [entry("c"), entry("a")] }));
    await keys.commit(change({ journal_entries: [entry("b")] }));
    await keys.commit(change({ journal_entries: [entry("c", true)], deleted_journal_ids: ["a"] }));
    expect(await keys.readJournal()).toEqual([entry("c", true), entry("b")]);
    expect(await keys.readJournal(["b", "nobody"])).toEqual([entry("b")]);
  });
});
