import { expect, test } from "vitest";
import { eventually } from "../../../../test/conformance/listener.ts";
import { startWhatsAppStage } from "../../../../test/whatsapp-stage.ts";
import { newMessageId } from "../../jid.ts";

const STORY = { kind: "text", text: "Open today", background: 0xff1e6e4f, font: 2 } as const;

test.each([false, true])(
  "A story has a colour and a font, and of an account with LIDs (%s) it names people by LID",
  async (isMigrated) => {
    const stage = await startWhatsAppStage();
    try {
      const { control, contact, phone } = stage;
      const listener = stage.open();
      await listener.pair(phone);
      if (isMigrated) await control.migrate(phone.number, "props");
      const other = await control.addPerson({ name: "Bia" });
      const send = async () => {
        const id = newMessageId();
        const result = await listener.session.statuses?.send(
          STORY,
          [contact.jid, `${other.phone}@s.whatsapp.net` as typeof contact.jid],
          id,
        );
        expect(result).toMatchObject({ outcome: "done" });
        return id;
      };
      for (const id of [await send(), await send()]) {
        await eventually(async () => {
          for (const who of [contact.number, other.phone, phone.number]) {
            const message = await control.message(who, id);
            expect(message?.extendedTextMessage).toMatchObject({
              text: STORY.text,
              textArgb: 0xffffffff,
              backgroundArgb: STORY.background,
              font: "FB_SCRIPT",
            });
          }
        });
      }
    } finally {
      await stage.stop();
    }
  },
);
