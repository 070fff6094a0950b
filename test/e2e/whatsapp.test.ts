import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newPhone, waitUntil } from "../gateway.ts";
import { silenceConsole } from "../whatsapp-server/quiet.ts";
import { startWhatsAppServer, type WhatsAppServer } from "../whatsapp-server/server.ts";
import { createE2eStory, type E2eStory, type PairedInstance } from "./e2e-story.ts";
import { sendAll } from "./send-history.ts";

const KILLS = 6;
const MESSAGES = 60;

describe("a gateway on WhatsApp", () => {
  let network: WhatsAppServer;
  let story: E2eStory;
  let instance: PairedInstance;
  let contact: string;

  beforeAll(async () => {
    silenceConsole();
    network = await startWhatsAppServer();
    const { url, rootKeyHex, caFile, control } = network;
    story = await createE2eStory({
      WAYGATE_WHATSAPP_URL: url,
      WAYGATE_WHATSAPP_ROOT_KEY: rootKeyHex,
      NODE_EXTRA_CA_CERTS: caFile,
    });
    contact = (await control.addPerson({ phone: newPhone(), name: "Ana" })).phone;
    instance = { id: 0, phone: (await control.addPerson({ phone: newPhone() })).phone, api_key: "" };
    const messages = [{ id: "OLD1", text: "long ago", at: Date.now() - 86_400_000 }];
    await control.settings({ history: [{ chat: contact, messages }] });
    await story.start();
  });

  afterAll(async () => {
    await story.end();
    const unhandled = await network.control.unhandled();
    await network.close();
    expect(unhandled).toEqual([]);
  });

  const client = () => story.clientOf(instance);
  const online = () => waitUntil(async () => story.isConnected(instance).catch(() => false));
  const rowsOf = (id: string) => story.rows("select type, content from message where message_id = $1", id);
  const received = (event: string) => story.receiver.of(event).map(({ body }) => body.data.message);

  test("is paired through the API, sends, and hears what comes of it", async () => {
    const owner = await story.signIn();
    const webhook_url = story.receiver.url;
    const { data } = await owner.createInstance({ name: "Sales", network: "whatsapp", webhook_url });
    story.receiver.trust(data.webhook_secret);
    Object.assign(instance, { id: data.id, api_key: data.api_key });
    const { data: connecting } = await client().connectInstance({ id: instance.id });
    expect(connecting.qr_code).toContain("https://wa.me/");
    await network.control.scan(instance.phone, connecting.qr_code ?? "");
    await online();
    const { data: sent } = await client().sendText({ id: instance.id, number: contact, text: "Oi, Ana" });
    expect(sent).toMatchObject({ status: "sent" });
    await network.control.say(contact, instance.phone, "Oi!");
    await waitUntil(() => received("message.received").some(({ text }) => text === "Oi!"));
    expect(received("message.received")[0]).toMatchObject({
      ...{ phone: contact, from_me: false, text: "Oi!" },
      sender: { push_name: "Ana", lid: expect.stringMatching(/@lid$/) },
    });
  });

  test("logs what was said before the pairing, and tells nobody", async () => {
    await waitUntil(async () => (await rowsOf("OLD1")).length === 1);
    expect(await rowsOf("OLD1")).toMatchObject([{ type: "text", content: { text: "long ago" } }]);
    expect(received("message.received").filter(({ message_id }) => message_id === "OLD1")).toEqual([]);
  });

  test("shows that a message could not be read, until it can", async () => {
    const id = await network.control.say(contact, instance.phone, "Olá", { corrupt: true });
    await waitUntil(() => received("message.received").some(({ message_id }) => message_id === id));
    expect(await rowsOf(id)).toMatchObject([{ type: "text", content: { text: "Olá" } }]);
    expect(received("message.received").filter(({ message_id }) => message_id === id)).toMatchObject([
      { type: "text", text: "Olá" },
    ]);
  });

  test("keeps its pairing over kill -9, and a file comes through it", async () => {
    await story.gateway.kill();
    await story.start();
    await online();
    const bytes = Buffer.from("a file of some bytes");
    const said = {
      kind: "media",
      media_type: "document",
      mime_type: "text/plain",
      file_name: "a.txt",
    } as const;
    const id = await network.control.say(contact, instance.phone, { ...said, bytes });
    await waitUntil(() => received("message.received").some((message) => message.message_id === id));
    const { data } = await client().downloadMedia({ id: instance.id, message_id: id, return_base64: true });
    expect(JSON.stringify(data)).toContain(bytes.toString("base64"));
    expect(story.receiver.of("instance.qr")).toHaveLength(1);
  });

  test("loses and repeats nothing while it is killed again and again", { timeout: 120_000 }, async () => {
    story.receiver.received.length = 0;
    const since = Date.now();
    const texts = Array.from({ length: MESSAGES }, (_, i) => `in ${i}`);
    const arriving = (async () => {
      for (const text of texts) {
        await network.control.say(contact, instance.phone, text);
        await delay(Math.random() * 60);
      }
    })();
    const plan = Array.from({ length: MESSAGES }, (_, i) => ({ text: `out-${i}`, number: contact }));
    const leaving = sendAll(story, instance, plan);
    for (let i = 0; i < KILLS; i++) {
      await delay(300 + Math.random() * 900);
      await story.gateway.kill();
      await story.start();
    }
    const accepted = await leaving;
    await arriving;
    await waitUntil(
      () => new Set(received("message.received").map(({ text }) => text)).size === MESSAGES,
      60_000,
    );
    await story.drained(60_000);
    const events = new Map(story.receiver.received.map(({ body }) => [body.event_id, body]));
    const told = [...events.values()].filter(({ event }) => event === "message.received");
    expect(told.map(({ data }) => data.message.text).sort()).toEqual([...texts].sort());
    const seen = (await network.control.seen(contact)).filter((one) => one.type === "message");
    const out = seen.flatMap((one) => (one.content.kind === "text" ? [one.content.text] : []));
    expect(out.filter((text) => text.startsWith("out")).sort()).toEqual(plan.map(({ text }) => text).sort());
    const outcomes = [...events.values()].filter(({ event }) => event === "message.sent");
    expect(outcomes.map(({ data }) => data.message.message_id).sort()).toEqual(
      accepted.map(({ message_id }) => message_id).sort(),
    );
    const { decryptions, deliveries } = await network.control.ledger();
    expect(decryptions.filter(({ error }) => error !== undefined)).toEqual([]);
    const asked = deliveries.filter(
      ({ phone, at, retries }) => phone === instance.phone && at > since && retries > 0,
    );
    expect(asked).toEqual([]);
    expect(story.receiver.of("instance.qr")).toEqual([]);
  });

  test("forgets the pairing on logout, and the phone too", async () => {
    await online();
    await client().logoutInstance({ id: instance.id });
    expect((await network.control.person(instance.phone)).devices).toEqual([]);
    const rows = await story.rows("select 1 from pairing_key union all select 1 from pairing_letter");
    expect(rows).toEqual([]);
  });
});
