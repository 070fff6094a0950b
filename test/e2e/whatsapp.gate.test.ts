import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newPhone, waitUntil } from "../gateway.ts";
import { buildDist } from "../run/build-dist.ts";
import { type ProxyServer, startSocksProxy } from "../servers/proxy-server.ts";
import { startWhatsAppStory, type WhatsAppStory } from "./whatsapp-story.ts";

beforeAll(buildDist);

describe("a gateway on WhatsApp", () => {
  let on: WhatsAppStory;
  let proxy: ProxyServer;
  let contact: string;
  /** QR codes shown so far. */
  let qrs: number;

  beforeAll(async () => {
    [on, proxy] = await Promise.all([startWhatsAppStory(), startSocksProxy()]);
    contact = (await on.network.control.addPerson({ phone: newPhone(), name: "Ana" })).phone;
    const messages = [{ id: "OLD1", text: "long ago", at: Date.now() - 86_400_000 }];
    await on.network.control.settings({ history: [{ chat: contact, messages }] });
    await on.start();
  });

  afterAll(async () => {
    await on.end();
    await proxy.close();
  });

  const rowsOf = (id: string) => on.story.rows("select type, content from message where message_id = $1", id);
  const received = (event: string) => on.receivedMessages(event);
  const says = (text: string) => on.network.control.sendMessage(contact, on.instance.phone, text);

  test("is paired through the API, sends a message, and receives its status changes", async () => {
    await on.pair();
    await on.story.drained();
    qrs = received("instance.qr").length;
    const { id } = on.instance;
    const { data: sent } = await on.client().sendText({ id, number: contact, text: "Oi, Ana" });
    // The receipt of a fast phone may arrive before the response.
    expect(sent.status).toMatch(/^(sent|delivered|read)$/);
    await says("Oi!");
    await waitUntil(() => received("message.received").some(({ text }) => text === "Oi!"));
    expect(received("message.received")[0]).toMatchObject({
      phone: contact,
      from_me: false,
      text: "Oi!",
      sender: { push_name: "Ana", lid: expect.stringMatching(/@lid$/) },
    });
  });

  test("logs messages from before the pairing, and publishes no event for them", async () => {
    await waitUntil(async () => (await rowsOf("OLD1")).length === 1);
    expect(await rowsOf("OLD1")).toMatchObject([{ type: "text", content: { text: "long ago" } }]);
    expect(received("message.received").filter(({ message_id }) => message_id === "OLD1")).toEqual([]);
  });

  test("reads and writes the settings that the phone shares, which are encrypted", async () => {
    const { id } = on.instance;
    const chat = `${contact}@s.whatsapp.net`;
    const isArchived = async () =>
      (await on.client().listChats({ id, q: "Ana" })).data.map(({ archived }) => archived);
    await on.network.control.changeSetting(on.instance.phone, { archive: true, lastMessages: [] }, chat);
    await waitUntil(async () => (await isArchived()).includes(true));
    await on.client().setChatState({ id, number: contact, action: "unarchive" });
    await waitUntil(async () => (await isArchived()).includes(false));
  });

  test("publishes the messages sent while it was stopped, marked offline, and no earlier ones", async () => {
    const reported = received("message.received").length;
    await on.story.gateway.kill("SIGINT");
    const texts = Array.from({ length: 5 }, (_, i) => `while you were away ${i}`);
    for (const text of texts) await says(text);
    await on.start();
    await on.online();
    await says("now");
    await waitUntil(() => received("message.received").length === reported + 6);
    const all = on.story.receiver
      .of("message.received")
      .map(({ body }) => [body.event_id, body.data] as const);
    const latest = [...new Map(all).values()].slice(-6);
    expect(latest.map(({ message, offline }) => [message.text, offline === true])).toEqual([
      ...texts.map((text) => [text, true]),
      ["now", false],
    ]);
  });

  test("shows that a message could not be decrypted, until it can be", async () => {
    const id = await on.network.control.sendMessage(contact, on.instance.phone, "Olá", { corrupt: true });
    await waitUntil(() => received("message.received").some(({ message_id }) => message_id === id));
    expect(await rowsOf(id)).toMatchObject([{ type: "text", content: { text: "Olá" } }]);
    expect(received("message.received").filter(({ message_id }) => message_id === id)).toMatchObject([
      { type: "text", text: "Olá" },
    ]);
  });

  test("calls the conversation of a group by its subject, also when no event named it", async () => {
    const { jid } = await on.network.control.addGroup("Neighbours", [contact, on.instance.phone]);
    await on.network.control.sendMessage(contact, jid, "Oi a todos");
    const named = [{ title: "Neighbours" }];
    const title = () => on.story.rows("select title from conversation where jid = $1", jid);
    await waitUntil(async () => JSON.stringify(await title()) === JSON.stringify(named));
  });

  test("keeps its pairing over kill -9, and then receives a file", async () => {
    await on.story.gateway.kill();
    await on.start();
    await on.online();
    const bytes = Buffer.from("a file of some bytes");
    const said = {
      kind: "media",
      media_type: "document",
      mime_type: "text/plain",
      file_name: "a.txt",
    } as const;
    const id = await on.network.control.sendMessage(contact, on.instance.phone, { ...said, bytes });
    await waitUntil(() => received("message.received").some((message) => message.message_id === id));
    const { data } = await on
      .client()
      .downloadMedia({ id: on.instance.id, message_id: id, return_base64: true });
    expect(JSON.stringify(data)).toContain(bytes.toString("base64"));
    expect(received("instance.qr")).toHaveLength(qrs);
  });

  test("uses the proxy that the customer sets, from the next reconnect on", async () => {
    const { id } = on.instance;
    await on.client().updateInstance({ id, proxy: { url: `socks5://me:secret@127.0.0.1:${proxy.port}` } });
    await on.client().reconnectInstance({ id });
    await waitUntil(() => proxy.targets.length > 0);
    await on.online();
    const connections = () => [new Set(proxy.targets), new Set(proxy.users)];
    const expected = [new Set([new URL(on.network.url).host]), new Set(["me:secret"])];
    expect(connections()).toEqual(expected);
    const before = proxy.targets.length;
    await on.story.drained();
    await on.story.gateway.kill();
    await on.start();
    await waitUntil(() => proxy.targets.length > before);
    await on.online();
    expect(connections()).toEqual(expected);
    await on.client().updateInstance({ id, proxy: null });
    const through = proxy.targets.length;
    await on.client().reconnectInstance({ id });
    await on.online();
    expect(proxy.targets).toHaveLength(through);
  });

  test("stays stopped over a restart until it is connected, as after a login of another client", async () => {
    const { id, phone } = on.instance;
    await on.story.drained();
    await on.online();
    await on.story.drained();
    const reported = received("message.received").length;
    const connections = received("instance.connected").length;
    await on.network.control.end(phone, 440);
    await waitUntil(async () => !(await on.story.isConnected(on.instance)));
    const ownerships = async () =>
      JSON.stringify(await on.story.rows("select epoch from lane where kind = 'session'"));
    const before = await ownerships();
    await on.story.gateway.kill();
    await on.start();
    await waitUntil(async () => (await ownerships()) !== before);
    await says("while you are stopped");
    const number = contact;
    await expect(on.client().sendText({ id, number, text: "No" })).rejects.toMatchObject({
      code: "INSTANCE_NOT_CONNECTED",
    });
    const { devices } = await on.network.control.person(phone);
    expect(devices).toMatchObject([{ online: false, waiting: 1 }]);
    await on.client().connectInstance({ id });
    await waitUntil(() => received("message.received").length === reported + 1);
    const { body } = on.story.receiver.of("message.received").at(-1) ?? {};
    expect(body.data).toMatchObject({ offline: true, message: { text: "while you are stopped" } });
    await waitUntil(() => received("instance.connected").length > connections);
  });

  test("deletes the pairing on logout, and the phone removes the device", async () => {
    await on.online();
    await on.client().logoutInstance({ id: on.instance.id });
    expect((await on.network.control.person(on.instance.phone)).devices).toEqual([]);
    const rows = await on.story.rows("select 1 from pairing_key union all select 1 from journal_entry");
    expect(rows).toEqual([]);
  });
});
