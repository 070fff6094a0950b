import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually, known, Story } from "./story.ts";

describe("pairing and texts", () => {
  let story: Story;

  beforeEach(async () => {
    story = await Story.start();
  });

  afterEach(() => story.end());

  it("links by QR, restarts with 515 and logs in again with the same keys", async () => {
    const client = await story.paired();
    expect(client.auth.creds.me).toMatchObject({ id: `${story.me.phone}:1@s.whatsapp.net` });
    client.close();
    await story.login(client);
    expect((await story.control.ledger()).sockets.map((one) => one.device)).toEqual([undefined, 1, 1]);
  });

  it("brings texts both ways with real encryption, acknowledged and receipted", async () => {
    const client = await story.paired();
    const sent = await client.socket.sendMessage(story.ana.jid, { text: "Oi, Ana" });
    const id = known(sent?.key.id ?? undefined);
    await eventually(() => expect(client.acks.map((one) => one.attrs.id)).toContain(id));
    await eventually(async () =>
      expect(await story.control.seen(story.ana.phone)).toMatchObject([
        { type: "message", id, content: { kind: "text", text: "Oi, Ana" }, from: story.me.phone },
      ]),
    );
    const response = await story.control.sendMessage(story.ana.phone, story.me.phone, "Oi!");
    await eventually(() => expect(client.texts()).toContain("Oi!"));
    const upsert = client.upserts.find((one) => one.message.key.id === response);
    expect(upsert).toMatchObject({ type: "notify", message: { key: { remoteJid: story.ana.lid } } });
    await eventually(async () => expect(await story.control.waiting(story.me.phone)).toBe(0));
  });
});
