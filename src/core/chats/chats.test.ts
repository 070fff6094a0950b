import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  newPhone,
  startTestGateway,
  type TestGateway,
  type TestInstance,
  waitUntil,
} from "../../../test/gateway.ts";
import { createClient, WaygateError } from "../../client/client.ts";

let gateway: TestGateway;
let sales: TestInstance;
let support: TestInstance;

beforeAll(async () => {
  gateway = await startTestGateway();
  sales = await gateway.connectInstance({ name: "Sales" });
  support = await gateway.connectInstance({ name: "Support" });
});

afterAll(() => gateway.stop());

async function receive(instance: TestInstance, from: string, text: string): Promise<string> {
  const { data } = await instance.client.sandboxReceive({
    id: instance.id,
    from,
    text,
    push_name: `Pé${from.slice(-3)}`,
  });
  await waitUntil(async () =>
    (await messagesOf(instance, from)).some((one) => one.message_id === data.message_id),
  );
  return data.message_id;
}

async function messagesOf(instance: TestInstance, jid: string) {
  const request = instance.client.listChatMessages({ id: instance.id, jid });
  return request.then(({ data }) => data).catch(() => []);
}

const refusal = (request: Promise<unknown>) =>
  request.then(
    () => undefined,
    (error: unknown) => (error instanceof WaygateError ? [error.status, error.code] : error),
  );

const chatOf = async (phone: string) => {
  const { data } = await sales.client.listChats({ id: sales.id, q: phone });
  return data[0];
};

describe("the list of chats", () => {
  test("shows each chat with its last message and unread count, the newest first", async () => {
    const [bia, leo] = [newPhone(), newPhone()];
    await receive(sales, bia, "one");
    await receive(sales, leo, "two");
    const id = await receive(sales, bia, "three");
    const { data } = await sales.client.listChats({ id: sales.id, limit: 2 });
    expect(data).toMatchObject([
      {
        phone: bia,
        jid: `${bia}@s.whatsapp.net`,
        title: `Pé${bia.slice(-3)}`,
        unread_count: 2,
        is_group: false,
        archived: false,
        pinned: false,
        muted: false,
        muted_until: null,
        instance_id: sales.id,
        last_message: { message_id: id, text: "three", direction: "inbound" },
      },
      { phone: leo, unread_count: 1, last_message: { text: "two" } },
    ]);
    for (const q of [`00${bia}`, `${bia}@s.whatsapp.net`, data[0]?.lid ?? ""])
      expect(await chatOf(q)).toMatchObject({ phone: bia });
    await sales.client.sendText({ id: sales.id, number: leo, text: "four" });
    expect((await sales.client.listChats({ id: sales.id, limit: 1 })).data).toMatchObject([
      { phone: leo, last_message: { text: "four", direction: "outbound" } },
    ]);
  });

  test("reduces the unread count when messages are read, here or on the phone", async () => {
    const bia = newPhone();
    const first = await receive(sales, bia, "one");
    await receive(sales, bia, "two");
    await sales.client.markRead({ id: sales.id, message_id: first });
    expect(await chatOf(bia)).toMatchObject({ unread_count: 1 });
    await sales.client.sandboxChat({ id: sales.id, from: bia, unread: false });
    await waitUntil(async () => (await chatOf(bia))?.unread_count === 0);
  });

  test("has pages, and shows no chat twice while chats move", async () => {
    const phones = [newPhone(), newPhone(), newPhone()];
    for (const phone of phones) await receive(sales, phone, "page");
    const first = await sales.client.listChats({ id: sales.id, limit: 2 });
    await receive(sales, newPhone(), "new");
    await receive(sales, phones[2] ?? "", "up again");
    const next = await sales.client.listChats({
      id: sales.id,
      limit: 200,
      cursor: first.pagination.next_cursor ?? "",
    });
    const seen = [...first.data, ...next.data].map((chat) => chat.id);
    expect(new Set(seen).size).toBe(seen.length);
    expect(next.data[0]?.phone).toBe(phones[0]);
  });
});

describe("the messages of a chat", () => {
  test("can be found by number, jid or LID, and filtered", async () => {
    const bia = newPhone();
    const id = await receive(sales, bia, "Olá, MUNDO");
    await sales.client.sendText({ id: sales.id, number: bia, text: "tudo bem?" });
    const [, inbound] = await messagesOf(sales, bia);
    for (const jid of [`${bia}@s.whatsapp.net`, inbound?.lid ?? ""]) {
      expect((await messagesOf(sales, jid)).map((message) => message.text)).toEqual([
        "tudo bem?",
        "Olá, MUNDO",
      ]);
    }
    const find = async (filter: object) => {
      const { data } = await sales.client.listMessages({ id: sales.id, chat: bia, ...filter });
      return data.map((message) => message.text);
    };
    expect(await find({ direction: "outbound" })).toEqual(["tudo bem?"]);
    expect(await find({ q: "ola mun" })).toEqual(["Olá, MUNDO"]);
    expect(await find({ q: "unknown" })).toEqual([]);
    expect(await find({ type: "image" })).toEqual([]);
    expect(await find({ status: "received" })).toEqual(["Olá, MUNDO"]);
    expect(await find({ until: inbound?.timestamp })).toEqual([]);
    expect(await find({ from: inbound?.timestamp })).toHaveLength(2);
    const { data } = await sales.client.getMessage({ id: sales.id, messageId: id });
    expect(data).toMatchObject({ message_id: id, text: "Olá, MUNDO" });
  });

  test("can be searched by their edited text", async () => {
    const bia = newPhone();
    const { data } = await sales.client.sendText({ id: sales.id, number: bia, text: "first version" });
    await sales.client.editMessage({
      id: sales.id,
      message_id: data.message_id ?? "",
      text: "second thoughts",
    });
    const find = async (q: string) =>
      (await sales.client.listMessages({ id: sales.id, chat: bia, q })).data.length;
    expect([await find("thoughts"), await find("version")]).toEqual([1, 0]);
  });

  test("of an unknown chat, or of an address of another kind, are rejected", async () => {
    const list = (jid: string) => refusal(sales.client.listChatMessages({ id: sales.id, jid }));
    expect(await list("5531999990000")).toEqual([404, "NOT_FOUND"]);
    expect(await list("x@example.com")).toEqual([400, "VALIDATION_ERROR"]);
  });
});

describe("the chat lists of an account", () => {
  test("include all its instances, or one of them, for a signed-in user", async () => {
    const bia = newPhone();
    await receive(sales, bia, "to sales zebra");
    await receive(support, bia, "to support zebra");
    const client = gateway.owner;
    const { data } = await client.listAccountMessages({ q: "zebra" });
    expect(data.map((message) => [message.instance_id, message.text])).toEqual([
      [support.id, "to support zebra"],
      [sales.id, "to sales zebra"],
    ]);
    const chats = await client.listConversations({ q: bia, instance_id: support.id });
    expect(chats.data).toMatchObject([
      { instance_id: support.id, last_message: { text: "to support zebra" } },
    ]);
    expect((await client.listConversations({ q: bia })).data).toHaveLength(2);
    expect((await client.listConversations({ q: `pe${bia.slice(-3)}` })).data).toHaveLength(2);
  });

  test("include only the key's instance, until an administrator lets the key read the account", async () => {
    const bia = newPhone();
    await receive(sales, bia, "to sales yak");
    await receive(support, bia, "to support yak");
    const { id, client } = sales;
    const read = async () => ({
      messages: (await client.listAccountMessages({ q: "yak" })).data.map(({ text }) => text),
      chats: (await client.listConversations({ q: bia })).data.map(({ instance_id }) => instance_id),
    });
    expect(await read()).toEqual({ messages: ["to sales yak"], chats: [id] });
    const other = { instance_id: support.id };
    expect(await refusal(client.listAccountMessages(other))).toEqual([403, "INSTANCE_FORBIDDEN"]);
    expect(await refusal(client.listConversations(other))).toEqual([403, "INSTANCE_FORBIDDEN"]);

    expect(await refusal(client.updateApiKey({ id, scope: "account" }))).toEqual([401, "AUTH_REQUIRED"]);
    await gateway.owner.updateApiKey({ id, scope: "account" });
    expect(await read()).toEqual({ messages: ["to support yak", "to sales yak"], chats: [support.id, id] });
    expect((await client.getApiKey({ id })).data).toMatchObject({ id, scope: "account" });
    const audited = await gateway.owner.listLogs({ type: "audit", action: "instance.update_key" });
    expect(audited.data).toMatchObject([{ target_id: String(id), fields: ["scope"] }]);

    const { data } = await gateway.owner.regenerateApiKey({ id });
    sales.client = createClient({ baseUrl: gateway.url, apiKey: data.api_key });
    sales.api_key = data.api_key;
    expect((await sales.client.listAccountMessages({ q: "yak" })).data).toHaveLength(2);
    await gateway.owner.updateApiKey({ id, scope: "instance" });
    expect((await sales.client.listAccountMessages({ q: "yak" })).data).toHaveLength(1);
  });
});

describe("the state of a chat", () => {
  test.each([
    ["an action", { action: "archive" }, { archived: true }],
    ["its opposite by state", { action: "unarchive", state: false }, { archived: true }],
    ["a field of its own", { pin: true }, { pinned: true }],
    ["a field that is false", { unpin: false }, { pinned: true }],
    ["marking as unread", { action: "unread" }, { marked_unread: true }],
    ["marking as read", { read: true }, { marked_unread: false, unread_count: 0 }],
    ["taking it back", { action: "unmute" }, { muted: false, muted_until: null }],
  ] as const)("is changed by %s, on the phone too", async (_, input, shown) => {
    const bia = newPhone();
    await receive(sales, bia, "Hello");
    const { data } = await sales.client.setChatState({ id: sales.id, number: bia, ...input });
    expect(data).toMatchObject({ phone: bia, ...shown });
    const phone = (await sales.client.sandboxChat({ id: sales.id, from: bia })).data;
    if ("archived" in shown) expect(phone.archived).toBe(true);
    if ("pinned" in shown) expect(phone.pinned).toBe(true);
  });

  test("can be muted for a given time", async () => {
    const bia = newPhone();
    await receive(sales, bia, "Hello");
    const call = { id: sales.id, number: bia, action: "mute", duration_seconds: 3600 } as const;
    const { data } = await sales.client.setChatState(call);
    const seconds = (Date.parse(data.muted_until ?? "") - Date.now()) / 1000;
    expect(data.muted).toBe(true);
    expect(Math.abs(seconds - 3600)).toBeLessThan(120);
  });

  test("is updated when the phone changes it", async () => {
    const bia = newPhone();
    await receive(sales, bia, "Hello");
    await sales.client.sandboxChat({ id: sales.id, from: bia, archived: true, pinned: true });
    await waitUntil(async () => (await chatOf(bia))?.pinned);
    expect(await chatOf(bia)).toMatchObject({ archived: true, pinned: true });
    const { data } = await sales.client.listChats({ id: sales.id, archived: true, q: bia });
    expect(data).toHaveLength(1);
  });

  test.each([
    ["a time for something else", { action: "pin", duration_seconds: 60 }],
    ["two actions", { archive: true, pin: true }],
  ])("is not changed by %s", async (_, input) => {
    const bia = newPhone();
    await receive(sales, bia, "Hello");
    const request = sales.client.setChatState({ id: sales.id, number: bia, ...input } as never);
    expect(await refusal(request)).toEqual([400, "VALIDATION_ERROR"]);
    expect(await chatOf(bia)).toMatchObject({ archived: false, pinned: false, muted: false });
  });
});

describe("the filters of the list of chats", () => {
  const idsOf = async (filter: object) => {
    const { data } = await sales.client.listChats({ id: sales.id, limit: 200, ...filter });
    return data.map(({ phone }) => phone);
  };

  test("tell unread, pinned and group chats from the others", async () => {
    const [unread, read] = [newPhone(), newPhone()];
    await receive(sales, unread, "one");
    const id = await receive(sales, read, "two");
    await sales.client.markRead({ id: sales.id, message_id: id });
    expect(await idsOf({ unread: true })).toContain(unread);
    expect(await idsOf({ unread: true })).not.toContain(read);
    expect(await idsOf({ unread: false })).toContain(read);
    await sales.client.setChatState({ id: sales.id, number: read, action: "unread" });
    expect(await idsOf({ unread: true })).toContain(read);
    await sales.client.setChatState({ id: sales.id, number: read, action: "pin" });
    expect(await idsOf({ pinned: true })).toContain(read);
    expect(await idsOf({ pinned: false })).not.toContain(read);
    expect(await idsOf({ type: "group" })).not.toContain(read);
    expect(await idsOf({ type: "contact" })).toContain(read);
  });

  test("find one chat by any of its addresses", async () => {
    const [bia, other] = [newPhone(), newPhone()];
    await receive(sales, bia, "one");
    await receive(sales, other, "two");
    for (const chat of [bia, `${bia}@s.whatsapp.net`]) expect(await idsOf({ chat })).toEqual([bia]);
    expect(await refusal(sales.client.listChats({ id: sales.id, chat: newPhone() }))).toEqual([
      404,
      "NOT_FOUND",
    ]);
  });
});

describe("the reactions to a message", () => {
  test("are listed with it, one for each person, until they are removed", async () => {
    const bia = newPhone();
    const message_id = await receive(sales, bia, "Hello");
    const { id, client } = sales;
    const reactions = async () => {
      const { data } = await client.getMessage({ id, messageId: message_id });
      return data.reactions.map(({ reaction, sender }) => [reaction, sender.phone]);
    };
    expect(await reactions()).toEqual([]);
    await client.react({ id, message_id, reaction: "👍" });
    await client.sandboxReact({ id, from: bia, message_id, reaction: "🎉" });
    await waitUntil(async () => (await reactions()).length === 2);
    await client.react({ id, message_id, reaction: "❤️" });
    const expected = [
      ["🎉", bia],
      ["❤️", sales.phone],
    ];
    expect(await reactions()).toEqual(expected);
    const [shown] = await messagesOf(sales, bia);
    expect(shown?.reactions).toHaveLength(2);
    await client.sandboxReact({ id, from: bia, message_id, reaction: "" });
    await waitUntil(async () => (await reactions()).length === 1);
  });
});
