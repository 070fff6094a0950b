import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RecordingSession } from "../../../../test/conformance/listener.ts";
import { startWhatsAppStage, type WhatsAppStage } from "../../../../test/whatsapp-stage.ts";
import type { Content } from "../../driver.ts";

let stage: WhatsAppStage;
let listener: RecordingSession;

beforeAll(async () => {
  stage = await startWhatsAppStage();
  listener = stage.open();
  await listener.pair(stage.phone);
  // The first message of a contact negotiates the keys.
  await listener.message(await stage.contact.sendMessage({ kind: "text", text: "Hi" }));
});

afterAll(() => stage.stop());

describe("a contact card of 224 KB", () => {
  const says = (vcard: string): Content => ({ kind: "contact", name: "", phone: "", vcard });
  const fill = (unit: string) => unit.repeat(Math.ceil((224 * 1024) / unit.length));

  // The previous pattern took more than 10 s for each; `read-vcard.unit.test.ts` tests its cost.
  it("full of one unit does not end the session", async () => {
    for (const unit of ["TEL\n", "FN\n", "item1.", "waid=", "TEL;waid=1:\n"]) {
      const message = await listener.message(await stage.contact.sendMessage(says(fill(unit))));
      expect(message.content).toMatchObject({ kind: "contact", name: "", phone: "" });
    }
    expect(listener.all("disconnected")).toEqual([]);
  });

  it("shows the name and the phone that precede its picture", async () => {
    const vcard = `BEGIN:VCARD\nFN:Bia\nTEL;waid=5511988887777:+55 11\nPHOTO;ENCODING=b:${fill("A")}\nEND:VCARD`;
    const { content } = await listener.message(await stage.contact.sendMessage(says(vcard)));
    expect(content).toEqual({ kind: "contact", name: "Bia", phone: "5511988887777", vcard });
  });
});
