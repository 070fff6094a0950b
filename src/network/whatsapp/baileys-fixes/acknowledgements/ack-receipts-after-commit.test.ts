import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually, RecordingSession } from "../../../../../test/conformance/listener.ts";
import {
  createDriver,
  startWhatsAppStage,
  storeInMemory,
  type WhatsAppStage,
} from "../../../../../test/whatsapp-stage.ts";
import type { NetworkEvent } from "../../../driver.ts";
import { newMessageId } from "../../../jid.ts";

let stage: WhatsAppStage;

beforeEach(async () => {
  stage = await startWhatsAppStage();
});

afterEach(() => stage.stop());

describe("a receipt that is not stored", () => {
  it.each([
    ["fails", "is killed"],
    ["hangs", "is killed"],
    ["fails", "is closed"],
    ["hangs", "is closed"],
  ])("is delivered again: the store %s, the session %s", async (how, end) => {
    const credentials = storeInMemory();
    const driver = createDriver(stage.server, { timing: { finishMs: 200, closeMs: 200 } });
    const before = new RecordingSession(driver, credentials);
    await before.pair(stage.phone);

    const held: NetworkEvent[] = [];
    before.gate = async (event) => {
      if (event.type !== "message_status") return;
      held.push(event);
      if (how === "fails") throw new Error("not now");
      await new Promise(() => {});
    };
    const send = () =>
      before.session.send(stage.contact.jid, { kind: "text", text: "Hi" }, { id: newMessageId() });
    await send();
    await eventually(() => expect(held).not.toEqual([]));
    // The response follows everything that was sent before.
    expect((await send()).outcome).toBe("accepted");
    if (end === "is killed") driver.terminate();
    else await before.session.disconnect();

    const after = stage.open({}, { credentials });
    after.session.connect();
    await eventually(() => expect(after.all("message_status")).toContainEqual(held[0]));
  });
});
