import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { TestInstance } from "../../../test/gateway.ts";
import { type N8nServer, startN8n } from "../../../test/servers/n8n-server.ts";
import { bubble, startTypebot, type TypebotServer } from "../../../test/servers/typebot-server.ts";
import {
  type IntegrationStory,
  newPerson,
  startIntegrationStory,
  waitUntil,
} from "../../../test/stories/integration-story.ts";
import { createClient } from "../../client/client.ts";

let story: IntegrationStory;
let typebot: TypebotServer;
let n8n: N8nServer;

beforeAll(async () => {
  [story, typebot, n8n] = await Promise.all([startIntegrationStory(), startTypebot(), startN8n()]);
  typebot.publish("greeter", [bubble("a", "Hello!")]);
});

afterAll(async () => {
  await story.stop();
  await typebot.shut();
  await n8n.shut();
});

afterEach(async () => {
  const { id } = story.shop;
  for (const provider of ["typebot", "n8n"] as const)
    await shop()
      .deleteIntegration({ id, provider })
      .catch(() => {});
});

/** A new client for each use, because a restart changes the address. */
const clientOf = ({ api_key }: TestInstance) => createClient({ baseUrl: story.gateway.url, apiKey: api_key });
const shop = () => clientOf(story.shop);

async function greet(instance: TestInstance, config: Record<string, unknown> = {}) {
  await clientOf(instance).saveIntegration({
    id: instance.id,
    provider: "typebot",
    config: {
      base_url: typebot.url,
      public_id: "greeter",
      typing_presence: false,
      max_delay_ms: 0,
      ...config,
    },
  });
}

const pausedChats = async (instance: TestInstance, provider: "typebot" | "n8n" = "typebot") =>
  (await clientOf(instance).getIntegration({ id: instance.id, provider })).data.paused_chats;

const seconds = (until: string | Date) => (new Date(until).getTime() - Date.now()) / 1000;

/** Ends the pauses of all chats. */
const passPause = () =>
  sql`update integration_chat set replies_paused_until = now() - interval '1 second'
    where replies_paused_until is not null`.execute(story.gateway.database.db);

async function write(from: string, times: number) {
  for (let i = 0; i < times; i += 1) await story.receive(from, `word ${i}`);
}

describe("automatic replies in one chat", () => {
  test("continue for a person who writes ten times in a row", async () => {
    await greet(story.shop);
    const ana = newPerson();
    await write(ana, 10);
    expect(await story.receivedBy(ana, 10)).toHaveLength(10);
    expect((await pausedChats(story.shop)).filter(({ chat }) => chat.startsWith(ana))).toEqual([]);
  });

  test("pause for twice as long each time and then continue", async () => {
    await greet(story.shop, { max_replies_per_minute: 2 });
    const bia = newPerson();
    for (const [round, wanted] of [60, 120, 240].entries()) {
      await write(bia, 2);
      await story.receivedBy(bia, 2 * (round + 1));
      await waitUntil(async () => (await pausedChats(story.shop)).length > 0);
      const [paused] = await pausedChats(story.shop);
      expect(paused?.pauses).toBe(round + 1);
      expect(Math.abs(seconds(paused?.paused_until ?? "") - wanted)).toBeLessThan(30);
      await story.receive(bia, "unanswered");
      await story.waitUntilIdle();
      expect(await story.receivedSoFar(bia)).toHaveLength(2 * (round + 1));
      await passPause();
    }
  });

  test("are not counted if the protection is off, and saving the integration ends a pause", async () => {
    await greet(story.shop, { max_replies_per_minute: 1 });
    const caio = newPerson();
    await write(caio, 1);
    await waitUntil(async () => (await pausedChats(story.shop)).length > 0);
    await greet(story.shop, { max_replies_per_minute: 1, loop_protection: false });
    expect(await pausedChats(story.shop)).toEqual([]);
    await write(caio, 3);
    expect(await story.receivedBy(caio, 4)).toHaveLength(4);
  });

  test("from a workflow pause too, while the workflow still receives every event", async () => {
    n8n.activate("answer", { respond: "responseNode", output: [{ output: "Yes" }] });
    await shop().saveIntegration({
      id: story.shop.id,
      provider: "n8n",
      enabled: true,
      config: { webhook_url: `${n8n.url}/webhook/answer`, reply_mode: "response", max_replies_per_minute: 2 },
    });
    const dora = newPerson();
    await write(dora, 2);
    await story.receivedBy(dora, 2);
    await write(dora, 2);
    await waitUntil(() => n8n.executions.length === 4);
    await story.waitUntilIdle();
    expect(await story.receivedSoFar(dora)).toHaveLength(2);
    expect(await pausedChats(story.shop, "n8n")).toMatchObject([{ pauses: 1 }]);
  });

  test("between two bots stop in a few rounds, are reported and stay paused after a restart", async () => {
    const other = await story.gateway.connectInstance({ name: "Other" });
    const { data: hook } = await shop().createWebhook({
      id: story.shop.id,
      name: "Paused",
      url: "http://127.0.0.1:9/",
      events: ["integration.paused"],
    });
    await greet(story.shop);
    await greet(other);
    await clientOf(other).sendText({ id: other.id, number: story.shop.phone, text: "Hi" });
    await waitUntil(
      async () => (await pausedChats(story.shop)).length + (await pausedChats(other)).length > 0,
    );
    await story.waitUntilIdle();
    const rounds = (await story.receivedSoFar(other.phone)).length;
    expect(rounds).toBeLessThanOrEqual(16);
    await write(other.phone, 20);
    await waitUntil(async () => (await pausedChats(story.shop)).length === 1);
    const { data: events } = await shop().listEvents({ id: story.shop.id, event: "integration.paused" });
    const { data: event } = await shop().getEvent({ id: story.shop.id, eventId: events[0]?.event_id ?? "" });
    expect((event.payload as { data: unknown }).data).toMatchObject({
      provider: "typebot",
      phone: other.phone,
      reason: "reply_limit",
      limit: 15,
      pauses: 1,
    });
    await shop().deleteWebhook({ id: story.shop.id, webhookId: hook.id });

    await story.gateway.restart();
    expect(await pausedChats(story.shop)).toHaveLength(1);
    await story.waitUntilIdle();
    const heard = (await story.receivedSoFar(other.phone)).length;
    await clientOf(other).sendText({ id: other.id, number: story.shop.phone, text: "Still there?" });
    await story.waitUntilIdle();
    expect(await story.receivedSoFar(other.phone)).toHaveLength(heard);
  });
});
