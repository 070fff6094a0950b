import { sql } from "kysely";
import { Webhook } from "standardwebhooks";
import { describe, expect, test } from "vitest";
import { createGate } from "../../../test/gate.ts";
import { waitUntil } from "../../../test/gateway.ts";
import { createHttpRequester } from "../../../test/http-requester.ts";
import { isSigned, type Received } from "../../../test/servers/receiver.ts";
import { setUpWebhookStory, textIs } from "../../../test/stories/webhook-story.ts";
import { signBody } from "./delivery/webhook-signature.ts";

const story = setUpWebhookStory();
const { addWebhook, receive, logs } = story;

/** Verifies with this secret only, using the standard's library. */
function verifies({ raw, headers }: Received, secret: string): boolean {
  try {
    new Webhook(secret).verify(raw.toString("utf8"), headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}

const PATH = "/services/T0AB12CD3/xYzToken9?key=QuerySecret1&flag";

const rotate = (webhookId: number, change: { secret?: string; overlap_seconds?: number } = {}) =>
  story.shop.client.updateWebhook({ id: story.shop.id, webhookId, rotate_secret: true, ...change });

describe("a rotation of the secret", () => {
  test("during deliveries leaves each of them verifiable with the old or the new secret", async () => {
    const webhook = await addWebhook();
    const rotated = createGate();
    story.receiver.respond(async (_, response) => {
      if (story.receiver.received.length > 5) await rotated.opened;
      response.writeHead(200).end();
    });
    const people = Array.from({ length: 40 }, (_, n) => `55119777750${10 + n}`);
    const said = Promise.all(people.map((from, n) => receive(`Rotating ${n}`, from)));
    await story.receiver.waitFor(({ body }) => body.event === "message.received", 5);
    const { data } = await rotate(webhook.id);
    rotated.open();
    await said;
    await waitUntil(() => new Set(story.receiver.received.map(({ body }) => body.event_id)).size === 40);
    expect(data.secret).toMatch(/^whsec_.{40,}$/);
    expect(data.secret).not.toBe(webhook.secret);
    const { received } = story.receiver;
    expect(received.every((item) => verifies(item, webhook.secret))).toBe(true);
    const after = received.filter((item) => item.headers["x-waygate-signature-previous"] !== undefined);
    expect(after.length).toBeGreaterThan(0);
    for (const item of received) {
      const isAfter = after.includes(item);
      expect(verifies(item, data.secret)).toBe(isAfter);
      const signer = isAfter ? data.secret : webhook.secret;
      expect(item.headers["x-waygate-signature"]).toBe(signBody(signer, item.raw));
    }
    for (const item of after) {
      expect(item.headers["x-waygate-signature-previous"]).toBe(signBody(webhook.secret, item.raw));
      expect(String(item.headers["webhook-signature"]).split(" ")).toHaveLength(2);
    }
  });

  test("ends with the overlap: after it only the new secret signs", async () => {
    const webhook = await addWebhook();
    const { data } = await rotate(webhook.id, { overlap_seconds: 3600 });
    await sql`update webhook set previous_until = previous_until - interval '1 hour'`.execute(
      story.gateway.database.db,
    );
    await receive("Later");
    const [item] = await story.receiver.waitFor(textIs("Later"));
    expect(item && isSigned(item, data.secret)).toBe(true);
    expect(item && verifies(item, webhook.secret)).toBe(false);
    expect(item?.headers).not.toHaveProperty("x-waygate-signature-previous");
    expect(String(item?.headers["webhook-signature"]).split(" ")).toHaveLength(1);
  });

  test("without an overlap takes effect at once", async () => {
    const webhook = await addWebhook();
    await rotate(webhook.id, { overlap_seconds: 0 });
    await receive("At once");
    const [item] = await story.receiver.waitFor(textIs("At once"));
    expect(item && verifies(item, webhook.secret)).toBe(false);
  });

  test("to a secret chosen by the user works for any form of the secret", async () => {
    const webhook = await addWebhook();
    const { data } = await rotate(webhook.id, { secret: "not-in-the-usual-form-1" });
    expect(data.secret).toBe("not-in-the-usual-form-1");
    await receive("Own");
    const [item] = await story.receiver.waitFor(textIs("Own"));
    expect(item && isSigned(item, "not-in-the-usual-form-1")).toBe(true);
    expect(item && verifies(item, webhook.secret)).toBe(true);
  });

  test("to the same secret changes nothing", async () => {
    const webhook = await addWebhook();
    await story.shop.client.updateWebhook({
      id: story.shop.id,
      webhookId: webhook.id,
      secret: webhook.secret,
    });
    await receive("Same");
    const [item] = await story.receiver.waitFor(textIs("Same"));
    expect(item?.headers).not.toHaveProperty("x-waygate-signature-previous");
  });
});

describe("a secret value", () => {
  test("is sealed in the database and masked in responses", async () => {
    const webhook = await addWebhook({ headers: { Authorization: "Bearer very-secret-value" } });
    expect(webhook.headers).toEqual({ Authorization: "****" });
    const { rows } = await sql<{ text: string }>`
      select encode(secret, 'escape') || encode(headers, 'escape') as text from webhook where id = ${webhook.id}`.execute(
      story.gateway.database.db,
    );
    expect(rows[0]?.text).not.toContain("very-secret");
    expect(rows[0]?.text).not.toContain(webhook.secret.slice(6, 30));
    const { data } = await story.shop.client.listWebhooks({ id: story.shop.id });
    expect(data[0]?.headers).toEqual({ Authorization: "****" });
    expect(data[0]?.secret).toBe(`whsec_****${webhook.secret.slice(-4)}`);
  });

  test("is unchanged if it is sent back masked", async () => {
    const webhook = await addWebhook({
      headers: { Authorization: "Bearer very-secret-value", "X-Old": "old" },
    });
    const { data } = await story.shop.client.listWebhooks({ id: story.shop.id });
    const { secret = "", name = "" } = data[0] ?? {};
    const { data: changed } = await story.shop.client.updateWebhook({
      id: story.shop.id,
      webhookId: webhook.id,
      name: `${name} 2`,
      secret,
      headers: { Authorization: "****", "X-New": "new" },
    });
    expect(changed).toMatchObject({
      name: "Mine 2",
      secret,
      headers: { Authorization: "****", "X-New": "****" },
    });
    await receive("Unchanged");
    const [item] = await story.receiver.waitFor(textIs("Unchanged"));
    expect(item?.headers).toMatchObject({ authorization: "Bearer very-secret-value", "x-new": "new" });
    expect(item?.headers).not.toHaveProperty("x-old");
    expect(item?.headers).not.toHaveProperty("x-waygate-signature-previous");
    expect(story.receiver.forged).toEqual([]);
  });

  test("is bound to its origin: another address requires new headers and gets none of the old", async () => {
    const elsewhere = await story.startReceiver();
    const webhook = await addWebhook({
      headers: { Authorization: "Bearer very-secret-value", "X-Plain": "old" },
    });
    const change = (input: Record<string, unknown>) =>
      story.shop.client.updateWebhook({ id: story.shop.id, webhookId: webhook.id, ...input });
    const refusals = [
      { input: {}, field: "headers" },
      { input: { headers: { Authorization: "****" } }, field: "headers.Authorization" },
      { input: { headers: { "X-Plain": "new", Authorization: "****" } }, field: "headers.Authorization" },
    ];
    for (const { input, field } of refusals) {
      const issue = expect.stringContaining("must be sent again when the address changes");
      await expect(change({ url: elsewhere.url, ...input })).rejects.toMatchObject({
        code: "VALIDATION_ERROR",
        details: { fields: [{ field, issue }] },
      });
    }
    const { data: test } = await story.shop.client.testWebhook({ id: story.shop.id, webhookId: webhook.id });
    expect(test.success).toBe(true);
    expect(elsewhere.received).toEqual([]);
    await change({ url: elsewhere.url, headers: { Authorization: "Bearer theirs" } });
    await receive("Moved");
    const [item] = await elsewhere.waitFor(textIs("Moved"));
    expect(item?.headers.authorization).toBe("Bearer theirs");
    expect(JSON.stringify(elsewhere.received)).not.toContain("very-secret-value");
    await change({ url: story.receiver.url, headers: {} });
    await receive("Bare");
    const [bare] = await story.receiver.waitFor(textIs("Bare"));
    expect(bare?.headers).not.toHaveProperty("authorization");
  });

  test("is retained if only the path of the address changes", async () => {
    const webhook = await addWebhook({ headers: { Authorization: "Bearer very-secret-value" } });
    const url = new URL("/other", story.receiver.url).href;
    await story.shop.client.updateWebhook({ id: story.shop.id, webhookId: webhook.id, url });
    await receive("Other path");
    const [item] = await story.receiver.waitFor(textIs("Other path"));
    expect(item?.headers.authorization).toBe("Bearer very-secret-value");
  });

  test("is not stored if a receiver echoes it", async () => {
    const webhook = await addWebhook({ headers: { Authorization: "Bearer very-secret-value" } });
    story.receiver.respond((item, response) => {
      response.writeHead(200).end(`${JSON.stringify(item.headers)} ${webhook.secret} fim: ação`);
    });
    await receive("Echo");
    await waitUntil(async () => (await logs()).length === 1);
    const body = (await logs())[0]?.response_body ?? "";
    expect(body).toContain("x-waygate-event-id");
    expect(body).toMatch(/\*{4} fim: ação$/);
    expect(body).not.toContain("very-secret-value");
    expect(body).not.toContain(webhook.secret);
  });

  test("in the address is masked in the log: the password, the path and the query values", async () => {
    const url = new URL(PATH, story.receiver.url);
    url.username = "user";
    url.password = "pass-word";
    await addWebhook({ url: url.href });
    await receive("Masked");
    const [item] = await story.receiver.waitFor(textIs("Masked"));
    expect(item?.path).toBe(PATH);
    expect(item?.headers.authorization).toBe(`Basic ${Buffer.from("user:pass-word").toString("base64")}`);
    await waitUntil(async () => (await logs()).length === 1);
    expect((await logs())[0]?.url).toBe(`http://***@${url.host}/services/***/***?key=***&***`);
    const { id, client } = story.shop;
    expect((await client.listWebhooks({ id })).data[0]?.url).toBe(url.href);
    const { rows } = await sql<{ row: string }>`
      select to_jsonb(w)::text as row from webhook w union all select to_jsonb(a)::text from attempt a`.execute(
      story.gateway.database.db,
    );
    expect(rows.map(({ row }) => row).join()).not.toMatch(/T0AB12CD3|xYzToken9|QuerySecret1|pass-word/);
  });
});

test("custom headers never contain a value with NUL or a name such as __proto__", async () => {
  const request = createHttpRequester(() => story.gateway.url);
  const headers = JSON.parse('{"__proto__":"1","constructor":"2","X-A":"1\\u00002"}');
  const body = { url: story.receiver.url, events: ["message.received"], headers };
  const key = { "x-api-key": story.shop.api_key };
  await request(`POST /api/v1/instances/${story.shop.id}/webhooks`, body, key);
  await receive("Odd");
  const [item] = await story.receiver.waitFor(textIs("Odd"));
  expect(item?.headers).toMatchObject({ constructor: "2", "x-a": "12" });
  expect(Object.keys(item?.headers ?? {})).not.toContain("__proto__");
});
