import { afterAll, beforeAll, expect, test } from "vitest";
import { expectExample } from "../../../test/documents/event-examples.ts";
import { startTestGateway, type TestGateway, waitUntil } from "../../../test/gateway.ts";
import { type Receiver, startReceiver } from "../../../test/servers/receiver.ts";
import { createConnectionRecorder } from "../sessions/connection/connection-recorder.ts";
import { DEFAULT_EVENTS, OPERATIONAL_EVENTS } from "./contract.ts";

const EVENTS = [...DEFAULT_EVENTS, ...OPERATIONAL_EVENTS];

let gateway: TestGateway;
let receiver: Receiver;
let broken: Receiver;

beforeAll(async () => {
  gateway = await startTestGateway({ WAYGATE_RETRY_SCHEDULE: "5s" });
  receiver = await startReceiver();
  broken = await startReceiver();
  broken.respond(500);
  await tellStory();
});
afterAll(async () => {
  await gateway.stop();
  await receiver.close();
  await broken.close();
});

const arrives = (event: string) => receiver.waitFor(({ body }) => body.event === event);

const PHONE = "5511988887777";
const BIA = "5511977771234";
const REFUSES = "5511966660001";

/** Causes all 14 events on the sandbox network over HTTP. */
async function tellStory(): Promise<void> {
  const shop = await gateway.createInstance({ name: "Sales" });
  const { id, client } = shop;
  await gateway.owner.updateInstance({ id, metadata: { branch: "Centro" } });
  const { data: webhook } = await client.createWebhook({ id, name: "All", url: receiver.url, events: ["*"] });
  receiver.trust(webhook.secret);

  await client.connectInstance({ id });
  // Reported after the last QR code expires.
  const recorder = createConnectionRecorder({ db: gateway.database.db, engine: gateway.gateway.engine });
  await recorder.record(id, { type: "qr_expired" });
  await arrives("instance.qr_expired");
  await client.sandboxScan({ id, phone: PHONE });
  await arrives("instance.connected");

  const hello = { id, from: BIA, push_name: "Bia" };
  const { data: received } = await client.sandboxReceive({ ...hello, text: "Hello" });
  const message_id = received.message_id;
  await arrives("message.received");
  await client.sandboxReact({ ...hello, message_id, reaction: "👍" });
  await arrives("message.reaction");
  await client.sandboxEdit({ ...hello, message_id, text: "Hello there" });
  await arrives("message.edited");
  await client.sandboxDelete({ ...hello, message_id });
  await arrives("message.deleted");

  await client.sendText({ id, number: BIA, text: "Good morning", track_id: "order-7", async: true });
  await arrives("message.read");
  await client.sendText({ id, number: REFUSES, text: "To nobody", async: true });
  await arrives("message.failed");

  await client.createWebhook({
    id,
    name: "Broken",
    url: broken.url,
    events: ["message.received"],
    max_attempts: 2,
  });
  await client.sandboxReceive({ ...hello, text: "Are you there?" });
  await arrives("webhook.retrying");
  await gateway.advance(10_000);
  await arrives("webhook.failed");

  await client.sandboxDrop({ id });
  await arrives("instance.disconnected");
  await waitUntil(() => EVENTS.every((event) => receiver.of(event).length > 0));
}

test.each(EVENTS)("the event %s matches its example in openapi.json", (event) => {
  expectExample(event, receiver.of(event)[0]?.body);
});

test("all golden events were signed", () => {
  expect(receiver.forged).toEqual([]);
});
