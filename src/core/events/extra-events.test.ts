import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectExample } from "../../../test/documents/event-examples.ts";
import { startTestGateway, type TestGateway, type TestInstance, waitUntil } from "../../../test/gateway.ts";
import { SAMPLE } from "../../../test/sample-files.ts";
import { type Received, type Receiver, startReceiver } from "../../../test/servers/receiver.ts";
import { bubble, startTypebot, type TypebotServer } from "../../../test/servers/typebot-server.ts";
import { createConnectionRecorder } from "../sessions/connection/connection-recorder.ts";
import { recordAttention } from "../sessions/session-event-recorder.ts";
import { EXTRA_EVENTS, STREAM_EVENTS } from "./contract.ts";

const BIA = "5511977771234";
const RENAMED = "Sales team";
const CAIO = "5511966661234";

let gateway: TestGateway;
let receiver: Receiver;
let typebot: TypebotServer;
let shop: TestInstance;

beforeAll(async () => {
  [gateway, receiver, typebot] = await Promise.all([startTestGateway(), startReceiver(), startTypebot()]);
  typebot.publish("greeter", [bubble("a", "Hello!")]);
  shop = await gateway.connectInstance({ name: "Sales", phone: "5511988887777" });
  await listen(shop);
  await tellOfMessages();
  await tellOfCampaign();
  await tellOfPause();
  await tellOfSession();
  await tellOfPairing(await gateway.createInstance({ name: "Sales" }));
});
afterAll(async () => {
  await gateway.stop();
  await receiver.close();
  await typebot.shut();
});

async function listen({ id, client }: TestInstance): Promise<void> {
  await gateway.owner.updateInstance({ id, metadata: { branch: "Centro" } });
  const hook = { id, name: "Extra", url: receiver.url, events: [...EXTRA_EVENTS] };
  receiver.trust((await client.createWebhook(hook)).data.secret);
}

const arrives = (event: string) => receiver.waitFor(({ body }) => body.event === event);

async function isRead(messageId = ""): Promise<void> {
  const { id, client } = shop;
  await waitUntil(async () => (await client.getMessage({ id, messageId })).data.status === "read");
}

async function tellOfMessages(): Promise<void> {
  const { id, client } = shop;
  const bia = { id, from: BIA, push_name: "Bia" };
  const { data: sent } = await client.sendText({ id, number: BIA, text: "Good morning" });
  await arrives("message.delivered");
  await isRead(sent.message_id);
  await client.pinMessage({ id, message_id: sent.message_id ?? "" });
  await arrives("message.pinned");
  await client.starMessage({ id, message_id: sent.message_id ?? "" });
  await arrives("message.starred");
  const media = { base64: SAMPLE.png.toString("base64"), file_name: "menu.png" };
  await client.sandboxReceive({ ...bia, media });
  await arrives("media.ready");
  await client.sandboxCall({ ...bia, video: true });
  await arrives("call.received");
  const { data: poll } = await client.sendPoll({
    id,
    number: BIA,
    question: "Lunch?",
    options: ["Pizza", "Sushi"],
  });
  await isRead(poll.message_id);
  await client.sandboxVote({ ...bia, message_id: poll.message_id ?? "", options: ["Pizza"] });
  await arrives("poll.voted");
  await client.sandboxLabel({ id, label_id: "7", name: "New customer", color: 2 });
  await client.sandboxLabel({ id, label_id: "7", from: BIA });
  await receiver.waitFor(({ body }) => body.event === "label.changed" && body.data.change === "assigned");
  await client.sandboxStatus({ ...bia, text: "Open today" });
  await arrives("status.received");
  await client.sendStatus({ id, text: "Open today", audience: [BIA] });
  await arrives("status.viewed");
  const options = [
    { id: "yes", text: "Yes" },
    { id: "no", text: "No" },
  ];
  const { data: asked } = await client.ask({ id, number: BIA, question: "Shall we deliver today?", options });
  await isRead(asked.message_id);
  await client.sandboxReceive({ ...bia, text: "1" });
  await arrives("answer.received");
  const { data: group } = await client.sandboxGroup({ ...bia, subject: "Team" });
  await client.sandboxGroupSettings({ id, from: BIA, group_jid: group.jid, subject: RENAMED });
  await receiver.waitFor(
    ({ body }) => body.event === "group.updated" && body.data.change.subject === RENAMED,
  );
  const own = (await client.createGroup({ id, name: "Club", participants: [BIA] })).data.jid;
  await client.updateGroupSettings({ id, jid: own, join_approval: true });
  await client.sandboxGroupJoin({ id, from: CAIO, group_jid: own });
  await arrives("group.join_requested");
  await client.subscribePresence({ id, number: BIA });
  await client.sandboxPresence({ ...bia, presence: "typing" });
  await arrives("presence.changed");
}

async function tellOfCampaign(): Promise<void> {
  const { data } = await gateway.owner.createCampaign({
    name: "Spring",
    instance_id: shop.id,
    message_template: "Hello",
  });
  await gateway.owner.addRecipients({ id: data.id, numbers: [BIA] });
  await gateway.owner.startCampaign({ id: data.id });
  await arrives("campaign.completed");
}

async function tellOfPause(): Promise<void> {
  const { id, client } = shop;
  const config = { base_url: typebot.url, public_id: "greeter", max_delay_ms: 0, max_replies_per_minute: 1 };
  await client.saveIntegration({ id, provider: "typebot", config });
  await client.sandboxReceive({ id, from: CAIO, text: "Hello" });
  await arrives("integration.paused");
}

async function tellOfSession(): Promise<void> {
  const { db } = gateway.database;
  await recordAttention({ db, engine: gateway.gateway.engine }, shop.id, "passkey_challenge");
  await arrives("instance.attention");
  await shop.client.sandboxDrop({ id: shop.id });
  await arrives("instance.reconnecting");
  await waitUntil(async () => (await shop.client.getInstanceStatus({ id: shop.id })).data.connected);
  await sessionSays(shop, { type: "logged_out", reason: "unlinked" });
  await arrives("instance.logged_out");
}

type ConnectionRecorder = ReturnType<typeof createConnectionRecorder>;

/** Records events that the sandbox network never causes. */
async function sessionSays({ id }: TestInstance, event: Parameters<ConnectionRecorder["record"]>[1]) {
  const { engine } = gateway.gateway;
  await createConnectionRecorder({ db: gateway.database.db, engine }).record(id, event);
}

async function tellOfPairing(fresh: TestInstance): Promise<void> {
  await listen(fresh);
  await fresh.client.connectInstance({ id: fresh.id, wait_seconds: 60 });
  await sessionSays(fresh, {
    type: "pairing_failed",
    error: { code: "wrong_code", message: "The code was entered wrongly.", action: "Enter it again." },
  });
  await arrives("instance.pairing_failed");
  const passkey = { options: null, code: null, expires_at: new Date(Date.now() + 60_000) };
  const options = { challenge: "9WVUYm9AsQ", timeout: 600_000, rpId: "whatsapp.com" };
  await sessionSays(fresh, { type: "passkey_required", passkey: { ...passkey, stage: "required", options } });
  await arrives("instance.passkey_required");
  const code = "K7QW-3MXA";
  await sessionSays(fresh, {
    type: "passkey_required",
    passkey: { ...passkey, stage: "confirmation_required", code },
  });
  await arrives("instance.passkey_confirmation");
}

describe.each(EXTRA_EVENTS)("the event %s", (event) => {
  test("matches its example in openapi.json", () => {
    const isShown = ({ body }: Received) =>
      (event !== "group.updated" || body.data.change.subject === RENAMED) &&
      (event !== "label.changed" || body.data.change === "assigned");
    expectExample(event, receiver.of(event).find(isShown)?.body);
  });
});

describe.each(STREAM_EVENTS)("the stream-only event %s", (event) => {
  test("has the fields of its example, and reaches no webhook", async () => {
    const { id, client } = shop;
    const { data } = await client.listEvents({ id, event, limit: 1 });
    const { data: shown } = await client.getEvent({ id, eventId: data[0]?.event_id ?? "" });
    expectExample(event, shown.payload);
    expect(receiver.of(event)).toEqual([]);
  });
});

test("all extra events were signed", () => {
  expect(receiver.forged).toEqual([]);
});
