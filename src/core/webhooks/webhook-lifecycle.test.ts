import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { newPhone, waitUntil } from "../../../test/gateway.ts";
import type { Received, Receiver } from "../../../test/servers/receiver.ts";
import { setUpWebhookStory, textIs } from "../../../test/stories/webhook-story.ts";
import { ensurePartitions } from "../../platform/db/partitions.ts";
import { recordEvents } from "../events/events.ts";
import { recoverDeliveries } from "./recover-deliveries.ts";

const story = setUpWebhookStory();
const { addWebhook, receive, logs, delivery } = story;

const [BIA, RUI] = ["5511977771011", "5511977771012"];
const textOf = ({ body }: Received) => String(body.data.message.text);

/** Makes the receiver reject texts that start with "bad". */
function refuseBad(): void {
  story.receiver.respond((item, response) => {
    response.writeHead(textOf(item).startsWith("bad") ? 500 : 200).end();
  });
}

/** Runs `steps` retries of the only failing event. */
async function passRetries(steps: number): Promise<void> {
  const failures = async () => (await logs({ success: "false" })).length;
  for (let step = 0; step < steps; step++) {
    const before = await failures();
    await story.gateway.advance(900_000);
    await waitUntil(async () => (await failures()) > before);
  }
}

describe("ordering `chat`", () => {
  test("lets an event wait for two failures of the previous one and go after the third", async () => {
    const webhook = await addWebhook();
    refuseBad();
    const bad = await receive("bad", BIA);
    await delivery(bad.event_id, webhook.id, ({ status }) => status === "retrying");
    const good = await receive("good", BIA);
    await receive("elsewhere", RUI);
    await story.receiver.waitFor(textIs("elsewhere"));
    await passRetries(1);
    expect(await delivery(good.event_id, webhook.id)).toMatchObject({ status: "pending", attempts: 0 });
    await passRetries(1);
    await delivery(good.event_id, webhook.id, ({ status }) => status === "delivered");
    expect(await delivery(bad.event_id, webhook.id)).toMatchObject({ status: "parked", attempts: 3 });
  });

  test("sends the rest of the chat at once if a manual attempt of its first event succeeds", async () => {
    const webhook = await addWebhook();
    refuseBad();
    const bad = await receive("bad", BIA);
    await delivery(bad.event_id, webhook.id, ({ status }) => status === "retrying");
    const good = await receive("good", BIA);
    story.receiver.respond(200);
    await story.shop.client.retryEvent({ id: story.shop.id, eventId: bad.event_id });
    await delivery(good.event_id, webhook.id, ({ status }) => status === "delivered");
    expect(await delivery(bad.event_id, webhook.id)).toMatchObject({
      status: "delivered",
      next_retry_at: null,
    });
    await story.gateway.advance(60_000);
    await receive("last", BIA);
    await story.receiver.waitFor(textIs("last"));
    expect(story.receiver.received.filter(textIs("bad"))).toHaveLength(2);
  });

  test("keeps its schedule if a manual attempt fails", async () => {
    const webhook = await addWebhook();
    refuseBad();
    const bad = await receive("bad", BIA);
    const before = await delivery(bad.event_id, webhook.id, ({ status }) => status === "retrying");
    await story.shop.client.retryEvent({ id: story.shop.id, eventId: bad.event_id });
    await waitUntil(async () => (await logs()).length === 2);
    expect((await logs()).map(({ trigger, attempt }) => [trigger, attempt])).toEqual([
      ["manual", 2],
      ["auto", 1],
    ]);
    expect(await delivery(bad.event_id, webhook.id)).toEqual(before);
    await passRetries(1);
    expect(await delivery(bad.event_id, webhook.id)).toMatchObject({ status: "retrying", attempts: 2 });
  });
});

test("ordering `strict` delays all events until the first one is delivered or has failed", async () => {
  const webhook = await addWebhook({ ordering: "strict", max_attempts: 5 });
  refuseBad();
  const bad = await receive("bad", BIA);
  await delivery(bad.event_id, webhook.id, ({ status }) => status === "retrying");
  const other = await receive("other chat", RUI);
  await passRetries(3);
  expect(await delivery(other.event_id, webhook.id)).toMatchObject({ status: "pending", attempts: 0 });
  await passRetries(1);
  await delivery(other.event_id, webhook.id, ({ status }) => status === "delivered");
  expect(await delivery(bad.event_id, webhook.id)).toMatchObject({ status: "failed", attempts: 5 });
});

test("ordering `none` sends every event independently", async () => {
  const webhook = await addWebhook({ ordering: "none" });
  refuseBad();
  const bad = await receive("bad", BIA);
  await delivery(bad.event_id, webhook.id, ({ status }) => status === "retrying");
  const good = await receive("good", BIA);
  await delivery(good.event_id, webhook.id, ({ status }) => status === "delivered");
  await passRetries(2);
  expect(await delivery(bad.event_id, webhook.id)).toMatchObject({ status: "retrying", attempts: 3 });
});

describe("a filter", () => {
  const namesAt = (at: Receiver) => [...new Set(at.received.map((item) => item.body.event))].sort();

  test("accepts a group of names, all published names or an extra event by its name, and no other event", async () => {
    const [group, all, extra] = [story.receiver, await story.startReceiver(), await story.startReceiver()];
    await addWebhook({ events: ["message.*"] });
    await addWebhook({ url: all.url, events: ["*"] });
    await addWebhook({ url: extra.url, events: ["message.delivered"] });
    const { client, id } = story.shop;
    const { data } = await client.sandboxReceive({ id, from: BIA, text: "In" });
    await client.sandboxReact({ id, from: BIA, message_id: data.message_id, reaction: "👍" });
    await client.sendText({ id, number: BIA, text: "Out" });
    const ofMessages = ["message.reaction", "message.read", "message.received", "message.sent"];
    await waitUntil(() => namesAt(group).length === ofMessages.length);
    await extra.waitFor(() => true);
    await client.sandboxDrop({ id });
    const ofAll = ["instance.disconnected", ...ofMessages, "webhook.sent"];
    await waitUntil(() => ofAll.every((name) => namesAt(all).includes(name)));
    expect(namesAt(group)).toEqual(ofMessages);
    expect(namesAt(all)).not.toContain("message.delivered");
    expect(namesAt(extra)).toEqual(["message.delivered"]);
  });

  test("omits the events named in `exclude`", async () => {
    const { client, id } = story.shop;
    const noOwn = await story.startReceiver();
    const noGroups = await story.startReceiver();
    const all = story.receiver;
    await addWebhook({ events: ["message.sent", "message.received"] });
    await addWebhook({ url: noOwn.url, events: ["message.sent", "message.received"], exclude: ["from_me"] });
    await addWebhook({ url: noGroups.url, events: ["message.*"], exclude: ["groups"] });
    const noApi = await story.startReceiver();
    await addWebhook({ url: noApi.url, events: ["message.sent"], exclude: ["sent_by_api"] });

    await client.sendText({ id, number: BIA, text: "By the API" });
    await client.sandboxReceive({ id, from: BIA, from_me: true, text: "By the phone" });
    await client.sandboxReceive({ id, from: BIA, group_jid: "120363000000000001", text: "In the group" });
    await client.sandboxReceive({ id, from: BIA, text: "By Bia" });

    for (const text of ["By the API", "By the phone", "In the group", "By Bia"])
      await all.waitFor(textIs(text));
    await noOwn.waitFor(textIs("By Bia"));
    await noOwn.waitFor(textIs("In the group"));
    await noGroups.waitFor(textIs("By Bia"));
    await noApi.waitFor(textIs("By the phone"));
    expect(noOwn.received.map(textOf).sort()).toEqual(["By Bia", "In the group"]);
    expect(noGroups.of("message.received").map(textOf)).toEqual(["By Bia"]);
    expect(noApi.received.map(textOf)).toEqual(["By the phone"]);
  });

  test("applies to a manual retry as well", async () => {
    await addWebhook({ exclude: ["groups"] });
    const { client, id } = story.shop;
    await client.sandboxReceive({ id, from: BIA, group_jid: "120363000000000001", text: "Group" });
    await waitUntil(
      async () => (await client.listEvents({ id, event: "message.received" })).data.length === 1,
    );
    const { data } = await client.listEvents({ id, event: "message.received" });
    await expect(client.retryEvent({ id, eventId: data[0]?.event_id ?? "" })).rejects.toMatchObject({
      status: 409,
    });
  });
});

test("an instance with disabled webhooks records its events and delivers none", async () => {
  await addWebhook();
  const { id } = story.shop;
  await story.gateway.owner.updateInstance({ id, webhook_enabled: false });
  const { deliveries } = await receive("Quiet");
  expect(deliveries).toEqual([]);
  await story.gateway.owner.updateInstance({ id, webhook_enabled: true });
  await receive("Loud");
  await story.receiver.waitFor(textIs("Loud"));
  expect(story.receiver.received.filter(textIs("Quiet"))).toEqual([]);
});

const MINUTE = 60_000;
const db = () => story.gateway.database.db;

/** The number of deliveries per status. */
async function countByStatus(webhookId: number): Promise<Record<string, number>> {
  const { rows } = await sql<{ status: string; count: number }>`
    select status, count(*) from delivery where webhook_id = ${webhookId} group by status`.execute(db());
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
}

async function jobsOf(webhookId: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) from job where (ref ->> 'webhook')::bigint = ${webhookId}`.execute(db());
  return rows[0]?.count ?? 0;
}

/** Whether removals were checked once. Before that, advancing the clock has no effect. */
async function isUpkeepDone(): Promise<boolean> {
  const { rows } = await sql`select from job where grp = 'removed-webhooks' and run_at > now()`.execute(db());
  return rows.length > 0;
}

/** Advances the clock until then. A job that runs meanwhile is due again only a minute later. */
async function advanceUntil(isReached: () => boolean | Promise<boolean>): Promise<void> {
  await waitUntil(async () => {
    await story.gateway.advance(2 * MINUTE);
    return isReached();
  });
}

async function shown(webhookId: number) {
  const { data } = await story.shop.client.listWebhooks({ id: story.shop.id });
  return data.find(({ id }) => id === webhookId);
}

describe("a removed webhook", () => {
  const remove = (webhookId: number) => story.shop.client.deleteWebhook({ id: story.shop.id, webhookId });

  test("during its deliveries leaves none of them open, and the log has every request", async () => {
    const webhook = await addWebhook();
    story.receiver.respond(async (item, response) => {
      await new Promise((resolve) => setTimeout(resolve, 15));
      response.writeHead(item.body.sequence % 3 === 0 ? 500 : 200).end();
    });
    const people = Array.from({ length: 30 }, (_, n) => `55119777790${10 + n}`);
    const said = Promise.all(people.map((from, n) => receive(`Removed ${n}`, from)));
    await story.receiver.waitFor(({ body }) => body.event === "message.received", 6);
    await remove(webhook.id);
    await said;
    await waitUntil(async () => (await jobsOf(webhook.id)) === 0);
    // An attempt in progress at the removal is recorded when its response arrives.
    await waitUntil(async () => {
      const succeeded = (await logs({ success: "true" })).length;
      const { delivered } = await countByStatus(webhook.id);
      return (await logs()).length === story.receiver.received.length && delivered === succeeded;
    });
    expect(Object.keys(await countByStatus(webhook.id)).sort()).toEqual(["delivered", "discarded"]);
  });

  test("receives nothing from a transaction that queues events and still saw the webhook", async () => {
    const webhook = await addWebhook({ events: ["instance.connected"] });
    const draft = {
      event: "instance.connected",
      instance_id: story.shop.id,
      chat: "instance",
      data: {},
    } as const;
    const lanes = await db()
      .transaction()
      .execute(async (trx) => {
        const touched = await recordEvents(trx, [draft]);
        await remove(webhook.id);
        return touched;
      });
    story.gateway.gateway.engine.wake(lanes);
    await waitUntil(async () => (await countByStatus(webhook.id)).discarded === 1);
    await waitUntil(async () => (await jobsOf(webhook.id)) === 0);
    expect(story.receiver.received).toEqual([]);
  });

  test("is gone for all users, and its place is free", async () => {
    const webhook = await addWebhook();
    const { client, id } = story.shop;
    await remove(webhook.id);
    const missing = { code: "NOT_FOUND", status: 404 };
    await expect(remove(webhook.id)).rejects.toMatchObject(missing);
    await expect(client.updateWebhook({ id, webhookId: webhook.id })).rejects.toMatchObject(missing);
    await expect(client.testWebhook({ id, webhookId: webhook.id })).rejects.toMatchObject(missing);
    const since = new Date().toISOString();
    await expect(client.recoverWebhook({ id, webhookId: webhook.id, since })).rejects.toMatchObject(missing);
    for (let n = 0; n < 50; n++) await addWebhook();
    await expect(addWebhook()).rejects.toMatchObject({ code: "QUOTA_EXCEEDED" });
  });

  test("is deleted with its lane once no transaction can queue events for it", async () => {
    const webhook = await addWebhook();
    await remove(webhook.id);
    await story.gateway.advance(2 * MINUTE);
    await waitUntil(isUpkeepDone);
    await sql`update webhook set removed_at = removed_at - interval '2 hours' where id = ${webhook.id}`.execute(
      db(),
    );
    await advanceUntil(async () => {
      const { rows } = await sql`
        select id from webhook where id = ${webhook.id}
        union all select id from lane where kind = 'webhook' and key = ${String(webhook.id)}`.execute(db());
      return rows.length === 0;
    });
  });
});

describe("a disabled webhook", () => {
  test("receives no queued events; `recover` sends them in order after it is enabled", async () => {
    const webhook = await addWebhook();
    const { client, id } = story.shop;
    const since = new Date(Date.now() - MINUTE).toISOString();
    story.receiver.respond(500);
    const first = await receive("first", BIA);
    await delivery(first.event_id, webhook.id, ({ status }) => status === "retrying");
    const second = await receive("second", BIA);
    await client.updateWebhook({ id, webhookId: webhook.id, is_active: false });
    await story.gateway.advance(60_000);
    for (const { event_id } of [first, second]) {
      await delivery(event_id, webhook.id, ({ status }) => status === "discarded");
    }
    expect(story.receiver.received).toHaveLength(1);
    await expect(client.recoverWebhook({ id, webhookId: webhook.id, since })).rejects.toMatchObject({
      status: 409,
    });

    story.receiver.respond(200);
    await client.updateWebhook({ id, webhookId: webhook.id, is_active: true });
    const { data } = await client.recoverWebhook({ id, webhookId: webhook.id, since });
    expect(data).toEqual({ queued: 2 });
    await story.receiver.waitFor(textIs("second"));
    expect(story.receiver.received.map(({ body }) => body.data.message.text)).toEqual([
      "first",
      "first",
      "second",
    ]);
    expect(await delivery(first.event_id, webhook.id)).toMatchObject({ status: "delivered", attempts: 1 });
  });
});

describe("recover", () => {
  const recover = (webhookId: number, since: Date) =>
    story.shop.client.recoverWebhook({ id: story.shop.id, webhookId, since: since.toISOString() });

  test("sends again only what has failed since then, with a new schedule of attempts", async () => {
    const webhook = await addWebhook({ max_attempts: 1 });
    const good = await receive("Delivered", BIA);
    await delivery(good.event_id, webhook.id, ({ status }) => status === "delivered");
    story.receiver.respond(500);
    const old = await receive("Old", BIA);
    await delivery(old.event_id, webhook.id, ({ status }) => status === "failed");
    const failed = await receive("Failed", RUI);
    const since = new Date(failed.created_at);
    await delivery(failed.event_id, webhook.id, ({ status }) => status === "failed");
    story.receiver.respond(200);
    expect((await recover(webhook.id, since)).data).toEqual({ queued: 1 });
    expect(await delivery(failed.event_id, webhook.id, (one) => one.status === "delivered")).toMatchObject({
      attempts: 1,
    });
    expect((await recover(webhook.id, since)).data).toEqual({ queued: 0 });
    expect((await recover(webhook.id, new Date(0))).data).toEqual({ queued: 1 });
    await delivery(old.event_id, webhook.id, ({ status }) => status === "delivered");
    expect(story.receiver.received.filter(textIs("Delivered"))).toHaveLength(1);
  });

  test("sends several pages of events in the order of each chat", async () => {
    const webhook = await addWebhook();
    const { event_id } = await receive("Model", BIA);
    await delivery(event_id, webhook.id, ({ status }) => status === "delivered");
    const count = 250;
    await sql`
      with made as (
        insert into event (event_id, event, account_id, instance_id, sequence, chat, tags, body, created_at)
        select 'evt_bulk' || n, event, account_id, instance_id, sequence + n, 'chat ' || n % 50, tags,
          convert_to('{"event_id":"evt_bulk' || n || '","event":"message.received","sequence":' || (sequence + n) || '}', 'UTF8'),
          created_at
        from event, generate_series(1, ${sql.lit(count)}) n where event_id = ${event_id}
        returning event_id, account_id, instance_id, created_at
      )
      insert into delivery (event_id, webhook_id, account_id, instance_id, status, created_at)
      select event_id, ${webhook.id}, account_id, instance_id, 'failed', created_at from made`.execute(db());
    const failed = { id: story.shop.id, webhookId: webhook.id, since: new Date(0), atOnce: 100 };
    const { queued, lane } = await recoverDeliveries(db(), failed);
    expect(queued).toBe(count);
    story.gateway.gateway.engine.wake([lane ?? 0]);
    await waitUntil(() => story.receiver.received.length >= count + 1);
    for (let chat = 0; chat < 50; chat++) {
      const sequences = story.receiver.received
        .map(({ body }) => body.sequence)
        .filter((n) => n % 50 === chat);
      expect(sequences).toEqual([...sequences].sort((a, b) => a - b));
    }
  });
});

describe("a change during retries", () => {
  test("of the address makes the next attempt go there, at once if the breaker was open", async () => {
    story.receiver.respond(404);
    const webhook = await addWebhook();
    for (let n = 0; n < 5; n++) await receive(`Missing ${n}`, newPhone());
    await waitUntil(async () => (await logs()).length === 5);
    await receive("Waits", BIA);
    const mended = await story.startReceiver();
    mended.trust(webhook.secret);
    await story.shop.client.updateWebhook({ id: story.shop.id, webhookId: webhook.id, url: mended.url });
    await mended.waitFor(textIs("Waits"));
    await story.gateway.advance(42_000);
    await waitUntil(() => mended.received.length === 6);
    expect(mended.forged).toEqual([]);
    expect(await shown(webhook.id)).toMatchObject({ url: mended.url, last_status: 200 });
  });

  test("of the number of attempts applies from the next attempt", async () => {
    story.receiver.respond(500);
    const webhook = await addWebhook();
    const { event_id } = await receive("Fewer", BIA);
    await delivery(event_id, webhook.id, ({ status }) => status === "retrying");
    await story.shop.client.updateWebhook({ id: story.shop.id, webhookId: webhook.id, max_attempts: 2 });
    await story.gateway.advance(42_000);
    expect(await delivery(event_id, webhook.id, (one) => one.status === "failed")).toMatchObject({
      attempts: 2,
    });
  });
});

describe("a receiver without any successful response", () => {
  /** Backdates the first failure. */
  async function age(webhookId: number, hours: number, failed: number): Promise<void> {
    await sql`update webhook set failing_since = now() - ${hours} * interval '1 hour', failed_events = ${failed}
      where id = ${webhookId}`.execute(db());
  }

  async function failOnce() {
    const watcher = await story.startReceiver();
    await addWebhook({ url: watcher.url, events: ["webhook.failed"] });
    story.receiver.respond(500);
    const webhook = await addWebhook({ max_attempts: 1 });
    const { event_id } = await receive("Fails", BIA);
    await delivery(event_id, webhook.id, ({ status }) => status === "failed");
    const notices = () => watcher.received.filter(({ body }) => body.data.reason !== undefined);
    return { webhook, notices };
  }

  test("for a day causes one warning and is still retried", async () => {
    const { webhook, notices } = await failOnce();
    await age(webhook.id, 25, 1);
    await advanceUntil(() => notices().length === 1);
    expect(notices()[0]?.body).toMatchObject({
      event: "webhook.failed",
      data: { webhook_id: webhook.id, reason: "endpoint_failing", url: story.receiver.url, event_id: null },
    });
    await age(webhook.id, 30, 25);
    await story.gateway.advance(2 * MINUTE);
    const ok = await story.startReceiver();
    await addWebhook({ url: ok.url });
    await receive("Still tried", RUI);
    await ok.waitFor(textIs("Still tried"));
    await story.receiver.waitFor(textIs("Still tried"));
    expect(notices()).toHaveLength(1);
    expect(await shown(webhook.id)).toMatchObject({ is_active: true, disabled_reason: null });
  });

  test("for five days and twenty events disables its webhook; enabling it starts afresh", async () => {
    const { webhook, notices } = await failOnce();
    await age(webhook.id, 5 * 24 + 1, 20);
    await advanceUntil(() => notices().some(({ body }) => body.data.reason === "endpoint_disabled"));
    const reason = "No delivery has succeeded for 5 days.";
    expect(await shown(webhook.id)).toMatchObject({ is_active: false, disabled_reason: reason });
    const { data } = await story.shop.client.updateWebhook({
      id: story.shop.id,
      webhookId: webhook.id,
      is_active: true,
    });
    expect(data).toMatchObject({ is_active: true, disabled_reason: null });
    await story.gateway.advance(2 * MINUTE);
    await receive("Afresh", RUI);
    await story.receiver.waitFor(textIs("Afresh"));
    expect(await shown(webhook.id)).toMatchObject({ is_active: true });
  });

  test("for five days but only a few events keeps its webhook enabled", async () => {
    const { webhook, notices } = await failOnce();
    await age(webhook.id, 6 * 24, 19);
    await advanceUntil(() => notices().length === 1);
    expect(await shown(webhook.id)).toMatchObject({ is_active: true });
  });

  test("is reset by one success", async () => {
    const { webhook, notices } = await failOnce();
    story.receiver.respond(200);
    await sql`update webhook set failing_since = now() - interval '9 days', failed_events = 99
      where id = ${webhook.id}`.execute(db());
    const { event_id } = await receive("Good again", RUI);
    await delivery(event_id, webhook.id, ({ status }) => status === "delivered");
    await story.gateway.advance(2 * MINUTE);
    await receive("And on", RUI);
    await story.receiver.waitFor(textIs("And on"));
    expect(notices()).toEqual([]);
    expect(await shown(webhook.id)).toMatchObject({ is_active: true });
  });
});

describe("retention", () => {
  const LONG_AGO = sql`interval '40 days'`;

  /** Moves earlier events 40 days into the past, to partitions of that time. */
  async function age(tables: string[]): Promise<void> {
    await ensurePartitions(db(), new Date(Date.now() - 40 * 86_400_000));
    for (const table of tables) {
      await sql`update ${sql.table(table)} set created_at = created_at - ${LONG_AGO}
        where instance_id = ${story.shop.id}`.execute(db());
    }
    await sql`update attempt set event_at = event_at - ${LONG_AGO} where instance_id = ${story.shop.id}`.execute(
      db(),
    );
  }

  const partitions = async () => {
    const { rows } = await sql<{ name: string }>`
      select inhrelid::regclass::text as name from pg_inherits where inhparent = 'event'::regclass order by 1`.execute(
      db(),
    );
    return rows.map(({ name }) => name);
  };

  test("drops whole days of events, deliveries and logs; a replay starts with the oldest left", async () => {
    await addWebhook();
    const old = await receive("Old", BIA);
    await waitUntil(async () => (await logs()).length === 1);
    const before = await partitions();
    await age(["event", "delivery", "attempt"]);
    expect((await partitions()).length).toBeGreaterThan(before.length);
    const kept = await receive("Kept", RUI);
    await story.gateway.advance(61 * MINUTE);
    const { client, id } = story.shop;
    await waitUntil(async () => (await partitions()).length === before.length);
    const { data } = await client.listEvents({ id, after: 0 });
    expect(data.map(({ sequence }) => sequence)).toEqual([kept.sequence]);
    expect(kept.sequence).toBeGreaterThan(old.sequence);
    await waitUntil(async () => (await logs()).every((log) => log.event_id === kept.event_id));
    await expect(client.getEvent({ id, eventId: old.event_id })).rejects.toMatchObject({ status: 404 });
    await expect(client.retryEvent({ id, eventId: old.event_id })).rejects.toMatchObject({ status: 404 });
  });

  test("ends the pending deliveries of a dropped day; remaining logs cannot be sent again", async () => {
    await addWebhook();
    story.receiver.respond(500);
    const old = await receive("Old", BIA);
    await waitUntil(async () => (await logs()).length === 1);
    await age(["event", "delivery"]);
    await story.gateway.advance(61 * MINUTE);
    await waitUntil(async () => {
      const { rows } = await sql`select from job where ref ->> 'event_id' = ${old.event_id}`.execute(db());
      return rows.length === 0;
    });
    await waitUntil(async () => (await logs())[0]?.request_payload === null);
    const [log] = await logs();
    expect(log).toMatchObject({ event_id: old.event_id, request_payload: null, webhook_event_id: null });
    await expect(story.shop.client.retryDeliveryLog({ logId: log?.id ?? 0 })).rejects.toMatchObject({
      status: 404,
    });
    story.receiver.respond(200);
    await receive("Next", BIA);
    await story.receiver.waitFor(textIs("Next"));
  });
});
