import { createRequire } from "node:module";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { RecordingSession } from "../../../../test/conformance/listener.ts";
import { startWhatsAppStage, type WhatsAppStage } from "../../../../test/whatsapp-stage.ts";

describe("the console", () => {
  const said: unknown[][] = [];
  let stage: WhatsAppStage;

  beforeAll(async () => {
    const record = (...words: unknown[]) => void said.push(words);
    // Replaced before the driver is loaded, like the console of a process.
    Object.assign(globalThis.console, { info: record, warn: record, log: record, error: record });
    stage = await startWhatsAppStage();
  });
  afterAll(() => stage.stop());

  it("never prints a key: libsignal is silenced, all other output is printed", async () => {
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
