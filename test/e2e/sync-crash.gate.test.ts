import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient, WaygateError } from "../../src/client/client.ts";
import { buildDist } from "../build-dist.ts";
import { IN_FLIGHT, judge } from "../chaos/judge.ts";
import type { ClientSend, Known } from "../chaos/ledgers.ts";
import { readWhatsApp } from "../chaos/whatsapp-ledger.ts";
import { newPhone, waitUntil } from "../gateway.ts";
import { makeScratchDir } from "../scratch-dir.ts";
import type { SpawnedGateway } from "../spawn-gateway.ts";
import { type PlannedSend, readStoryLedgers } from "./send-history.ts";
import { startWhatsAppStory, type WhatsAppStory } from "./whatsapp-story.ts";

beforeAll(buildDist);

const PEOPLE = 8;
/** Sends of each chat, one after the other. */
const TEXTS = 12;
const PATIENCE_MS = 240_000;

let on: WhatsAppStory;
let people: string[];
/** What the clients of all tests know; the ledgers hold all of them. */
const requested: RequestedSend[] = [];
let kills = 0;

interface RequestedSend extends PlannedSend {
  known: Known;
  message_id?: string;
}

beforeAll(async () => {
  // A send that has not begun must not miss its deadline while the gateway starts on a slow machine.
  on = await startWhatsAppStory({ env: { WAYGATE_DOUBT_WAIT: "2500ms", WAYGATE_ACK_TIMEOUT: "60s" } });
  people = [];
  for (let n = 0; n < PEOPLE; n++)
    people.push((await on.network.control.addPerson({ phone: newPhone() })).phone);
  await on.start();
  await on.pair();
  await on.story.drained();
});

afterAll(() => on.end());

/** Every chat has one client that waits for each response before its next sync send; none is repeated. */
async function sendToAll(name: string, urlNow: () => string): Promise<void> {
  await Promise.all(
    people.map(async (number, chat) => {
      for (let n = 0; n < TEXTS; n++) {
        const planned = { text: `${name} ${chat} ${n}.`, number };
        const response = await sendOnce(urlNow(), planned);
        requested.push({ ...planned, ...response });
        if (response.known !== "ok") await waitUntil(() => isOnline(urlNow()), PATIENCE_MS);
      }
    }),
  );
}

async function sendOnce(
  baseUrl: string,
  planned: PlannedSend,
): Promise<Pick<RequestedSend, "known" | "message_id">> {
  const { id, api_key } = on.instance;
  const client = createClient({ baseUrl, apiKey: api_key });
  try {
    const { data } = await client.sendText({ id, ...planned });
    return { known: "ok", message_id: data.message_id };
  } catch (error) {
    const isRefused = error instanceof WaygateError && error.code === "INSTANCE_NOT_CONNECTED";
    return { known: isRefused ? "fail" : "unknown" };
  }
}

async function isOnline(baseUrl: string): Promise<boolean> {
  const { id, api_key } = on.instance;
  const status = createClient({ baseUrl, apiKey: api_key }).getInstanceStatus({ id });
  return status.then(
    ({ data }) => data.connected,
    () => false,
  );
}

interface SendRow {
  id: number;
  text: string;
  message_id: string;
  job_id: string;
}

/** The clients' ledger: a request without a response counts as accepted if there is a message. */
async function readClientLedger(): Promise<ClientSend[]> {
  const rows = await on.story.rows<SendRow>(
    "select id, content ->> 'text' as text, message_id, job_id from message where direction = 'outbound'",
  );
  const byText = new Map(rows.map((row) => [row.text, row]));
  expect(byText.size).toBe(rows.length);
  return requested.map(({ text: key, number: chat, known, message_id }) => {
    const row = byText.get(key);
    if (!row) return { key, chat, known: known === "ok" ? "ok" : "fail" };
    if (known === "ok") expect(message_id).toBe(row.message_id);
    return { key, chat, known: "ok", order: row.id, job_id: row.job_id, message_id: row.message_id };
  });
}

/** Everything that was asked for so far has gone out once, in the order of its chat, and is reported once. */
async function expectNothingLost(): Promise<void> {
  await on.story.drained(PATIENCE_MS);
  const { control } = on.network;
  const sends = await readClientLedger();
  const ledgers = await readStoryLedgers(on.story, { sends, network: await readWhatsApp(control) });
  expect(judge(ledgers, { ...IN_FLIGHT, kills }).breaches).toEqual([]);
  const accepted = sends.filter(({ known }) => known === "ok");
  for (const number of people) {
    const ofChat = accepted.filter(({ chat }) => chat === number);
    expect(ofChat.map(({ order = 0 }) => order)).toEqual(
      ofChat.map(({ order = 0 }) => order).toSorted((a, b) => a - b),
    );
  }
}

/** Submitted messages that have not arrived at the network. */
async function readSubmittedOnly(): Promise<string[]> {
  const rows = await on.story.rows<{ message_id: string }>(
    "select message_id from message where submitted_at is not null and outcome_at is null",
  );
  const arrived = new Set((await on.network.control.ledger()).arrivals.map(({ id }) => id));
  return rows.flatMap(({ message_id }) => (arrived.has(message_id) ? [] : [message_id]));
}

test.each([
  "accept:after-commit",
  "accept:before-run",
  "send:before-wire",
  "send:after-wire",
  "send:after-ack",
  "send:after-outcome",
])(
  "a kill at %s loses no sync send, repeats at most those in flight, and keeps each chat in order",
  {
    timeout: 2 * PATIENCE_MS,
  },
  async (point) => {
    const { story } = on;
    await story.gateway.kill();
    const { exited } = await story.start({ WAYGATE_FAULT_POINT: `${point}:20` });
    await on.online();
    const sending = sendToAll(point, () => story.gateway.url);
    expect((await exited).signal).toBe("SIGKILL");
    kills += 1;
    // The send at that point was submitted by the statement that accepted it.
    if (point === "accept:before-run") expect(await readSubmittedOnly()).not.toEqual([]);
    await on.start();
    await sending;
    await expectNothingLost();
  },
);

test("kills at random lose no sync send, and repeat at most those in flight", {
  timeout: 2 * PATIENCE_MS,
}, async () => {
  const { story } = on;
  const sending = sendToAll("random", () => story.gateway.url);
  for (let kill = 0; kill < 2; kill++) {
    const soFar = requested.length + Math.ceil(Math.random() * 20);
    await waitUntil(() => requested.length > soFar, PATIENCE_MS);
    await story.gateway.kill();
    kills += 1;
    await on.start();
  }
  await sending;
  await expectNothingLost();
});

test("an owner that stands still among its sync sends sends none of them when it wakes", {
  timeout: 3 * PATIENCE_MS,
}, async () => {
  const { story, network, instance } = on;
  await on.online();
  const frozen = story.gateway;
  const ownerNow = async () =>
    (await story.rows<{ owner: string | null }>("select owner from lane where kind = 'session'"))[0]?.owner;
  const before = await ownerNow();
  const { path: WAYGATE_DATA_DIR, remove } = await makeScratchDir("waygate-e2e-");
  const other: SpawnedGateway = await story.start({ WAYGATE_DATA_DIR });
  const logins = async () =>
    (await network.control.ledger()).sockets.filter(({ phone }) => phone === instance.phone);
  const loginsBefore = (await logins()).length;
  const first = requested.length;
  // Its own clients go on with it once it wakes.
  const sending = sendToAll("frozen", () => frozen.url);
  await waitUntil(() => requested.length > first + 20, PATIENCE_MS);
  expect(await ownerNow()).toBe(before);
  process.kill(frozen.pid, "SIGSTOP");
  kills += 1;
  await waitUntil(async () => (await ownerNow()) !== before, PATIENCE_MS);
  await waitUntil(async () => (await logins()).length > loginsBefore, PATIENCE_MS);
  await waitUntil(() => isOnline(other.url), PATIENCE_MS);
  process.kill(frozen.pid, "SIGCONT");
  const wokenAt = Date.now();
  await sending;
  await expectNothingLost();
  expect((await logins()).filter(({ logged_in_at = 0 }) => logged_in_at > wokenAt)).toEqual([]);
  expect((await frozen.kill("SIGINT")).code).toBe(0);
  await other.kill();
  await remove();
});
