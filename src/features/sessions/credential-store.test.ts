import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../test/database.ts";
import { createSecretBox, encryptionContextOf } from "../../platform/secrets/secret-box.ts";
import { createCredentialStore } from "./credential-store.ts";

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
      network: "sandbox",
      webhook_secret: Buffer.alloc(0),
      metadata: "{}",
      settings: "{}",
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  instance = id;
  const key = String(id);
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
/** Commits a change with a message whose recording ends so. */
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
