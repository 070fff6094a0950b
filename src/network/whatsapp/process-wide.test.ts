import { AsyncLocalStorage, executionAsyncResource } from "node:async_hooks";
import { createRequire } from "node:module";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { RecordingSession } from "../../../test/conformance/listener.ts";
import { startWhatsAppStage, type WhatsAppStage } from "../../../test/whatsapp-stage.ts";
import { patchAsyncLocalStorage, withPooledStorages } from "./baileys-fixes/patch-async-local-storage.ts";

describe("the console", () => {
  const said: unknown[][] = [];
  let stage: WhatsAppStage;

  beforeAll(async () => {
    const hear = (...words: unknown[]) => void said.push(words);
    // Before the driver is loaded, as the console of a process is.
    Object.assign(globalThis.console, { info: hear, warn: hear, log: hear, error: hear });
    stage = await startWhatsAppStage();
  });
  afterAll(() => stage.stop());

  it("never gets a key: libsignal is silent, everybody else is heard", async () => {
    const listener = new RecordingSession(stage.driver, stage.credentials());
    await listener.pair(stage.phone);
    const { SessionRecord } = createRequire(import.meta.resolve("baileys"))("libsignal") as {
      SessionRecord: new () => { closeSession(session: object): void };
    };
    new SessionRecord().closeSession({ indexInfo: { closed: -1 }, privKey: "secret" });
    expect(said).toEqual([]);
    const { info, warn } = globalThis.console;
    info("ours");
    warn("ours too");
    expect(said).toEqual([["ours"], ["ours too"]]);
    await listener.session.disconnect();
  });
});

/** What all storages that are in use have written into the resource of the moment. */
const burden = () => Object.getOwnPropertySymbols(executionAsyncResource()).length;

describe("storages of async contexts", () => {
  it("burden a resource with one entry at most, however many sockets are open", () => {
    patchAsyncLocalStorage();
    const before = burden();
    const storages = withPooledStorages(() =>
      Array.from({ length: 5 }, () => new AsyncLocalStorage<string>()),
    );
    const during = storages.reduceRight((work, one) => () => one.run("in use", work), burden);
    expect(during() - before).toBeLessThanOrEqual(1);
  });

  it("are pooled for the client library only", () => {
    patchAsyncLocalStorage(true);
    const [pooled, other] = withPooledStorages(() => [new AsyncLocalStorage(), new AsyncLocalStorage()]);
    const real = new AsyncLocalStorage();
    expect([pooled, other, real].map((one) => "enterWith" in one)).toEqual([false, false, true]);
    expect(real).toBeInstanceOf(AsyncLocalStorage);
  });

  it("keep apart what belongs to each, also over awaits and within each other", async () => {
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
