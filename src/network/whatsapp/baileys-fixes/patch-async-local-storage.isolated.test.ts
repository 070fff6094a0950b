import { AsyncLocalStorage, executionAsyncResource } from "node:async_hooks";
import { describe, expect, it } from "vitest";
import { patchAsyncLocalStorage, withPooledStorages } from "./patch-async-local-storage.ts";

/** Number of entries that all storages have written into the current async resource. */
const countEntries = () => Object.getOwnPropertySymbols(executionAsyncResource()).length;

describe("the AsyncLocalStorage patch", () => {
  it("adds one entry at most to a resource, however many sockets are open", () => {
    patchAsyncLocalStorage();
    const before = countEntries();
    const storages = withPooledStorages(() =>
      Array.from({ length: 5 }, () => new AsyncLocalStorage<string>()),
    );
    const during = storages.reduceRight((work, one) => () => one.run("in use", work), countEntries);
    expect(during() - before).toBeLessThanOrEqual(1);
  });

  it("pools the storages of Baileys only", () => {
    patchAsyncLocalStorage(true);
    const [pooled, other] = withPooledStorages(() => [new AsyncLocalStorage(), new AsyncLocalStorage()]);
    const real = new AsyncLocalStorage();
    expect([pooled, other, real].map((one) => "enterWith" in one)).toEqual([false, false, true]);
    expect(real).toBeInstanceOf(AsyncLocalStorage);
  });

  it("keeps the values of each storage separate, also over awaits and in nested runs", async () => {
    const [one, other] = withPooledStorages(() => [
      new AsyncLocalStorage<string>(),
      new AsyncLocalStorage<string>(),
    ]);
    const look = async () => {
      await new Promise((done) => setImmediate(done));
      return [one.getStore(), other.getStore()];
    };
    const inner = one.run("a", () => other.run("b", look));
    const both = [look(), one.run("c", look), inner, one.run("d", () => one.run("e", look))];
    expect(await Promise.all(both)).toEqual([
      [undefined, undefined],
      ["c", undefined],
      ["a", "b"],
      ["e", undefined],
    ]);
    expect(one.getStore()).toBeUndefined();
  });
});
