import { describe, expect, it } from "vitest";
import { RecordingSession } from "../../../test/conformance/listener.ts";
import { createDriver, startWhatsAppStage } from "../../../test/whatsapp-stage.ts";

describe("connections that open together", () => {
  it("log in in this order", async () => {
    const stage = await startWhatsAppStage();
    const people = [];
    for (const at of [2, 3, 1]) people.push({ at, phone: (await stage.control.addPerson()).phone });
    const paired = await Promise.all(
      people.map(async ({ at, phone }) => {
        const listener = stage.open();
        await listener.pair({ scan: (qr) => stage.control.scan(phone, qr) });
        await listener.session.disconnect();
        return { at, phone, credentials: listener.credentials };
      }),
    );
    await stage.control.forget();
    const driver = createDriver(stage.server, { timing: { openAtOnce: 1, openGatherMs: 50 } });
    const back = paired.map(
      ({ at, credentials }) => new RecordingSession(driver, credentials, { activeAt: new Date(at) }),
    );
    for (const { session } of back) session.connect();
    for (const listener of back) await listener.heard("connected");
    const { sockets } = await stage.control.ledger();
    const open = sockets.filter(({ closed_at }) => closed_at === undefined);
    const order = paired.toSorted((a, b) => b.at - a.at).map(({ phone }) => phone);
    expect(open.map(({ phone }) => phone)).toEqual(order);
    for (const { session } of back) await session.disconnect();
    await stage.stop();
  });
});
