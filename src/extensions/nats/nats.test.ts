import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { waitUntil } from "../../../test/gateway.ts";
import { createHttpRequester } from "../../../test/http-requester.ts";
import { setUpWebhookStory } from "../../../test/stories/webhook-story.ts";

// Nothing listens there.
const ADDRESS = "nats://shop:a-long-password@127.0.0.1:9/shop";
const MASKED = "nats://shop:****@127.0.0.1:9/shop";

const story = setUpWebhookStory();
const { addWebhook } = story;
const request = createHttpRequester(() => story.gateway.url);

const hooks = () => `/api/v1/instances/${story.shop.id}/webhooks`;
const key = () => ({ "x-api-key": story.shop.api_key });

/** The field errors of a rejected webhook. */
async function refusal(body: object, at = `POST ${hooks()}`): Promise<unknown> {
  const response = await request(at, body, key());
  expect(response.status).toBe(400);
  return response.body.details.fields[0];
}

describe("a webhook to a broker", () => {
  test("shows its password nowhere, and seals it", async () => {
    const webhook = await addWebhook({ url: ADDRESS });
    expect(webhook.url).toBe(MASKED);
    await story.receive("Hello");
    await waitUntil(async () => (await story.logs()).length > 0);
    const [attempt] = await story.logs();
    expect(attempt).toMatchObject({ success: false, status_code: null, error_class: "refused" });
    const { data } = await story.shop.client.listWebhooks({ id: story.shop.id });
    const { rows } = await sql<{ text: string }>`
      select w::text || coalesce(string_agg(a::text, ''), '') as text from webhook w
      left join attempt a on a.webhook_id = w.id where w.id = ${webhook.id} group by w.*`.execute(
      story.gateway.database.db,
    );
    for (const text of [JSON.stringify([attempt, data]), rows[0]?.text])
      expect(text).not.toContain("a-long-password");
  });

  test("keeps its password when the masked address comes back, with another subject too", async () => {
    const webhook = await addWebhook({ url: ADDRESS });
    const change = (url: string) =>
      story.shop.client.updateWebhook({ id: story.shop.id, webhookId: webhook.id, url });
    expect((await change(MASKED)).data.url).toBe(MASKED);
    const moved = MASKED.replace(/shop$/, "other");
    expect((await change(moved)).data.url).toBe(moved);
  });

  test.each([
    ["another host", MASKED.replace("127.0.0.1", "127.0.0.2")],
    ["another port", MASKED.replace(":9/", ":10/")],
    ["another user", MASKED.replace("shop:", "north:")],
    ["another scheme", MASKED.replace("nats:", "tls:")],
  ])("needs the password itself for %s", async (_, url) => {
    const { id } = await addWebhook({ url: ADDRESS });
    expect(await refusal({ url }, `PATCH ${hooks()}/${id}`)).toMatchObject({
      field: "url",
      issue: expect.stringMatching(/^has a masked password/),
    });
  });

  test("is not made with a masked password", async () => {
    expect(await refusal({ url: MASKED })).toMatchObject({ field: "url" });
  });

  test.each([
    ["nats://shop@127.0.0.1:9/", "has a user without a password"],
    [
      "tls://127.0.0.1:9/a.*",
      "has a subject that is not words of letters, digits, _ and - with dots between them",
    ],
    ["amqp://127.0.0.1:9/", "has no exchange; end it with ?exchange=name"],
    ["amqps://127.0.0.1:9/?exchange=a#b", "has a fragment (#), which has no meaning here"],
    [
      "amqp://127.0.0.1:9/?exchange=a&queue=b",
      "has an unknown query parameter; it can have exchange and routing_key",
    ],
    ["kafka://127.0.0.1:9/", "must be an address that begins with https, http, nats, tls, amqp or amqps"],
  ])("is refused with the address %s", async (url, issue) => {
    expect(await refusal({ url })).toMatchObject({ field: "url", issue });
  });

  test("is refused with an address that the policy for outgoing requests blocks", async () => {
    expect(await refusal({ url: "nats://169.254.169.254/shop" })).toMatchObject({
      field: "url",
      issue: expect.stringMatching(/policy for outgoing requests/),
    });
  });

  test("is refused with a header that the broker itself reads, also later", async () => {
    const field = "headers.Nats-Rollup";
    const headers = { "Nats-Rollup": "all" };
    expect(await refusal({ url: ADDRESS, headers })).toMatchObject({ field });
    const { id } = await addWebhook({ url: ADDRESS });
    expect(await refusal({ headers }, `PATCH ${hooks()}/${id}`)).toMatchObject({ field });
  });

  test("needs its own headers again when it moves to another host", async () => {
    const { id } = await addWebhook({ url: ADDRESS, headers: { "X-Key": "a-long-value" } });
    const url = "nats://shop:a-long-password@127.0.0.2:9/shop";
    expect(await refusal({ url }, `PATCH ${hooks()}/${id}`)).toMatchObject({ field: "headers" });
  });
});

test("a gateway without the extension takes no address of the broker, and fails deliveries to a saved one", async () => {
  const { id } = await addWebhook({ url: ADDRESS });
  await story.gateway.restart({ WAYGATE_EXTENSIONS: "all,-nats" });
  try {
    expect(await refusal({ url: ADDRESS })).toMatchObject({ field: "url" });
    const { status } = await request(`POST ${hooks()}/${id}/test`, {}, key());
    expect(status).toBe(502);
    const { body } = await request(`GET /api/v1/instances/${story.shop.id}/webhook-logs`, undefined, key());
    expect(body.data[0]).toMatchObject({ success: false, status_code: null, error_class: "invalid_url" });
  } finally {
    await story.gateway.restart();
  }
});
