import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../../../../test/conformance/listener.ts";
import { startWhatsAppStage, storeInMemory, type WhatsAppStage } from "../../../../test/whatsapp-stage.ts";

let stage: WhatsAppStage;

beforeEach(async () => {
  stage = await startWhatsAppStage();
});

afterEach(() => stage.stop());

const say = (text: string) =>
  stage.control.sendMessage(stage.contact.number, stage.phone.number, text) as Promise<never>;

/** A linked device that is offline, with the credentials to log in again. */
async function linkAndLeave() {
  const credentials = storeInMemory();
  const listener = stage.open({}, { credentials });
  await listener.pair(stage.phone);
  await listener.session.disconnect();
  return credentials;
}

describe("what waited for a session while it was offline", () => {
  it("arrives whole, although it is more than the network sends on one request", async () => {
    const credentials = await linkAndLeave();
    const ids: never[] = [];
    for (let nth = 0; nth < 120; nth++) ids.push(await say(`message ${nth}`));
    const listener = stage.open({}, { credentials });
    listener.session.connect();
    for (const id of ids) await listener.message(id);
    expect(listener.all("attention")).toEqual([]);
  });

  it("is reported as withheld if the network announces it and does not deliver it", async () => {
    const credentials = await linkAndLeave();
    await say("one");
    await stage.control.fault({ fault: "queue_withheld" });
    const listener = stage.open({ timing: { stalledQueueMs: 200 } }, { credentials });
    listener.session.connect();
    expect(await listener.waitForEvent("attention")).toEqual({ type: "attention", code: "queue_withheld" });
  });

  it("does not keep a new session from the phone's settings, although the network never reports its end", async () => {
    const { control, phone, contact } = stage;
    await control.changeSetting(phone.number, { contact: { fullName: "Ana Maria" } }, contact.jid);
    await control.fault({ fault: "offline_end_lost" });
    const listener = stage.open();
    await listener.pair(phone);
    await eventually(() =>
      expect(listener.all("contact_updated")).toContainEqual(
        expect.objectContaining({ contact: expect.objectContaining({ name: "Ana Maria" }) }),
      ),
    );
  });
});
