import { afterAll, beforeAll, expect, test } from "vitest";
import {
  newPhone,
  startTestGateway,
  type TestGateway,
  type TestInstance,
  waitUntil,
} from "../../../test/gateway.ts";
import { type Receiver, startReceiver } from "../../../test/servers/receiver.ts";

let gateway: TestGateway;
let receiver: Receiver;
let shop: TestInstance;

beforeAll(async () => {
  [gateway, receiver] = await Promise.all([startTestGateway(), startReceiver()]);
  shop = await gateway.connectInstance();
  const hook = { id: shop.id, name: "Labels", url: receiver.url, events: ["label.changed" as const] };
  receiver.trust((await shop.client.createWebhook(hook)).data.secret);
});
afterAll(async () => {
  await gateway.stop();
  await receiver.close();
});

const labels = async () => (await shop.client.listLabels({ id: shop.id })).data;
const changes = (labelId: string) =>
  receiver
    .of("label.changed")
    .filter(({ body }) => body.data.label.id === labelId)
    .map(({ body: { data } }) => [data.change, data.by, data.phone, data.message_id]);

test("A label made by the API is on the phone, and each change of it is one event", async () => {
  const { id, client } = shop;
  const phone = newPhone();
  const { data: label } = await client.createLabel({ id, name: "New customer", color: 4 });
  const { data: message } = await client.sandboxReceive({ id, from: phone, text: "Hello" });
  const isLogged = async () =>
    (await client.listMessages({ id })).data.some((one) => one.message_id === message.message_id);
  await waitUntil(isLogged);
  const { message_id } = message;
  await client.labelChat({ id, labelId: label.id, number: phone });
  await client.labelChat({ id, labelId: label.id, number: phone });
  await client.labelMessage({ id, labelId: label.id, message_id });
  expect(await labels()).toContainEqual({ ...label, chats: 1, messages: 1 });
  const { data: chats } = await client.listLabelledChats({ id, labelId: label.id });
  expect(chats.map((one) => one.phone)).toEqual([phone]);
  const { data: messages } = await client.listLabelledMessages({ id, labelId: label.id });
  expect(messages.map((one) => [one.phone, one.message_id])).toEqual([[phone, message_id]]);
  await client.labelChat({ id, labelId: label.id, number: phone, labelled: false });
  await client.updateLabel({ id, labelId: label.id, name: "Customer" });
  await client.deleteLabel({ id, labelId: label.id });
  await waitUntil(() => Promise.resolve(changes(label.id).length === 6));
  expect(changes(label.id)).toEqual(
    expect.arrayContaining([
      ["saved", "api", null, null],
      ["assigned", "api", phone, null],
      ["assigned", "api", phone, message_id],
      ["removed", "api", phone, null],
      ["saved", "api", null, null],
      ["deleted", "api", null, null],
    ]),
  );
  expect((await labels()).filter((one) => one.id === label.id)).toEqual([]);
});

test("A label of the phone is listed with its chats, whichever comes first, and no chat is made of it", async () => {
  const { id, client } = shop;
  const from = newPhone();
  await client.sandboxLabel({ id, label_id: "77", from });
  await client.sandboxLabel({ id, label_id: "77", name: "Paid", color: 1 });
  await waitUntil(async () => (await labels()).some((one) => one.id === "77"));
  expect(await labels()).toContainEqual({ id: "77", name: "Paid", color: 1, chats: 1, messages: 0 });
  const { data } = await client.listLabelledChats({ id, labelId: "77" });
  expect(data.map(({ phone }) => phone)).toEqual([from]);
  expect((await client.listChats({ id })).data.filter(({ phone }) => phone === from)).toEqual([]);
  expect((await client.createLabel({ id, name: "Next" })).data.id).toBe("78");
});

test("A label that the gateway has never heard of is read before a new one gets its number", async () => {
  const { id, client } = await gateway.connectInstance();
  await client.sandboxLabel({ id, label_id: "5", name: "Lead" });
  await waitUntil(async () => (await client.listLabels({ id })).data.length === 1);
  await gateway.database.pool.query("delete from label where instance_id = $1", [id]);
  expect((await client.createLabel({ id, name: "Customer" })).data.id).toBe("6");
  expect((await client.listLabels({ id })).data.map(({ name }) => name)).toEqual(["Customer", "Lead"]);
});

test("A label, colour, chat or message that is not there is refused before the phone is asked", async () => {
  const { id, client } = shop;
  const { data: label } = await client.createLabel({ id, name: "Known" });
  const refused = (code: string) => expect.objectContaining({ code });
  await expect(client.labelChat({ id, labelId: "999", number: newPhone() })).rejects.toEqual(
    refused("NOT_FOUND"),
  );
  await expect(client.updateLabel({ id, labelId: "999", name: "A" })).rejects.toEqual(refused("NOT_FOUND"));
  await expect(client.createLabel({ id, name: "A", color: 20 })).rejects.toEqual(refused("VALIDATION_ERROR"));
  await expect(client.updateLabel({ id, labelId: label.id })).rejects.toEqual(refused("VALIDATION_ERROR"));
  await expect(client.labelMessage({ id, labelId: label.id, message_id: "NONE" })).rejects.toEqual(
    refused("MESSAGE_NOT_FOUND"),
  );
});
