import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { newPhone, waitUntil } from "../../../../test/gateway.ts";
import { startWhatsAppGateway, type WhatsAppGateway } from "../../../../test/whatsapp-gateway.ts";
import { type Client, createClient } from "../../../client/client.ts";

let on: WhatsAppGateway;
let client: Client;
let id: number;
let me: string;

beforeAll(async () => {
  on = await startWhatsAppGateway();
  ({ id, client, phone: me } = on.instance);
});
afterAll(() => on.stop());

beforeEach(() => on.control.clearFaults());

afterEach(async () => {
  await on.control.clearFaults();
  await waitUntil(async () => {
    await on.gateway.advance(900_000);
    return (await jobs()).length === 0;
  });
  expect(await on.control.unhandled()).toEqual([]);
});

const connected = () => waitUntil(async () => (await client.getInstanceStatus({ id })).data.connected);
async function restart(env?: Record<string, string>): Promise<void> {
  await on.gateway.restart(env);
  client = createClient({ baseUrl: on.gateway.url, apiKey: on.instance.api_key });
  await connected();
}
const person = async () => (await on.control.addPerson({ phone: newPhone() })).phone;
const queue = async (number: string, text = "Hi") =>
  (await client.sendText({ id, number, text, async: true })).pendingMessageId ?? "";
const messageOf = async (messageId: string) => (await client.getMessage({ id, messageId })).data;
/** Removes the prekeys of all numbers, or of these, which makes sends to them fail. */
const withoutKeys = async (...numbers: (string | undefined)[]) => {
  for (const of of numbers) await on.control.fault({ fault: "no_prekeys", times: 10_000, ...(of && { of }) });
};
/** Number of prekey queries. */
const keyQueries = async () => (await on.control.stanzas(me))["iq:encrypt:key"] ?? 0;

interface SendJob {
  message_id: string;
  tries: number | null;
  wait_ms: number;
}

async function jobs(): Promise<SendJob[]> {
  const { rows } = await sql<SendJob>`
    select m.message_id, (j.ref ->> 'tries')::int as tries,
      (extract(epoch from j.run_at - now()) * 1000)::float8 as wait_ms
    from job j join message m on m.id = (j.ref ->> 'message')::bigint
    where j.ref ->> 'do' = 'send' order by m.id`.execute(on.gateway.database.db);
  return rows;
}

const tried = (messageId: string, times: number) =>
  waitUntil(async () => (await jobs()).some((one) => one.message_id === messageId && one.tries === times));

const breaker = () =>
  on.gateway.database.db
    .selectFrom("instance")
    .select(["send_pauses", "sends_paused_until"])
    .where("id", "=", id)
    .executeTakeFirstOrThrow();

describe("a send that does not reach the network", () => {
  test("is attempted five times with six prekey queries and fails with a retryable reason", async () => {
    const number = await person();
    await withoutKeys(number);
    const asked = await keyQueries();
    const messageId = await queue(number);
    for (const times of [1, 2, 3, 4]) {
      await tried(messageId, times);
      await on.gateway.advance(600_000);
    }
    await waitUntil(async () => (await messageOf(messageId)).status === "failed");
    expect((await messageOf(messageId)).error).toMatchObject({
      code: "SEND_FAILED",
      message: expect.stringContaining("in 5 attempts"),
      retryable: true,
    });
    // One more query when the network first reports a person's address.
    expect((await keyQueries()) - asked).toBe(5 + 1);
    expect((await breaker()).send_pauses).toBe(0);
  });

  test("waits longer each time, and keeps delay, count and the chat's order over a restart", async () => {
    const number = await person();
    await withoutKeys(number);
    const first = await queue(number, "first");
    const second = await queue(number, "second");
    const waits: number[] = [];
    for (const times of [1, 2, 3]) {
      await tried(first, times);
      waits.push((await jobs())[0]?.wait_ms ?? 0);
      if (times < 3) await on.gateway.advance(waits.at(-1) ?? 0);
    }
    expect(waits[1]).toBeGreaterThan((waits[0] ?? 0) * 2);
    expect(waits[2]).toBeGreaterThan((waits[1] ?? 0) * 2);
    await restart();
    expect((await jobs()).map(({ tries }) => tries)).toEqual([3, null]);
    await on.control.clearFaults();
    await on.gateway.advance(80_000);
    await waitUntil(async () => (await messageOf(second)).status !== "pending");
    const heard = (await on.control.seen(number)).flatMap((one) => (one.type === "message" ? [one.id] : []));
    expect(heard).toEqual([first, second]);
  });

  test("does not count attempts without a connection", async () => {
    const number = await person();
    await on.control.listen(false);
    await on.control.end(me, 428);
    await waitUntil(async () => !(await client.getInstanceStatus({ id })).data.connected);
    const messageId = await queue(number);
    await on.gateway.advance(60_000);
    await on.control.listen(true);
    await connected();
    await waitUntil(async () => (await messageOf(messageId)).status !== "pending");
    expect((await messageOf(messageId)).error).toBeNull();
  });
});

describe("consecutive sends to several chats that do not reach the network", () => {
  test("pause all sends of the instance and attempt one at a time until one is accepted", async () => {
    await withoutKeys(undefined);
    const numbers = [await person(), await person(), await person(), await person(), await person()];
    for (const number of numbers.slice(0, 3)) await queue(number);
    await waitUntil(async () => (await breaker()).send_pauses === 1);
    for (const number of numbers.slice(3)) await queue(number);
    const asked = await keyQueries();
    await on.gateway.advance(20_000);
    await waitUntil(async () => (await breaker()).send_pauses === 2);
    expect((await keyQueries()) - asked).toBe(1);
    await restart();
    expect((await breaker()).sends_paused_until?.getTime()).toBeGreaterThan(Date.now());
    await on.control.clearFaults();
    expect(await keyQueries()).toBe(asked + 1);
    await on.gateway.advance(80_000);
    await waitUntil(async () => (await jobs()).length === 0);
    expect(await breaker()).toEqual({ send_pauses: 0, sends_paused_until: null });
    for (const number of numbers) expect(await on.control.seen(number)).not.toEqual([]);
  });

  test("fail without another attempt if the pause exceeds the hold time", async () => {
    await withoutKeys(undefined);
    for (const number of [await person(), await person(), await person()]) await queue(number);
    await waitUntil(async () => (await breaker()).send_pauses === 1);
    const waiting = await queue(await person());
    const { db } = on.gateway.database;
    await sql`update message set deadline = now() - interval '1 second' where message_id = ${waiting}`.execute(
      db,
    );
    await on.gateway.advance(1_000);
    await waitUntil(async () => (await messageOf(waiting)).status === "failed");
    expect((await messageOf(waiting)).error).toMatchObject({ code: "SEND_FAILED", retryable: true });
  });
});

describe("with a short wait for acknowledgements", () => {
  beforeAll(() => restart({ WAYGATE_ACK_TIMEOUT: "400ms", WAYGATE_UNKNOWN_OUTCOME_WAIT: "400ms" }));
  beforeEach(() => on.control.settings({ receiptDelayMs: 600_000 }));
  afterAll(() => on.control.settings({ receiptDelayMs: 0 }));

  type Refusal = { code: string; details: { message_id: string; sent: unknown } };
  /** Sends to new people until the outcome is as expected, because a busy machine may miss the wait. */
  async function refused(sent: unknown, prepare: (number: string) => Promise<unknown>, key?: string) {
    for (;;) {
      const number = await person();
      await prepare(number);
      const send = () => client.sendText({ id, number, text: "Hi" }, { idempotencyKey: key && key + number });
      const error = await send().then(
        () => undefined,
        (reason: Refusal) => reason,
      );
      if (error) expect(error.code).toBe("SEND_TIMEOUT");
      if (error && error.details.sent === sent) return { number, send, message_id: error.details.message_id };
    }
  }
  /** Suppresses acknowledgements and receipts of `times` attempts. */
  const withoutAnswers = (times: number) => (to: string) =>
    on.control.fault({ fault: "ack_lost", to, times });
  const isSent = async (messageId: string) => (await messageOf(messageId)).status === "sent";

  test("a send that does not reach the network says that nothing was sent", async () => {
    await refused(false, withoutKeys);
  });

  test("a send whose acknowledgement is lost is sent again with its id, also for its key, before the next one", async () => {
    const { number, send, message_id } = await refused("unknown", withoutAnswers(1), "lost");
    const next = await queue(number, "Second");
    await waitUntil(() => isSent(message_id));
    const { data } = await send();
    expect(data).toMatchObject({ message_id, status: "sent" });
    await waitUntil(() => isSent(next));
    expect(await on.control.arrivals(message_id)).toBe(2);
    expect((await client.listMessages({ id, chat: data.jid })).data).toHaveLength(2);
  });

  test("a send stops blocking its chat after three attempts on one connection and is still retried", async () => {
    const { number, message_id } = await refused("unknown", withoutAnswers(3));
    const behind = await queue(number, "Behind");
    await waitUntil(() => isSent(behind));
    await waitUntil(() => isSent(message_id));
    expect(await on.control.arrivals(message_id)).toBe(4);
  });

  test("a send keeps waiting for a connection like an async one after its caller has left", async () => {
    const { message_id } = await refused("unknown", withoutAnswers(2));
    await on.control.listen(false);
    await on.control.end(me, 428);
    await waitUntil(async () => !(await client.getInstanceStatus({ id })).data.connected);
    await on.gateway.advance(60_000);
    expect((await messageOf(message_id)).status).toBe("pending");
    await on.control.listen(true);
    await connected();
    await on.gateway.advance(10_000);
    await waitUntil(() => isSent(message_id));
  });
});
