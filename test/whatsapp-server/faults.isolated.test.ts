import { Curve } from "baileys";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Fault, ServerDisconnect } from "./control.ts";
import { eventually, known, Story } from "./story.ts";

describe("faults", () => {
  let story: Story;

  beforeEach(async () => {
    story = await Story.start();
  });

  afterEach(() => story.end());

  it("ends a connection with the code that was asked for", async () => {
    const client = await story.paired();
    const endings: [ServerDisconnect, number][] = [
      [403, 403],
      [428, 428],
      [440, 440],
      [500, 500],
      [503, 503],
      [515, 515],
      [401, 401],
    ];
    for (const [how, code] of endings) {
      await story.control.end(story.me.phone, how);
      await eventually(() => expect(client.closes.at(-1)).toBe(code));
      await story.login(client);
    }
    await story.control.unlink(story.me.phone);
    await eventually(() => expect(client.closes.at(-1)).toBe(401));
    client.connect();
    await eventually(() => expect(client.closes.slice(-2)).toEqual([401, 401]));
    expect(await story.control.maxOpenAtOnce()).toBe(1);
  });

  it("refuses logins as ordered, and every login of a banned account", async () => {
    const client = await story.paired();
    client.close();
    for (const reason of [401, 403, 503]) {
      await story.control.fault({ fault: "login", reason });
      client.connect();
      await eventually(() => expect(client.closes.at(-1)).toBe(reason));
    }
    await story.login(client);
    await story.control.ban(story.me.phone);
    await eventually(() => expect(client.closes.at(-1)).toBe(403));
    client.connect();
    await eventually(() => expect(client.closes.slice(-2)).toEqual([403, 403]));
  });

  it("lets a second login of a device replace the first", async () => {
    const client = await story.paired();
    client.connect();
    await eventually(() => expect(client.closes.at(-1)).toBe(440));
    await eventually(() => expect(client.opened).toBe(2));
  });

  it("never says hello, until the client gives up", async () => {
    const client = story.client();
    await story.control.fault({ fault: "no_hello" });
    client.connect({ connectTimeoutMs: 200 });
    await eventually(() => expect(client.closes.at(-1)).toBe(408));
  });

  it("answers the upgrade with 502, which the client never learns of", async () => {
    const client = story.client();
    await story.control.fault({ fault: "upgrade", status: 502 });
    const answered = new Promise<number>((done) => {
      client
        .connect()
        .ws.on("unexpected-response", (_: unknown, response: { statusCode: number }) =>
          done(response.statusCode),
        );
    });
    expect(await answered).toBe(502);
    expect(client.closes).toEqual([]);
  });

  it("shows a noise certificate of another root, which hardened clients refuse", async () => {
    const client = story.client();
    await story.control.fault({ fault: "untrusted_root" });
    client.connect();
    await eventually(() => expect(client.closes).toEqual([400]));
    expect(client.qr).toBeUndefined();
  });

  it.each(["hmac", "signature"] as const)(
    "forges the %s of a pairing, which clients refuse",
    async (forge) => {
      const client = story.client();
      client.connect();
      const scan = story.control.scan(story.me.phone, await eventually(() => known(client.qr)), { forge });
      await expect(scan).rejects.toThrow("closed the connection before it had signed");
      await eventually(() => expect(client.closes).toEqual([500]));
      expect(client.auth.creds.me).toBeUndefined();
    },
  );

  it("refuses a message in its ack, loses the ack, or cuts the connection before or after it counts", async () => {
    const { control, ana, me } = story;
    const client = await story.paired();
    const send = async (fault: Fault): Promise<string> => {
      await control.fault(fault);
      const message = await client.socket.sendMessage(ana.jid, { text: fault.fault });
      return known(message?.key.id ?? undefined);
    };
    for (const error of [463, 479]) {
      const id = await send({ fault: "ack_error", error, to: ana.phone });
      await eventually(() => {
        const update = client
          .all("messages.update")
          .flat()
          .find((one) => one.key.id === id);
        expect(update?.update).toMatchObject({ status: 0 });
      });
    }
    const lost = await send({ fault: "ack_lost" });
    await eventually(async () => expect(await control.seen(ana.phone)).toMatchObject([{ id: lost }]));
    expect(client.acks.map((one) => one.attrs.id)).not.toContain(lost);
    const before = await send({ fault: "cut_at_message", when: "before" });
    await eventually(() => expect(client.closes.at(-1)).toBe(428));
    await story.login(client);
    const after = await send({ fault: "cut_at_message", when: "after" });
    await eventually(() => expect(client.closes.slice(-2)).toEqual([428, 428]));
    expect([await control.arrivals(before), await control.arrivals(after)]).toEqual([0, 1]);
    await eventually(async () =>
      expect((await control.seen(ana.phone)).filter((one) => one.type === "message")).toHaveLength(2),
    );
    expect((await control.person(me.phone)).devices).toMatchObject([{ number: 1, online: false }]);
  });

  it("refuses new chats with 463 while the account is restricted, and says until when", async () => {
    const { control, ana, me } = story;
    const client = await story.paired();
    const until = Math.ceil(Date.now() / 1000) * 1000 + 60_000;
    await control.restrictNewChats(me.phone, until);
    await eventually(() => {
      const limit = client.updates.findLast((one) => one.reachoutTimeLock)?.reachoutTimeLock;
      expect(limit).toMatchObject({ isActive: true, timeEnforcementEnds: new Date(until) });
    });
    await client.socket.sendMessage(ana.jid, { text: "new here" });
    await eventually(() => expect(client.acks.at(-1)?.attrs.error).toBe("463"));
    expect(await client.socket.fetchAccountReachoutTimelock()).toMatchObject({ isActive: true });
    await control.sendMessage(ana.phone, me.phone, "Hi");
    await eventually(() => expect(client.texts()).toContain("Hi"));
    await client.socket.sendMessage(ana.jid, { text: "not new any more" });
    await eventually(() => expect(client.acks.at(-1)?.attrs.error).toBeUndefined());
  });

  it("delivers again what was not receipted, in order and marked as offline, and only that", async () => {
    const { control, ana, me } = story;
    const client = await story.paired();
    await control.fault({ fault: "receipt_lost", from: ana.phone });
    const lost = await control.sendMessage(ana.phone, me.phone, "lost receipt");
    await eventually(() => expect(client.texts()).toEqual(["lost receipt"]));
    client.close();
    await eventually(async () =>
      expect((await control.person(me.phone)).devices).toMatchObject([{ online: false, waiting: 1 }]),
    );
    const ids = [
      await control.sendMessage(ana.phone, me.phone, "one"),
      await control.sendMessage(ana.phone, me.phone, "two"),
    ];
    await story.login(client);
    await eventually(() => expect(client.texts()).toEqual(["lost receipt", "one", "two"]));
    const kinds = client.upserts.filter((one) => ids.includes(one.message.key.id ?? ""));
    expect(kinds.map((one) => [one.type, one.message.key.id])).toEqual(ids.map((id) => ["append", id]));
    await eventually(async () => expect(await control.waiting(me.phone)).toBe(0));
    const { deliveries } = await control.ledger();
    expect(deliveries.find((one) => one.id === lost)).toMatchObject({ sent: 2, offline: 1, nacked: 487 });
    client.close();
    await story.login(client);
    expect((await control.ledger()).deliveries.map((one) => one.sent)).not.toContain(3);
  });

  it("leaves queries without an answer or refuses them, and files too", async () => {
    const { control, ana } = story;
    const client = await story.paired();
    await control.fault({ fault: "iq_error", xmlns: "status", code: 503 });
    await expect(client.socket.updateProfileStatus("Away")).rejects.toThrow("ordered by the test");
    const document = { document: Buffer.from("x"), mimetype: "text/plain", fileName: "x.txt" };
    await control.fault({ fault: "media", method: "upload", status: 500, times: 2 });
    await expect(client.socket.sendMessage(ana.jid, document)).rejects.toThrow("Media upload failed");
    await control.fault({ fault: "media_certificate", times: 2 });
    await expect(client.socket.sendMessage(ana.jid, document)).rejects.toThrow("Media upload failed");
    await control.clearFaults();
    await client.socket.sendMessage(ana.jid, document);
    await eventually(async () => expect(await control.seen(ana.phone)).toMatchObject([{ type: "message" }]));
  });

  it("tests with signature checks that are real", () => {
    const { private: key, public: pub } = Curve.generateKeyPair();
    const message = Buffer.from("message");
    const signature = Curve.sign(key, message);
    expect(Curve.verify(pub, message, signature)).toBe(true);
    expect(Curve.verify(pub, Buffer.from("other"), signature)).toBe(false);
    expect(Curve.verify(Curve.generateKeyPair().public, message, signature)).toBe(false);
    expect(Curve.verify(pub, message, Buffer.alloc(64))).toBe(false);
  });
});
