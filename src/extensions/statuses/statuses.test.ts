import { afterAll, beforeAll, expect, test } from "vitest";
import {
  newPhone,
  startTestGateway,
  type TestGateway,
  type TestInstance,
  waitUntil,
} from "../../../test/gateway.ts";
import { SAMPLE } from "../../../test/sample-files.ts";
import { type Receiver, startReceiver } from "../../../test/servers/receiver.ts";

let gateway: TestGateway;
let receiver: Receiver;
let shop: TestInstance;

beforeAll(async () => {
  [gateway, receiver] = await Promise.all([startTestGateway(), startReceiver()]);
  shop = await gateway.connectInstance();
  const events = ["status.received" as const, "status.viewed" as const];
  const hook = { id: shop.id, name: "Stories", url: receiver.url, events };
  receiver.trust((await shop.client.createWebhook(hook)).data.secret);
});
afterAll(async () => {
  await gateway.stop();
  await receiver.close();
});

const stories = async () => (await shop.client.listStatuses({ id: shop.id })).data;
const nothing = async () => (await shop.client.listChats({ id: shop.id })).data;
const bia = newPhone();

test("A story is listed with its views, each reported once, and becomes no chat", async () => {
  const { id, client } = shop;
  const { data } = await client.sendStatus({
    id,
    text: "Open today",
    background_color: "#1E6E4F",
    font: 2,
    audience: [bia],
  });
  expect(data).toMatchObject({ status: "sent", jid: "status@broadcast", audience: 1 });
  const { message_id } = data;
  await client.sandboxStatus({ id, from: bia, message_id });
  const [first] = await receiver.waitFor(({ body }) => body.event === "status.viewed");
  expect(first?.body.data).toMatchObject({ message_id, by: { phone: bia } });
  const views = async () => (await client.listStatusViews({ id, messageId: message_id })).data;
  await waitUntil(async () => (await views()).length === 1);
  expect((await views()).map(({ phone }) => phone)).toEqual([bia]);
  const shown = { text: "Open today", background_color: "#1E6E4F", font: 2, audience: 1, views: 1 };
  expect(await stories()).toEqual([expect.objectContaining(shown)]);
  expect(receiver.of("status.viewed")).toHaveLength(1);
  expect(await nothing()).toEqual([]);
});

test("A picture goes to the address book of the phone, unless that is empty", async () => {
  const { id, client } = shop;
  const picture = { id, base64: SAMPLE.png.toString("base64"), caption: "New" };
  await expect(client.sendStatus(picture)).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  await client.sandboxContact({ id, from: bia, name: "Bia" });
  await waitUntil(async () => (await client.listContacts({ id })).data.some(({ name }) => name === "Bia"));
  expect((await client.sendStatus(picture)).data.audience).toBe(1);
  expect((await stories())[0]).toMatchObject({ type: "image", caption: "New", mime_type: "image/png" });
  const { rows } = await gateway.database.pool.query("select from outgoing_media");
  expect(rows).toEqual([]);
});

test("A story of a contact is one event and nothing else", async () => {
  const { id, client } = shop;
  const { data } = await client.sandboxStatus({ id, from: bia, text: "At the beach" });
  const [first] = await receiver.waitFor(({ body }) => body.event === "status.received");
  expect(first?.body.data).toMatchObject({
    message_id: data.message_id,
    type: "text",
    text: "At the beach",
    by: { phone: bia },
  });
  expect(await nothing()).toEqual([]);
  expect((await stories()).map(({ text }) => text)).not.toContain("At the beach");
});

test("An account without a webhook for stories stores nothing of those that come", async () => {
  const quiet = await gateway.connectInstance();
  await quiet.client.sandboxStatus({ id: quiet.id, from: bia, text: "Unwanted" });
  await quiet.client.sandboxReceive({ id: quiet.id, from: bia, text: "Hello" });
  await waitUntil(async () => (await quiet.client.listMessages({ id: quiet.id })).data.length === 1);
  const { data } = await quiet.client.listEvents({ id: quiet.id });
  expect(data.filter(({ event }) => event.startsWith("status."))).toEqual([]);
});

test.each([
  ["to nobody", { text: "A", audience: [] }],
  ["to a group", { text: "A", audience: ["120363025246125486@g.us"] }],
  [
    "to 5,000 people",
    { text: "A", audience: Array.from({ length: 5_000 }, (_, n) => `55119${70_000_000 + n}`) },
  ],
  ["of no known colour", { text: "A", background_color: "red", audience: [bia] }],
  ["in no known font", { text: "A", font: 3, audience: [bia] }],
  ["without content", { audience: [bia] }],
  ["that would wait", { text: "A", audience: [bia], async: true }],
])("A story %s is refused before anything is stored", async (_, input) => {
  const before = await stories();
  await expect(shop.client.sendStatus({ id: shop.id, ...input } as never)).rejects.toMatchObject({
    code: "VALIDATION_ERROR",
  });
  expect(await stories()).toEqual(before);
});

test("A story that nobody of the audience can get is refused, and leaves nothing", async () => {
  const before = await stories();
  const audience = ["5511999990000"];
  await expect(shop.client.sendStatus({ id: shop.id, text: "A", audience })).rejects.toMatchObject({
    code: "SEND_FAILED",
  });
  expect(await stories()).toEqual(before);
});
