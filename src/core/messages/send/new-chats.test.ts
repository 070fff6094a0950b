import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { newPhone, waitUntil } from "../../../../test/gateway.ts";
import { signIn } from "../../../../test/sign-in.ts";
import { startWhatsAppGateway, type WhatsAppGateway } from "../../../../test/whatsapp-gateway.ts";
import { type Client, createClient } from "../../../client/client.ts";

const HOUR = 3_600_000;

let on: WhatsAppGateway;
let client: Client;
let id: number;
let me: string;
let friend: string;

beforeAll(async () => {
  on = await startWhatsAppGateway(undefined, { WAYGATE_SEND_HOLD: "15m" });
  ({ id, client, phone: me } = on.instance);
  friend = (await on.control.addPerson({ phone: newPhone(), name: "Ana" })).phone;
  await on.control.sendMessage(friend, me, "Hello");
  await waitUntil(
    async () => (await client.getInstanceStatus({ id })).data.seconds_since_last_inbound !== null,
  );
});
afterAll(() => on.stop());

beforeEach(async () => {
  await on.control.restrictNewChats(me, undefined);
  await unlock();
});

const stranger = async () => (await on.control.addPerson({ phone: newPhone() })).phone;
const text = (number: string) => ({ id, number, text: "Hi" });
/** Blocks new chats on the network until then, in whole seconds. */
async function restrict(ms: number): Promise<Date> {
  const until = Math.ceil((Date.now() + ms) / 1000) * 1000;
  await on.control.restrictNewChats(me, until);
  return new Date(until);
}
const unlock = () =>
  on.gateway.database.db
    .updateTable("instance")
    .set({ new_chats_locked_until: null })
    .where("id", "=", id)
    .execute();
const refusalOf = (sending: Promise<unknown>) =>
  sending.then(
    () => undefined,
    (error) => error as { code: string; status: number; details: Record<string, unknown> },
  );
const statusOf = async (messageId: string) => (await client.getMessage({ id, messageId })).data;
const queue = async (number: string) =>
  ((await client.sendText({ ...text(number), async: true })) as unknown as { pendingMessageId: string })
    .pendingMessageId;

describe("an account that is blocked from starting new chats", () => {
  test("gets an error with the end time from the network, and its known chats continue", async () => {
    const until = await restrict(HOUR);
    const first = await refusalOf(client.sendText(text(await stranger())));
    expect(first).toMatchObject({ code: "REACHOUT_TIMELOCK", status: 429 });
    expect(first?.details.until).toBe(until.toISOString());
    const seen = (await on.control.seen(friend)).length;
    expect((await client.sendText(text(friend))).data.status).toMatch(/sent|delivered|read/);
    await waitUntil(async () => (await on.control.seen(friend)).length > seen);
    const { data } = await client.getInstance({ id });
    expect(data.new_chats_locked_until).toBe(until.toISOString());
    expect((await client.getInstanceStatus({ id })).data.new_chats_locked_until).toBe(until.toISOString());
  });

  test("has its next sync send rejected at once, without a row, and with the time to wait", async () => {
    await restrict(HOUR);
    await refusalOf(client.sendText(text(await stranger())));
    const before = await rows();
    const headers = {
      "content-type": "application/json",
      authorization: `Bearer ${(await signIn(on.gateway.url)).token}`,
    };
    const response = await fetch(`${on.gateway.url}/api/v1/instances/${id}/send-text`, {
      method: "POST",
      headers,
      body: JSON.stringify(text(await stranger())),
    });
    expect(response.status).toBe(429);
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(3500);
    expect(await rows()).toBe(before);
  });

  test("delays async sends if the block ends soon and fails them if it does not", async () => {
    const until = (await restrict(HOUR)).toISOString();
    await refusalOf(client.sendText(text(await stranger())));
    const failing = await queue(await stranger());
    await waitUntil(async () => (await statusOf(failing)).status === "failed");
    expect((await statusOf(failing)).error).toMatchObject({ code: "REACHOUT_TIMELOCK", retryable: true });
    expect(await keptUntil(failing)).toBe(until);
    await unlock();
    await restrict(5 * 60_000);
    const waiting = await queue(await stranger());
    await waitUntil(async () => (await client.getInstance({ id })).data.new_chats_locked_until !== null);
    await waitUntil(() => isPutOff(waiting));
    expect(await statusOf(waiting)).toMatchObject({ status: "pending", error: null });
    await on.control.restrictNewChats(me, undefined);
    await unlock();
    await on.gateway.advance(10 * 60_000);
    await waitUntil(async () => /sent|delivered|read/.test((await statusOf(waiting)).status));
  });

  test("remains blocked after a restart", async () => {
    await restrict(HOUR);
    await refusalOf(client.sendText(text(await stranger())));
    const { data: before } = await client.getInstance({ id });
    await on.gateway.restart();
    client = createClient({ baseUrl: on.gateway.url, token: (await signIn(on.gateway.url)).token });
    await waitUntil(async () => (await client.getInstanceStatus({ id })).data.connected);
    expect((await client.getInstance({ id })).data.new_chats_locked_until).toBe(
      before.new_chats_locked_until,
    );
    expect(await refusalOf(client.sendText(text(await stranger())))).toMatchObject({
      code: "REACHOUT_TIMELOCK",
    });
  });

  test("is not blocked by a refusal of one new chat while the network names no block", async () => {
    await on.control.fault({ fault: "ack_error", error: 463 });
    expect(await refusalOf(client.sendText(text(await stranger())))).toMatchObject({
      code: "SEND_FAILED",
      message: expect.stringContaining("463"),
    });
    expect((await client.getInstance({ id })).data.new_chats_locked_until).toBeNull();
    expect((await client.sendText(text(await stranger()))).data.status).toMatch(/sent|delivered|read/);
  });
});

async function rows(): Promise<number> {
  const found = await on.gateway.database.db.selectFrom("message").select("id").execute();
  return found.length;
}

/** The stored time until which a failed send would fail again. */
async function keptUntil(messageId: string): Promise<unknown> {
  const { rows } = await sql<{ until: unknown }>`
    select error ->> 'until' as until from message where message_id = ${messageId}`.execute(
    on.gateway.database.db,
  );
  return rows[0]?.until;
}

/** Whether the job of a message is rescheduled. Before that, advancing the clock has no effect. */
async function isPutOff(messageId: string): Promise<boolean> {
  const { rows } = await sql`
    select from job j join message m on (j.ref ->> 'message')::bigint = m.id
    where m.message_id = ${messageId} and j.run_at > now()`.execute(on.gateway.database.db);
  return rows.length > 0;
}
