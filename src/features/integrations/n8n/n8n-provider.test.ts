import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { runInNewContext } from "node:vm";
import { beforeAll, describe, expect, test } from "vitest";
import { inBase64, SAMPLE } from "../../../../test/sample-files.ts";
import { file, startFileServer } from "../../../../test/servers/file-server.ts";
import type { Execution, N8nServer } from "../../../../test/servers/n8n-server.ts";
import { type IntegrationStory, newPerson, waitUntil } from "../../../../test/stories/integration-story.ts";
import { setUpN8nStory } from "../../../../test/stories/n8n-story.ts";

const BEARER = { name: "Authorization", value: "Bearer a-token" };

const fixture = setUpN8nStory();
const { read, status, executed, inputs, save, test: tryOut } = fixture;
let story: IntegrationStory;
let n8n: N8nServer;
let rotatedSecret: string | undefined;

beforeAll(() => {
  ({ story, n8n } = fixture);
});

test("a workflow receives messages signed, with its token and with flat fields in the event", async () => {
  n8n.activate("in", { auth: BEARER });
  await save("in");
  const ana = newPerson();
  const message_id = await story.receive(ana, "Olá, você", { push_name: "Ana" });
  await executed(1);
  const [execution] = n8n.executions;
  const { id } = story.shop;
  expect(execution?.body).toMatchObject({
    event: "message.received",
    chatInput: "Olá, você",
    number: ana,
    pushName: "Ana",
    messageId: message_id,
    remoteJid: `${ana}@s.whatsapp.net`,
    sessionId: `${id}:${ana}@s.whatsapp.net`,
    messageType: "text",
    fromMe: false,
    isGroup: false,
    origin: "contact",
    instanceId: id,
    quotedMessageId: null,
  });
  expect(execution?.body.data.message.text).toBe("Olá, você");
  const signature = createHmac("sha256", story.shop.webhook_secret)
    .update(execution?.raw ?? "")
    .digest("hex");
  expect(execution?.headers["x-waygate-signature"]).toBe(`sha256=${signature}`);
  expect(execution?.headers["x-waygate-event-id"]).toBe(execution?.body.event_id);
  expect(execution?.raw.toString()).not.toContain(story.shop.api_key);
  await waitUntil(async () => (await read()).waiting === 0);
  expect(await status("ok")).toMatchObject({ last_error: null, has_token: true });
});

test("files arrive as links that need no API key", async () => {
  n8n.activate("in");
  await save("in");
  await story.receive(newPerson(), "", {
    media: { base64: inBase64(SAMPLE.png), mime_type: "image/png", caption: "Look" },
  });
  await executed(1);
  const { chatInput, mediaUrl, mimetype } = n8n.executions[0]?.body ?? {};
  expect({ chatInput, mimetype }).toEqual({ chatInput: "Look", mimetype: "image/png" });
  const response = await fetch(`${story.gateway.url}${new URL(mediaUrl).pathname}`);
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "image/png"]);
});

test("files arrive in the event itself if configured, unless they are large or excluded", async () => {
  n8n.activate("in");
  await save("in", { media: "base64" });
  const files = await startFileServer();
  const say = (caption: string, bytes: Buffer) => {
    const url = files.serve(`/${caption}.txt`, file(bytes, "text/plain"));
    return story.receive(newPerson(), "", { media: { url, mime_type: "text/plain", caption } });
  };
  const small = Buffer.from("name;amount\n");
  await say("small", small);
  await say("large", Buffer.alloc(5 * 1024 * 1024 + 1, "x"));
  await executed(2);
  const told = Object.fromEntries(n8n.executions.map(({ body }) => [body.chatInput, body]));
  expect(Buffer.from(told.small.mediaBase64, "base64")).toEqual(small);
  expect(told.large).toMatchObject({ mimetype: "text/plain", mediaUrl: expect.any(String) });
  expect(told.large).not.toHaveProperty("mediaBase64");
  await save("in", { media: "none" });
  await say("none", small);
  await executed(3);
  await files.close();
  expect(n8n.executions[2]?.body).not.toHaveProperty("mediaUrl");
});

test.each([
  ["bearer", { token: "t-1" }, "authorization", "Bearer t-1"],
  ["header", { token: "t-1", auth: "header", header_name: "X-Key" }, "x-key", "t-1"],
  ["basic", { token: "ana:pass", auth: "basic" }, "authorization", "Basic YW5hOnBhc3M="],
  ["jwt", { token: "a.b.c", auth: "jwt" }, "authorization", "Bearer a.b.c"],
  ["none", { token: "t-1", auth: "none" }, "authorization", undefined],
])("the gateway authenticates by: %s", async (kind, config, header, value) => {
  n8n.activate(kind);
  await save(kind, config);
  expect(await tryOut()).toMatchObject({ success: true });
  const execution = n8n.executions.find(({ path }) => path.endsWith(kind));
  expect(execution?.headers[header]).toBe(value);
});

test("a workflow receives groups and own messages only if they are included", async () => {
  n8n.activate("in");
  await save("in", { include_groups: false });
  const ana = newPerson();
  await story.receive(ana, "in a group", { group_jid: "120363000000000001@g.us" });
  await story.receive(ana, "from me", { from_me: true });
  await story.receive(ana, "to me");
  await executed(1);
  await story.waitUntilIdle();
  expect(inputs()).toEqual(["to me"]);
  await save("in", { include_from_me: true });
  await story.receive(ana, "from me again", { from_me: true });
  await executed(2);
  expect(n8n.executions[1]?.body).toMatchObject({ fromMe: true, origin: "phone", event: "message.sent" });
});

test("a workflow's reply is sent to the chat once, and n8n's own messages are not", async () => {
  n8n.activate("in", { respond: "responseNode", output: [{ output: "one" }, { text: "two" }] });
  await save("in", { reply_mode: "response" });
  const [ana, bia] = [newPerson(), newPerson()];
  await story.receive(ana, "hi");
  expect(await story.receivedBy(ana, 2)).toEqual(["one", "two"]);
  n8n.activate("in");
  await story.receive(bia, "hi");
  await executed(2);
  await story.waitUntilIdle();
  expect(await story.receivedSoFar(bia)).toEqual([]);
  const { data } = await story.shop.client.listMessages({ id: story.shop.id, limit: 20 });
  const responses = data.filter(({ jid, from_me }) => from_me && jid.startsWith(ana));
  expect(responses.map(({ origin }) => origin)).toEqual(["chatbot", "chatbot"]);
});

test("ten minutes without n8n lose and repeat no event, and each chat keeps its order", async () => {
  n8n.activate("in");
  await save("in");
  await n8n.shut();
  const [ana, bia] = [newPerson(), newPerson()];
  for (const text of ["1", "2", "3"]) {
    await story.receive(ana, `a${text}`);
    await story.receive(bia, `b${text}`);
  }
  const trouble = await status("failing");
  expect(trouble).toMatchObject({
    last_error: expect.stringMatching(/refused/),
    last_error_code: "refused",
  });
  const { last_error_at } = await read();
  await story.gateway.advance(600_000);
  await waitUntil(async () => (await read()).last_error_at !== last_error_at);
  // During a restart the proxy responds first.
  n8n.trouble({ status: 503 }, 4);
  await n8n.open();
  await waitUntil(async () => {
    await story.gateway.advance(600_000);
    return (await read()).waiting === 0;
  });
  await story.waitUntilIdle();
  expect(inputs()).toHaveLength(6);
  expect(inputs().filter((text) => text.startsWith("a"))).toEqual(["a1", "a2", "a3"]);
  expect(inputs().filter((text) => text.startsWith("b"))).toEqual(["b1", "b2", "b3"]);
  expect((await read()).status).toBe("ok");
});

test("an event that always fails does not block its chat", async () => {
  n8n.activate("in");
  await save("in");
  n8n.trouble({ status: 500 }, 100, (body) => body.chatInput === "poison");
  const ana = newPerson();
  await story.receive(ana, "poison");
  await story.receive(ana, "after it");
  for (let round = 0; round < 3; round++) {
    const { last_error_at } = await read();
    await story.gateway.advance(60_000);
    await waitUntil(async () => (await read()).last_error_at !== last_error_at || n8n.executions.length > 0);
  }
  await executed(1);
  expect(inputs()).toEqual(["after it"]);
});

test("an event whose response was lost is retried under the same event id", async () => {
  n8n.activate("in");
  await save("in");
  // A call of the integration that was just deleted may still arrive.
  n8n.trouble("lose_answer", 1, (body) => body.chatInput === "hi");
  const attempts = () =>
    n8n.executions.filter(({ body }) => body.chatInput === "hi").map(({ headers }) => headers);
  await story.receive(newPerson(), "hi");
  await waitUntil(() => attempts().length === 1);
  await status("failing");
  await story.gateway.advance(60_000);
  await waitUntil(() => attempts().length === 2);
  expect(new Set(attempts().map((headers) => headers["x-waygate-event-id"])).size).toBe(1);
  expect(attempts().map((headers) => headers["x-waygate-attempt"])).toEqual(["1", "2"]);
});

test("the integration test explains what is wrong", async () => {
  const { data: saved } = await save("nowhere");
  expect(saved.warnings).toEqual([]);
  expect(await tryOut()).toMatchObject({
    success: false,
    status_code: 404,
    message: expect.stringMatching(/not active/),
  });
  n8n.activate("in", { method: "GET" });
  await save("in");
  expect((await tryOut()).message).toMatch(/HTTP Method to POST/);
  n8n.activate("in", { auth: BEARER });
  expect(await tryOut()).toMatchObject({ success: true, status_code: 200 });
  expect(n8n.executions[0]?.body).toMatchObject({ event: "integration.test", data: { test: true } });
  n8n.listenOnce("in");
  const warned = await story.shop.client.saveIntegration({
    id: story.shop.id,
    provider: "n8n",
    webhookUrl: `${n8n.url}/webhook-test/in`,
  });
  expect(warned.data.warnings.join()).toMatch(/test address.*Without a token/);
  expect((await tryOut()).success).toBe(true);
  expect((await tryOut()).message).toMatch(/production URL/);
  n8n.activate("in", { respond: "fail" });
  await save("in");
  expect((await tryOut()).message).toMatch(/workflow or its response has failed/);
  await n8n.shut();
  expect((await tryOut()).message).toMatch(/refused/);
  await n8n.open();
});

describe.each(["verify-and-answer", "answer"])("the ready-made workflow %s.json", (name) => {
  const text = readFileSync(new URL(`../../../../docs/guides/n8n/${name}.json`, import.meta.url), "utf8");

  test("uses only fields and headers that the gateway sends", async () => {
    n8n.activate("in");
    await save("in");
    await rotateSecret();
    await story.receive(newPerson(), "hi");
    await executed(1);
    const [execution] = n8n.executions;
    const fields = [...text.matchAll(/body\.(\w+)/g)].map(([, field]) => field ?? "");
    expect(fields.length).toBeGreaterThan(0);
    for (const field of fields) expect(execution?.body).toHaveProperty(field);
    for (const [, header] of text.matchAll(/headers\['([\w-]+)'\]/g))
      expect(execution?.headers).toHaveProperty(header ?? "");
    expect(JSON.parse(text)).toMatchObject({
      active: false,
      nodes: expect.arrayContaining([expect.objectContaining({ name: "Webhook" })]),
    });
  });

  test("accepts the current and the previous secret and no other", async () => {
    n8n.activate("in");
    await save("in");
    const { before, after } = await rotateSecret();
    await story.receive(newPerson(), "hi");
    await executed(1);
    const [execution] = n8n.executions;
    const takes = (secret: string) => isGenuine(text, execution, secret);
    expect([takes(before), takes(after), takes("another")]).toEqual([true, true, false]);
    const { "x-waygate-signature-previous": _, ...headers } = execution?.headers ?? {};
    const later = execution && { ...execution, headers };
    expect([isGenuine(text, later, before), isGenuine(text, later, after)]).toEqual([false, true]);
  });
});

async function rotateSecret() {
  const { id, client, webhook_secret } = story.shop;
  await client.updateDefaultWebhook({ id, url: "http://127.0.0.1:1/nobody" });
  const { data } = await client.updateDefaultWebhook({ id, rotate_secret: true });
  const before = rotatedSecret ?? webhook_secret;
  rotatedSecret = data.secret;
  return { before, after: rotatedSecret };
}

interface Condition {
  leftValue: string;
  rightValue: string;
}

/** The result of the workflow's nodes Verify and Is genuine with this secret. */
function isGenuine(workflow: string, execution: Execution | undefined, secret: string): boolean {
  const calc = createHmac("sha256", secret)
    .update(execution?.raw ?? "")
    .digest("hex");
  const { nodes } = JSON.parse(workflow) as {
    nodes: { name: string; parameters: { conditions: { combinator: string; conditions: Condition[] } } }[];
  };
  const node = nodes.find(({ name }) => name === "Is genuine");
  const { combinator, conditions } = node?.parameters.conditions ?? { combinator: "", conditions: [] };
  const webhook = { item: { json: execution } };
  const scope = { $json: { calc }, $: (name: string) => (name === "Webhook" ? webhook : undefined) };
  const read = (expression: string) => runInNewContext(expression.slice("={{".length, -"}}".length), scope);
  const holds = conditions.map(({ leftValue, rightValue }) => read(leftValue) === read(rightValue));
  return combinator === "or" ? holds.includes(true) : !holds.includes(false);
}
