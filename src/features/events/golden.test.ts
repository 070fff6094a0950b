import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectExample } from "../../../test/documents/event-examples.ts";
import { startTestGateway, type TestGateway, waitUntil } from "../../../test/gateway.ts";
import { type Received, type Receiver, startReceiver } from "../../../test/servers/receiver.ts";
import { createConnectionRecorder } from "../sessions/connection-recorder.ts";
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

const PHONE = "5511988887777";
const BIA = "5511977771234";
const REFUSES = "5511966660001";

/** Causes all 14 events, on the sandbox network and over real HTTP. */
async function tellStory(): Promise<void> {
  const shop = await gateway.createInstance({ name: "Sales" });
  const { id, client } = shop;
  await gateway.owner.updateInstance({ id, metadata: { branch: "Centro" } });
  const { data: webhook } = await client.createWebhook({ id, name: "All", url: receiver.url, events: ["*"] });
  receiver.trust(webhook.secret);

  await client.connectInstance({ id });
  // As the network says when nobody has scanned the last QR.
  const recorder = createConnectionRecorder({ db: gateway.database.db, engine: gateway.gateway.engine });
  await recorder.record(id, { type: "qr_expired" });
  await receiver.waitFor(({ body }) => body.event === "instance.qr_expired");
  await client.sandboxScan({ id, phone: PHONE });
  await receiver.waitFor(({ body }) => body.event === "instance.connected");

  const hello = { id, from: BIA, push_name: "Bia" };
  const { data: received } = await client.sandboxReceive({ ...hello, text: "Hello" });
  const message_id = received.message_id;
  await receiver.waitFor(({ body }) => body.event === "message.received");
  await client.sandboxReact({ ...hello, message_id, reaction: "👍" });
  await receiver.waitFor(({ body }) => body.event === "message.reaction");
  await client.sandboxEdit({ ...hello, message_id, text: "Hello there" });
  await receiver.waitFor(({ body }) => body.event === "message.edited");
  await client.sandboxDelete({ ...hello, message_id });
  await receiver.waitFor(({ body }) => body.event === "message.deleted");

  await client.sendText({ id, number: BIA, text: "Good morning", track_id: "order-7", async: true });
  await receiver.waitFor(({ body }) => body.event === "message.read");
  await client.sendText({ id, number: REFUSES, text: "To nobody", async: true });
  await receiver.waitFor(({ body }) => body.event === "message.failed");

  await client.createWebhook({
    id,
    name: "Broken",
    url: broken.url,
    events: ["message.received"],
    max_attempts: 2,
  });
  await client.sandboxReceive({ ...hello, text: "Are you there?" });
  await receiver.waitFor(({ body }) => body.event === "webhook.retrying");
  await gateway.advance(10_000);
  await receiver.waitFor(({ body }) => body.event === "webhook.failed");

  await client.sandboxDrop({ id });
  await receiver.waitFor(({ body }) => body.event === "instance.disconnected");
  await waitUntil(() => EVENTS.every((event) => receiver.of(event).length > 0));
}

const ENVELOPE = [
  "event_id",
  "event",
  "tenant_id",
  "instance_id",
  "timestamp",
  "source",
  "version",
  "sequence",
  "account_id",
  "instance",
  "data",
];
const INSTANCE = ["status", "phone", "jid", "reason", "will_retry"];
const REPORT = [
  "webhook_id",
  "event_id",
  "event",
  "url",
  "attempt",
  "max_attempts",
  "status_code",
  "error",
  "next_retry_at",
];
const MESSAGE = [
  "id",
  "message_id",
  "direction",
  "from_me",
  "jid",
  "lid",
  "phone",
  "chat_type",
  "is_group",
  "sender",
  "type",
  "text",
  "caption",
  "quoted",
  "mentions",
  "mentioned",
  "media",
  "location",
  "contacts",
  "choice",
  "group_invite",
  "unsupported",
  "ad",
  "is_forwarded",
  "forwarding_score",
  "status",
  "origin",
  "timestamp",
  "track_id",
];

/** The published names of `data` for each event; those of `message` and `conversation` follow below. */
const DATA: Record<(typeof EVENTS)[number], readonly string[]> = {
  "message.received": ["message", "conversation"],
  "message.sent": ["message", "conversation", "jobId", "pendingMessageId"],
  "message.failed": ["message", "conversation", "jobId", "pendingMessageId", "error"],
  "message.read": ["message_ids", "jid", "at", "direction"],
  "message.edited": ["message_id", "text"],
  "message.deleted": ["message_id", "by"],
  "message.reaction": ["message_id", "reaction", "removed", "sender"],
  "instance.connected": INSTANCE,
  "instance.disconnected": INSTANCE,
  "instance.qr": ["qr", "qr_code", "expires_at", "attempt"],
  "instance.qr_expired": INSTANCE,
  "webhook.sent": REPORT,
  "webhook.failed": REPORT,
  "webhook.retrying": REPORT,
};

describe.each(EVENTS)("the event %s", (event) => {
  const item = () => receiver.of(event)[0] as Received;

  test("has every published field under its published name", () => {
    const { body } = item();
    expect(Object.keys(body)).toEqual(ENVELOPE);
    expect(Object.keys(body.instance)).toEqual(["id", "name", "phone", "metadata"]);
    expect(Object.keys(body.data)).toEqual(expect.arrayContaining([...DATA[event]]));
    const { message, conversation, error, sender } = body.data;
    if (message) {
      expect(Object.keys(message)).toEqual(MESSAGE);
      expect(Object.keys(conversation)).toEqual(["id", "jid", "phone", "title", "type"]);
    }
    const people = [message?.sender, sender].filter(Boolean);
    for (const one of people) expect(Object.keys(one)).toEqual(["jid", "lid", "phone", "push_name"]);
    if (event === "message.failed") expect(Object.keys(error)).toEqual(["code", "message", "retryable"]);
  });

  test("matches its example in openapi.json", () => {
    expectExample(event, item().body);
  });
});

test("all golden events were signed", () => {
  expect(receiver.forged).toEqual([]);
});
