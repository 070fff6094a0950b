import { setImmediate as nextTurn } from "node:timers/promises";
import { afterAll, describe, expect, it, vi } from "vitest";
import { createTestDatabase } from "../../test/database.ts";
import { createGate } from "../../test/gate.ts";
import { createBatchLoader, createBatchWriter } from "./batch-queue.ts";

describe("a batch writer", () => {
  it("writes one batch at a time in order of arrival; later items form the next batch", async () => {
    const gate = createGate();
    const batches: number[][] = [];
    let inFlight = 0;
    const writer = createBatchWriter<number, number>({
      async write(items) {
        inFlight += 1;
        expect(inFlight).toBe(1);
        batches.push(items);
        await gate.opened;
        inFlight -= 1;
        return items.map((item) => item * 10);
      },
    });
    const first = [1, 2].map((n) => writer.write(n));
    await nextTurn();
    const later = [3, 4, 5].map((n) => writer.write(n));
    gate.open();
    expect(await Promise.all([...first, ...later])).toEqual([10, 20, 30, 40, 50]);
    expect(batches).toEqual([
      [1, 2],
      [3, 4, 5],
    ]);
  });

  it("writes in the next event-loop turn, without any delay of its own", async () => {
    let isWriting = false;
    const writer = createBatchWriter<number, number>({
      async write(items) {
        isWriting = true;
        return items;
      },
    });
    void writer.write(1);
    await nextTurn();
    expect(isWriting).toBe(true);
  });

  it("never puts more items into a batch than allowed", async () => {
    const sizes: number[] = [];
    const writer = createBatchWriter<number, number>({
      maxBatch: 3,
      async write(items) {
        sizes.push(items.length);
        return items;
      },
    });
    await Promise.all([1, 2, 3, 4, 5, 6, 7].map((n) => writer.write(n)));
    expect(sizes).toEqual([3, 3, 1]);
  });

  it("rejects items beyond the queue limit, and accepts items again when the queue has space", async () => {
    const gate = createGate();
    const writer = createBatchWriter<number, number>({
      maxWaiting: 2,
      maxBatch: 1,
      async write(items) {
        await gate.opened;
        return items;
      },
    });
    const first = [writer.write(1), writer.write(2)];
    await expect(writer.write(3)).rejects.toMatchObject({ code: "UNAVAILABLE", retryAfterSeconds: 2 });
    gate.open();
    expect(await Promise.all(first)).toEqual([1, 2]);
    expect(await writer.write(4)).toBe(4);
  });

  it("fails every item with the same error when the database is unavailable, with no retries", async () => {
    let writes = 0;
    const away = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
    const writer = createBatchWriter<number, number>({
      async write() {
        writes += 1;
        throw away;
      },
    });
    const results = await Promise.allSettled([1, 2, 3].map((n) => writer.write(n)));
    expect(results.map((result) => result.status === "rejected" && result.reason)).toEqual([
      away,
      away,
      away,
    ]);
    expect(writes).toBe(1);
  });

  it("stops single attempts when the database becomes unavailable between them", async () => {
    let writes = 0;
    const writer = createBatchWriter<number, number>({
      async write(items) {
        writes += 1;
        if (items.length > 1) throw new Error("bad row");
        if (writes > 2) throw Object.assign(new Error("gone"), { code: "57P01" });
        return items;
      },
    });
    const results = await Promise.allSettled([1, 2, 3, 4].map((n) => writer.write(n)));
    expect(results.map((result) => result.status)).toEqual(["fulfilled", "rejected", "rejected", "rejected"]);
    expect(writes).toBe(3);
  });

  it("treats a wrong number of results as a bug", async () => {
    const writer = createBatchWriter<number, number>({ write: async () => [] });
    await expect(writer.write(1)).rejects.toThrow("a batch of 1 items returned 0 results");
  });
});

describe("a batch writer with bulk items", () => {
  it("writes other items before the bulk items that exceed a batch's share, and each kind in its order", async () => {
    const batches: number[][] = [];
    const writer = createBatchWriter<number, number>({
      maxBatch: 30,
      isBulk: (n) => n < 100,
      async write(items) {
        batches.push(items);
        return items;
      },
    });
    const bulk = Array.from({ length: 45 }, (_, n) => n);
    const others = Array.from({ length: 12 }, (_, n) => 100 + n);
    await Promise.all([...bulk, ...others].map(writer.write));
    expect(batches).toEqual([
      [...bulk.slice(0, 20), ...others.slice(0, 10)],
      [...bulk.slice(20, 40), ...others.slice(10)],
      bulk.slice(40),
    ]);
  });
});

describe("a batch writer with groups", () => {
  interface GroupedItem {
    group: number;
    n: number;
  }
  const item = (group: number, n: number): GroupedItem => ({ group, n });
  const locked = () => Object.assign(new Error("lock timeout"), { code: "55P03" });

  /** Fails mixed batches with a job of the locked group. The group's own batches wait for the gate. */
  function createStory() {
    const gate = createGate();
    const batches: string[] = [];
    let isLocked = true;
    const writer = createBatchWriter<GroupedItem, number>({
      groupOf: ({ group }) => group,
      async write(items) {
        batches.push(items.map(({ group, n }) => `${group}:${n}`).join(" "));
        if (isLocked && items.some(({ group }) => group === 1)) {
          if (items.every(({ group }) => group === 1)) await gate.opened;
          else throw locked();
        }
        return items.map(({ n }) => n);
      },
    });
    const unlock = () => {
      isLocked = false;
      gate.open();
    };
    return { writer, batches, unlock };
  }

  it("delays only the group whose row is locked, also for later items, and keeps the order of each", async () => {
    const { writer, batches, unlock } = createStory();
    const waiting = [writer.write(item(1, 1))];
    const free = writer.write(item(2, 1));
    await nextTurn();
    waiting.push(writer.write(item(1, 2)));
    expect(await free).toBe(1);
    waiting.push(writer.write(item(1, 3)));
    expect(await writer.write(item(3, 1))).toBe(1);
    unlock();
    expect(await Promise.all(waiting)).toEqual([1, 2, 3]);
    expect(batches).toEqual(["1:1 2:1", "1:1 1:2", "2:1", "3:1", "1:3"]);
  });

  it("returns a group to the shared batches ten seconds after its last failure", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    try {
      const { writer, batches, unlock } = createStory();
      const first = [item(1, 1), item(2, 1)].map(writer.write);
      await nextTurn();
      unlock();
      expect(await Promise.all(first)).toEqual([1, 1]);
      vi.advanceTimersByTime(9_999);
      await Promise.all([item(1, 2), item(3, 2)].map(writer.write));
      vi.advanceTimersByTime(1);
      await Promise.all([item(1, 3), item(3, 3)].map(writer.write));
      expect(batches.slice(-3)).toEqual(["1:2", "3:2", "1:3 3:3"]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("rejects a faulty item alone", async () => {
    const writer = createBatchWriter<GroupedItem, number>({
      groupOf: ({ group }) => group,
      async write(items) {
        if (items.some(({ n }) => n < 0)) throw new Error("bad row");
        return items.map(({ n }) => n);
      },
    });
    const items = [item(1, 1), item(1, -1), item(1, 2), item(2, 3)];
    const results = await Promise.allSettled(items.map(writer.write));
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "fulfilled"]);
  });
});

describe("a batch writer on the database", async () => {
  const { database, drop } = await createTestDatabase();
  afterAll(drop);

  it("fails only the caller with the bad row when one row of a batch is bad", async () => {
    await database.pool.query("create table word (id serial, text text)");
    const writer = createBatchWriter<string, number>({
      async write(words) {
        const { rows } = await database.pool.query(
          "insert into word (text) select unnest($1::text[]) returning id",
          [words],
        );
        return rows.map((row) => row.id);
      },
    });
    const results = await Promise.allSettled(["a", "b", "ba\0d", "c"].map((word) => writer.write(word)));
    expect(results.map((result) => result.status)).toEqual([
      "fulfilled",
      "fulfilled",
      "rejected",
      "fulfilled",
    ]);
    const { rows } = await database.pool.query("select text from word order by id");
    expect(rows.map((row) => row.text)).toEqual(["a", "b", "c"]);
  });
});

describe("a batch loader on the database", async () => {
  const { database, drop } = await createTestDatabase();
  afterAll(drop);

  it("reads concurrent keys in one statement and gives each caller its own value", async () => {
    const batches: string[][] = [];
    const loader = createBatchLoader<string, number | undefined>({
      async load(words) {
        batches.push(words);
        const { rows } = await database.pool.query(
          "select word, length(word) as length from unnest($1::text[]) word where word <> 'none'",
          [words],
        );
        const lengths = new Map(rows.map(({ word, length }) => [word, length]));
        return words.map((word) => lengths.get(word));
      },
    });
    expect(await Promise.all(["abc", "none", "a", "abc"].map((word) => loader.load(word)))).toEqual([
      3,
      undefined,
      1,
      3,
    ]);
    expect(batches).toEqual([["abc", "none", "a", "abc"]]);
    const results = await Promise.allSettled(["ab", "ba\0d"].map((word) => loader.load(word)));
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
  });

  it("reads a key again that is requested while an earlier read of it is in progress", async () => {
    const gate = createGate();
    let reads = 0;
    const loader = createBatchLoader<number, number>({
      async load(keys) {
        reads += 1;
        const read = reads;
        await gate.opened;
        return keys.map(() => read);
      },
    });
    const first = loader.load(1);
    await nextTurn();
    const second = loader.load(1);
    gate.open();
    expect(await Promise.all([first, second])).toEqual([1, 2]);
  });
});
