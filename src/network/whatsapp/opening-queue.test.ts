import { describe, expect, it } from "vitest";
import { createDriver, keepInMemory, startWhatsAppStage } from "../../../test/whatsapp-stage.ts";
import { eventually, Listener } from "../conformance.ts";
import { OpeningQueue } from "./opening-queue.ts";

const turn = () => new Promise((done) => setTimeout(done, 5));

describe("connections that open together", () => {
  it("begin with those that were used last, a few at a time", async () => {
    const queue = new OpeningQueue({ atOnce: 2, jitterMs: 0, gatherMs: 5 });
    const begun: (number | undefined)[] = [];
    const leaves: (() => void)[] = [];
    for (const at of [undefined, 1, 5, 3, 4]) {
      void queue.enter(at === undefined ? undefined : new Date(at)).then((leave) => {
        begun.push(at);
        leaves.push(leave);
      });
    }
    await eventually(() => expect(begun).toEqual([5, 4]));
    leaves[0]?.();
    leaves[0]?.();
    await eventually(() => expect(begun).toEqual([5, 4, 3]));
    void queue.enter(new Date(9)).then(() => begun.push(9));
    leaves[1]?.();
    await turn();
    expect(begun).toEqual([5, 4, 3, 9]);
    leaves[2]?.();
    await eventually(() => expect(begun).toEqual([5, 4, 3, 9, 1]));
  });

  it("log in in this order", async () => {
    const stage = await startWhatsAppStage();
    const people = [];
    for (const at of [2, 3, 1]) people.push({ at, phone: (await stage.control.addPerson()).phone });
    const paired = await Promise.all(
      people.map(async ({ at, phone }) => {
        const listener = new Listener(createDriver(stage.server, {}), keepInMemory());
        listener.session.connect();
        await stage.control.scan(phone, (await listener.heard("qr")).qr);
        await listener.heard("connected");
        await listener.session.disconnect();
        return { at, phone, credentials: listener.credentials };
      }),
    );
    await stage.control.forget();
    const driver = createDriver(stage.server, { timing: { openAtOnce: 1, openGatherMs: 50 } });
    const back = paired.map(
      ({ at, credentials }) => new Listener(driver, credentials, { activeAt: new Date(at) }),
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
