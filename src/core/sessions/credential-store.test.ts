import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../test/database.ts";
import { insertAccount, insertInstance } from "../../../test/rows.ts";
import type { PairingChange } from "../../network/driver.ts";
import { createSecretBox, encryptionContextOf } from "../../platform/secrets/secret-box.ts";
import { createCredentialStore } from "./credential-store.ts";
import { createSealedPairingStore } from "./sealed-pairing-store.ts";

let test: TestDatabase;
const box = createSecretBox("k".repeat(43));
let instance = 0;
let lane = { id: 0, kind: "session", key: "", epoch: 1 };
const bytes = (text: string) => new TextEncoder().encode(text);
const text = async (loading: Promise<Uint8Array | undefined>) => {
  const loaded = await loading;
  return loaded && new TextDecoder().decode(loaded);
};

beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

beforeEach(async () => {
  const { db } = test.database;
  instance = await insertInstance(db, await insertAccount(db));
  const key = String(instance);
  const added = await db
    .insertInto("lane")
    .values({ kind: "session", key, owner: "a", epoch: 1 })
    .returning("id")
    .executeTakeFirstOrThrow();
  lane = { id: added.id, kind: "session", key, epoch: 1 };
});

const store = (node = "a", epoch = 1) =>
  createCredentialStore({ db: test.database.db, box, node, lane: { ...lane, epoch } });
const row = () =>
  test.database.db
    .selectFrom("credential")
    .selectAll()
    .where("instance_id", "=", instance)
    .executeTakeFirst();
/** Commits a change with a message, recorded by `recordMessages`. */
const commitWithMessage = async (recordMessages: () => Promise<boolean>) => {
  const { keys } = createCredentialStore({ db: test.database.db, box, node: "a", lane, recordMessages });
  return keys?.commitWithMessages?.({ keys: [], journal_entries: [], deleted_journal_ids: [] }, []);
};
const takeOver = (owner: string, epoch: number) =>
  test.database.db.updateTable("lane").set({ owner, epoch }).where("id", "=", lane.id).execute();

describe("the stored pairing of an instance", () => {
  it("is absent at first, and then returns what was saved last, sealed", async () => {
    const one = store();
    expect(await one.load()).toBeUndefined();
    await one.save(bytes("first"));
    await one.save(bytes("second \u0000\xff"));
    expect(await text(store().load())).toBe("second \u0000\xff");
    const { secret, generation } = (await row()) ?? {};
    expect(generation).toBe(1);
    expect(secret?.toString("latin1")).not.toContain("second");
  });

  it("starts a new generation with the first save after an erasure", async () => {
    const one = store();
    await one.save(bytes("first"));
    await one.erase();
    expect(await one.load()).toBeUndefined();
    expect(await row()).toMatchObject({ generation: 2, secret: null });
    await one.save(bytes("second"));
    expect(await row()).toMatchObject({ generation: 3 });
    expect(await text(one.load())).toBe("second");
  });

  it("can be erased if there is none, also twice", async () => {
    const one = store();
    await one.erase();
    await one.erase();
    await one.save(bytes("first"));
    await one.erase();
    await one.erase();
    expect(await one.load()).toBeUndefined();
  });

  it("is neither written nor erased by the store of an older generation", async () => {
    const [old, next] = [store(), store()];
    await old.save(bytes("old"));
    await next.load();
    await next.erase();
    await next.save(bytes("new"));
    await expect(old.save(bytes("late"))).rejects.toThrow(/later pairing/);
    await expect(old.erase()).rejects.toThrow(/later pairing/);
    expect(await text(store().load())).toBe("new");
  });

  it("is saved by only one of two stores that begin at once", async () => {
    const [one, other] = [store(), store()];
    await Promise.all([one.load(), other.load()]);
    const ends = await Promise.allSettled([one.save(bytes("one")), other.save(bytes("other"))]);
    expect(ends.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(await row()).toMatchObject({ generation: 1 });
  });

  it("is not changed by a process that no longer owns the lane", async () => {
    const old = store();
    await old.save(bytes("old"));
    await takeOver("b", 2);
    await expect(old.save(bytes("late"))).rejects.toThrow(/another process/);
    await expect(old.erase()).rejects.toThrow(/another process/);
    await takeOver("a", 3);
    await expect(old.save(bytes("late"))).rejects.toThrow(/another process/);
    expect(await text(store().load())).toBe("old");
    await store("a", 3).save(bytes("new"));
    expect(await text(store().load())).toBe("new");
  });

  it("keeps a registration, sealed, until the pairing is saved or erased", async () => {
    const one = store();
    expect(await one.loadRegistration()).toBeUndefined();
    await one.saveRegistration(bytes("first"));
    await one.saveRegistration(bytes("second"));
    expect(await one.load()).toBeUndefined();
    expect(await text(store().loadRegistration())).toBe("second");
    expect((await row())?.registration?.toString("latin1")).not.toContain("second");
    await one.save(bytes("pairing"));
    expect([await text(one.load()), await one.loadRegistration()]).toEqual(["pairing", undefined]);
    await expect(one.saveRegistration(bytes("late"))).rejects.toThrow(/later pairing/);
    await one.erase();
    await one.saveRegistration(bytes("third"));
    await one.erase();
    expect(await one.loadRegistration()).toBeUndefined();
  });

  it("cannot be opened by another instance", async () => {
    await store().save(bytes("pairing"));
    const { secret } = (await row()) ?? {};
    const sealed = secret ?? Buffer.alloc(0);
    expect(() => box.open(sealed, encryptionContextOf("credential", "secret", instance + 1))).toThrow(
      "another row",
    );
    const registration = { registration: sealed, secret: null };
    await test.database.db
      .updateTable("credential")
      .set(registration)
      .where("instance_id", "=", instance)
      .execute();
    expect(await store().loadRegistration()).toBeUndefined();
  });

  it("returns no registration that was sealed with a lost key", async () => {
    await store().saveRegistration(bytes("old"));
    const box = createSecretBox("x".repeat(43));
    const other = createCredentialStore({ db: test.database.db, box, node: "a", lane });
    expect(await other.loadRegistration()).toBeUndefined();
    await other.saveRegistration(bytes("new"));
    expect(await text(other.loadRegistration())).toBe("new");
  });

  it("accepts no registration from a process that no longer owns the lane", async () => {
    const old = store();
    await old.saveRegistration(bytes("old"));
    await takeOver("b", 2);
    await expect(old.saveRegistration(bytes("late"))).rejects.toThrow(/another process/);
    expect(await text(store("b", 2).loadRegistration())).toBe("old");
  });

  it("cannot be written by the previous owner at the moment of the take-over", async () => {
    const old = store();
    await old.save(bytes("old"));
    const client = await test.database.pool.connect();
    await client.query("begin");
    await client.query("update lane set owner = 'b', epoch = 2 where id = $1", [lane.id]);
    const late = old.save(bytes("late"));
    late.catch(() => {});
    await client.query("commit");
    client.release();
    await expect(late).rejects.toThrow(/another process/);
    expect(await text(store().load())).toBe("old");
  });
});

describe("a change of a pairing that is committed with messages", () => {
  it("is kept or lost with the commit", async () => {
    expect(await commitWithMessage(async () => true)).toBe("kept");
    expect(await commitWithMessage(async () => false)).toBe("lost");
  });

  it("can be committed alone if the database rejects a message or its row is locked", async () => {
    const locked = Object.assign(new Error("lock timeout"), { code: "55P03" });
    for (const error of [new Error("rejected"), locked])
      expect(await commitWithMessage(() => Promise.reject(error))).toBe("unrecorded");
  });

  it("is retried with its messages if the database is unavailable or full", async () => {
    const away = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
    const full = Object.assign(new Error("no space left"), { code: "53100" });
    for (const error of [away, full])
      await expect(commitWithMessage(() => Promise.reject(error))).rejects.toBe(error);
  });

  it("is not possible without a recorder", () => {
    expect(store().keys?.commitWithMessages).toBeUndefined();
  });
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
    await takeOver("b", 2);
    const late = { credentials: bytes("three"), keys: [key("ana.0", "y")], journal_entries: [entry("late")] };
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
