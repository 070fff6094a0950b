import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { startTestGateway, type TestGateway, waitUntil } from "../../../test/gateway.ts";
import { type Received, type Receiver, startReceiver } from "../../../test/receiver.ts";
import { DEFAULT_EVENTS, OPERATIONAL_EVENTS } from "./contract.ts";

// The time of the network: a QR that nobody scans is given up soon, and one that is scanned lasts until then.
vi.mock("../../network/sandbox/timing.ts", async (original) => {
  const { SANDBOX_TIMING } = await original<typeof import("../../network/sandbox/timing.ts")>();
  return { SANDBOX_TIMING: { ...SANDBOX_TIMING, firstQrMs: 5_000, laterQrMs: 100 } };
});

/** `UPDATE_GOLDEN=1 npx vitest run src/features/events/golden.test.ts` writes the files anew. */
const isUpdate = process.env.UPDATE_GOLDEN === "1";
const FOLDER = fileURLToPath(new URL("../../../docs/events/", import.meta.url));
const EVENTS = [...DEFAULT_EVENTS, ...OPERATIONAL_EVENTS];

let gateway: TestGateway;
let receiver: Receiver;
let broken: Receiver;

beforeAll(async () => {
  gateway = await startTestGateway({ WAYGATE_RETRY_SCHEDULE: "5s" });
  receiver = await startReceiver();
  broken = await startReceiver();
  broken.answer(500);
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

/** Makes every one of the 14 happen, on the sandbox network and over real HTTP. */
async function tellStory(): Promise<void> {
  const shop = await gateway.createInstance({ name: "Sales" });
  const { id, client } = shop;
  await gateway.owner.updateInstance({ id, metadata: { branch: "Centro" } });
  const { data: webhook } = await client.createWebhook({ id, name: "All", url: receiver.url, events: ["*"] });
  receiver.trust(webhook.secret);

  await client.connectInstance({ id });
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
  ...["event_id", "event", "tenant_id", "instance_id", "timestamp", "source", "version", "sequence"],
  ...["account_id", "instance", "data"],
];
const INSTANCE = ["status", "phone", "jid", "reason", "will_retry"];
const REPORT = [
  ...[
    "webhook_id",
    "event_id",
    "event",
    "url",
    "attempt",
    "max_attempts",
    "status_code",
    "error",
    "next_retry_at",
  ],
];
const MESSAGE = [
  ...[
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
  ],
  ...[
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
    "ad",
    "is_forwarded",
    "forwarding_score",
    "status",
    "origin",
    "timestamp",
  ],
  ...["track_id"],
];

/** The published names of `data`, event by event; `message` and `conversation` have theirs below. */
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

describe.each(EVENTS)("%s", (event) => {
  const item = () => receiver.of(event)[0] as Received;
  const file = `${FOLDER}${event}.json`;

  test("has every published field, under its published name", () => {
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

  test("is what its page in docs/events shows", () => {
    const shown = `${JSON.stringify(normalise(item().body), null, 2)}\n`;
    if (isUpdate) writeFileSync(file, shown);
    expect(existsSync(file) ? readFileSync(file, "utf8") : "").toBe(shown);
  });
});

test("docs/events shows these 14 events and no other", () => {
  const shown = readdirSync(FOLDER).filter((name) => /^[a-z]+\.[a-z_]+\.json$/.test(name));
  expect(shown.sort()).toEqual(EVENTS.map((event) => `${event}.json`).sort());
});

test("all of them were signed", () => {
  expect(receiver.forged).toEqual([]);
});

/** Ids, times and addresses are different at every run; what stays is what a reader looks for. */
function normalise(body: Received["body"]): unknown {
  return JSON.parse(JSON.stringify(body, (key, value) => stable(key, value)));
}

const NUMBERS: Record<string, number> = { sequence: 4812, account_id: 3, webhook_id: 5 };
const TEXTS: readonly [RegExp, string][] = [
  [/^evt_[0-9A-Z]{26}$/, "evt_01M7VZ7A9ZBG8NWRNYBYXP4FZP"],
  [/^tenant_\d+$/, "tenant_3"],
  [/^inst_\d+$/, "inst_17"],
  [/^\d{4}-\d\d-\d\dT[\d:.]+Z$/, "2026-11-20T12:00:00.000Z"],
  [/^data:image\/png;base64,.+$/, "data:image/png;base64,iVBORw0KGgo..."],
  [/^sandbox@.+$/, "sandbox@sc1ruU0-pfiowXkZniM3F2rlIfF5P1Fj"],
  [/^http:\/\/127\.0\.0\.1:\d+\/hook$/, "https://example.com/hook"],
];
const MESSAGE_ID = "3EB0C431D2A5F96B7E8812";

function stable(key: string, value: unknown): unknown {
  if (typeof value === "number") return NUMBERS[key] ?? value;
  if (key === "message_ids") return [MESSAGE_ID];
  if (key === "message_id" || key === "pendingMessageId") return MESSAGE_ID;
  if (key === "jobId") return "01M7VZ7A9ZBG8NWRNYBYXP4FZP";
  if (isNumbered(key, value)) return { ...value, id: NUMBER_OF[key] };
  if (typeof value !== "string") return value;
  return TEXTS.find(([pattern]) => pattern.test(value))?.[1] ?? value;
}

const NUMBER_OF: Record<string, number> = { instance: 17, message: 981, conversation: 44 };

function isNumbered(key: string, value: unknown): value is { id: number } {
  return key in NUMBER_OF && typeof value === "object" && value !== null;
}
