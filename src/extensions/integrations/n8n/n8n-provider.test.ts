import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { runInNewContext } from "node:vm";
import { sql } from "kysely";
import { beforeAll, describe, expect, test } from "vitest";
import { changeTiming } from "../../../../test/change-sandbox-timing.ts";
import { inBase64, SAMPLE } from "../../../../test/sample-files.ts";
import { file, startFileServer } from "../../../../test/servers/file-server.ts";
import type { Execution, N8nServer } from "../../../../test/servers/n8n-server.ts";
import { type IntegrationStory, newPerson, waitUntil } from "../../../../test/stories/integration-story.ts";
import { setUpN8nStory } from "../../../../test/stories/n8n-story.ts";
import { RESPONSE_TIMING } from "../../../core/webhooks/webhooks.ts";
import { openOwnFile } from "../to-replies.ts";

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
  const bodies = Object.fromEntries(n8n.executions.map(({ body }) => [body.chatInput, body]));
  expect(Buffer.from(bodies.small.mediaBase64, "base64")).toEqual(small);
  expect(bodies.large).toMatchObject({ mimetype: "text/plain", mediaUrl: expect.any(String) });
  expect(bodies.large).not.toHaveProperty("mediaBase64");
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

test("a workflow receives groups and own messages only if they are included, and nothing unreadable", async () => {
  n8n.activate("in");
  await save("in", { include_groups: false });
  const ana = newPerson();
  await story.receive(ana, "in a group", { group_jid: "120363000000000001@g.us" });
  await story.receive(ana, "from me", { from_me: true });
  await story.receive(ana, "", { text: undefined, unsupported: { kind: "placeholder", reason: "masked" } });
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
  expect(trouble).toMatchObject({ last_error: expect.stringMatching(/refused/), last_error_code: "refused" });
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

test("a Retry-After pauses the events of all chats for that long", async () => {
  n8n.activate("in");
  await save("in");
  n8n.trouble({ status: 503, headers: { "retry-after": "50" } }, 1);
  await story.receive(newPerson(), "first");
  await status("failing");
  await story.receive(newPerson(), "second");
  await waitUntil(async () => (await read()).waiting === 2);
  await story.gateway.advance(30_000);
  expect(inputs()).toEqual([]);
  await story.gateway.advance(30_000);
  await executed(2);
  expect(inputs().toSorted()).toEqual(["first", "second"]);
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
  // A call of the deleted integration may still arrive.
  n8n.trouble("lose_response", 1, (body) => body.chatInput === "hi");
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

test.each(["verify-and-answer", "answer"])(
  "the ready-made workflow %s.json uses only what the gateway sends, and accepts its current and its previous secret",
  async (name) => {
    const text = readFileSync(new URL(`../../../../docs/guides/n8n/${name}.json`, import.meta.url), "utf8");
    n8n.activate("in");
    await save("in");
    const { before, after } = await rotateSecret();
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
    const takes = (secret: string) => isGenuine(text, execution, secret);
    expect([takes(before), takes(after), takes("another")]).toEqual([true, true, false]);
    const { "x-waygate-signature-previous": _, ...headers } = execution?.headers ?? {};
    const later = execution && { ...execution, headers };
    expect([isGenuine(text, later, before), isGenuine(text, later, after)]).toEqual([false, true]);
  },
);

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

describe("a workflow's response", () => {
  function respondWith(output: unknown, type?: string) {
    n8n.activate("in", { respond: "responseNode", output, ...(type && { type }) });
    return save("in", { reply_mode: "response" });
  }

  test.each([
    ["a file if it is a file", SAMPLE.png, "image/png", "[image]"],
    [
      "a document if it is not a picture, audio or video",
      Buffer.from("PK\u0003\u0004 not words"),
      "application/octet-stream",
      "[document]",
    ],
  ])("reaches the chat as %s", async (_, bytes, type, kind) => {
    await respondWith(bytes, type);
    const ana = newPerson();
    await story.receive(ana, "hi");
    expect(await story.receivedBy(ana, 1)).toEqual([kind]);
  });

  test("without a reply causes a warning until a response contains one", async () => {
    n8n.activate("in");
    await save("in", { reply_mode: "response" });
    const ana = newPerson();
    await story.receive(ana, "hi");
    const warned = await status("warning");
    expect(warned.last_error).toMatch(/"Workflow was started".*Using 'Respond to Webhook' Node/);
    n8n.activate("in", { respond: "responseNode", output: { response: "now I do" } });
    await story.receive(ana, "hi again");
    expect(await story.receivedBy(ana, 1)).toEqual(["now I do"]);
    expect(await status("ok")).toMatchObject({ last_error_is_past: true });
  });

  test("may be the received file, which is read from the media store and not over the network", async () => {
    await respondWith([]);
    const [ana, bia] = [newPerson(), newPerson()];
    const media = { base64: inBase64(SAMPLE.png), mime_type: "image/png", caption: "look" };
    await story.receive(ana, "", { media });
    await executed(1);
    const { mediaUrl } = n8n.executions[0]?.body ?? {};
    const { pathname } = new URL(mediaUrl);
    // Behind a proxy the gateway has another host name, which it cannot call itself.
    await respondWith([{ output: "before" }, { mediaUrl: `http://127.0.0.1:1${pathname}`, caption: "back" }]);
    await story.receive(bia, "hi");
    expect(await story.receivedBy(bia, 2)).toEqual(["before", "back"]);
    expect((await status("ok")).last_error).toBeNull();
  });

  test("sends the text of a sound before it, because phones show no caption with a sound", async () => {
    const files = await startFileServer();
    await respondWith([
      { mediaUrl: files.serve("/a.mp3", file(SAMPLE.mp3, "audio/mpeg")), caption: "listen" },
    ]);
    const ana = newPerson();
    await fixture.story.receive(ana, "hi");
    expect(await fixture.story.receivedBy(ana, 2)).toEqual(["listen", "[audio]"]);
    expect((await fixture.status("ok")).last_error).toBeNull();
    await files.close();
  });

  test("cannot contain the file of another account by its link", async () => {
    await respondWith([]);
    const media = { base64: inBase64(SAMPLE.png), mime_type: "image/png", caption: "mine" };
    await story.receive(newPerson(), "", { media });
    await executed(1);
    const link: string = n8n.executions[0]?.body.mediaUrl;
    const { data } = await story.gateway.owner.me();
    const { pathname } = new URL(link);
    const openFile = () => Promise.reject(new Error("opened"));
    const deps = {
      db: story.gateway.database.db,
      mediaUrls: { create: () => "", isGood: () => true },
      openFile,
    };
    await expect(openOwnFile(deps, link, data.account.id + 1)).rejects.toThrow("There is no such file.");
    for (const own of [link, `${link}/file.png`, pathname, `${pathname}/file.png`])
      await expect(openOwnFile(deps, own, data.account.id)).rejects.toThrow("opened");
    const forged = { ...deps, mediaUrls: { ...deps.mediaUrls, isGood: () => false } };
    expect(await openOwnFile(forged, link, data.account.id)).toBeUndefined();
    expect(await openOwnFile(deps, `${link}/too/deep.png`, data.account.id)).toBeUndefined();
    expect(await openOwnFile(deps, "https://a.example/media/other.png", data.account.id)).toBeUndefined();
  });

  test("that breaks off is a failure, and the workflow runs once more", async () => {
    await respondWith({ output: "whole again" });
    n8n.trouble("break_off");
    const ana = newPerson();
    await story.receive(ana, "hi");
    expect((await status("failing")).last_error).toMatch(/incomplete.*runs at most twice/);
    await story.gateway.advance(60_000);
    expect(await story.receivedBy(ana, 1)).toEqual(["whole again"]);
    expect(n8n.executions).toHaveLength(2);
  });

  test("that is too large causes a warning", async () => {
    await respondWith("x".repeat(300 * 1024), "text/plain");
    const ana = newPerson();
    await story.receive(ana, "hi");
    expect((await status("warning")).last_error).toMatch(/too large: the limit is 256 KB/);
    expect(n8n.executions).toHaveLength(1);
  });

  const SIGNED = `http://127.0.0.1:1/media/med_01/1795957346/${"k".repeat(43)}/file.png?token=secret`;
  const UNSIGNED = "http://127.0.0.1:1/nope.png";

  test.each([
    [{ mediaUrl: UNSIGNED, caption: "broken" }, ["broken", "after"], UNSIGNED],
    [{ mediaUrl: UNSIGNED }, ["after"], UNSIGNED],
    [{ mediaUrl: SIGNED }, ["after"], "http://127.0.0.1:1/media/med_01/1795957346/.../file.png"],
  ])(
    "names a file that cannot be fetched to the user alone, without its secrets: %j",
    async (first, texts, shown) => {
      await respondWith([first, { output: "after" }]);
      const ana = newPerson();
      await story.receive(ana, "hi");
      expect(await story.receivedBy(ana, texts.length)).toEqual(texts);
      expect((await status("warning")).last_error).toContain(`The file ${shown} of the reply was not sent`);
    },
  );

  test("is shown by the integration test together with the replies it contains", async () => {
    await respondWith([{ output: "one" }, { mediaUrl: "https://a.example/b.png", caption: "two" }]);
    expect(await tryOut()).toMatchObject({
      success: true,
      message: "The workflow accepted the event. Its response contains 2 message(s) for the chat.",
      details: {
        content_type: "application/json; charset=utf-8",
        answer: expect.stringContaining("one"),
        would_send: [{ text: "one" }, { media_url: "https://a.example/b.png", text: "two" }],
      },
    });
    n8n.activate("in");
    expect(await tryOut()).toMatchObject({
      success: true,
      message: expect.stringMatching(
        /accepted the event\. n8n responded with "Workflow was started".*Set Respond/,
      ),
      details: { would_send: [] },
    });
    const { body } = n8n.executions.at(-1) ?? {};
    expect(body).toMatchObject({ event: "integration.test", remoteJid: null, number: null });
    expect(body.chatInput).not.toBe("");
  });
});

const RIGHT = { name: "Authorization", value: "Bearer right" };

describe("n8n that rejects requests", () => {
  test("receives the waiting events once the wrong token is replaced", async () => {
    n8n.activate("in", { auth: RIGHT });
    await save("in", { token: "wrong" });
    for (const text of ["one", "two"]) await story.receive(newPerson(), text);
    const refused = await status("auth_error");
    expect(refused.last_error).toMatch(/Bearer.*Events wait for one day/);
    expect(refused.waiting).toBe(2);
    await save("in", { token: "right" });
    await executed(2);
    expect(inputs().sort()).toEqual(["one", "two"]);
  });

  test("pauses every chat, and the pause is visible until it ends", async () => {
    await save("later");
    await story.receive(newPerson(), "first");
    const inactive = await status("inactive");
    expect(inactive).toMatchObject({ paused_until: null, last_error_code: "n8n_inactive" });
    expect(inactive.last_error).toMatch(/not active.*is not registered/);
    expect(inactive.last_error).not.toContain("at ...");
    await story.refusedFor("10 minutes");
    await story.gateway.advance(600_000);
    await waitUntil(async () => (await read()).paused_until !== null);
    const until = (await read()).paused_until ?? "";
    expect(Date.parse(until) - Date.now()).toBeGreaterThan(4 * 60_000);
    n8n.activate("later");
    await story.receive(newPerson(), "second");
    await save("later");
    await executed(2);
    expect(inputs().sort()).toEqual(["first", "second"]);
    expect((await status("ok")).paused_until).toBeNull();
  });

  test("is paused by no rejected test call, and receives the waiting events as soon as one succeeds", async () => {
    await save("after-test");
    await story.receive(newPerson(), "first");
    await status("inactive");
    await story.refusedFor("10 minutes");
    expect((await tryOut()).success).toBe(false);
    expect(await read()).toMatchObject({ status: "inactive", paused_until: null });
    await story.gateway.advance(600_000);
    await waitUntil(async () => (await read()).paused_until !== null);
    await story.receive(newPerson(), "second");
    n8n.activate("after-test");
    expect((await tryOut()).success).toBe(true);
    await executed(3);
    expect(inputs().sort()).toEqual(["This is a test.", "first", "second"]);
    expect(await read()).toMatchObject({ status: "ok", paused_until: null });
  });

  test.each([
    [{ token: "t", auth: "bearer" }, /Name is Authorization.*Bearer, a space/],
    [
      { token: "t", auth: "header", header_name: "X-My-Key" },
      /Name is X-My-Key and whose Value is the token/,
    ],
    [{ token: "a:b", auth: "basic" }, /Basic Auth/],
    [{ token: "a.b.c", auth: "jwt" }, /JWT Auth/],
    [{ token: "t", auth: "none" }, /requires authentication/],
  ])("gets an explanation of the required authorisation: %j", async (config, words) => {
    n8n.activate("in", { auth: { name: "x-other", value: "secret" } });
    await save("in", config);
    expect((await tryOut()).message).toMatch(words);
  });

  test("starts without errors when the integration is saved, even during a request", async () => {
    n8n.activate("in");
    await save("in");
    n8n.trouble({ status: 500 }, 100);
    for (let person = 0; person < 12; person++) await story.receive(newPerson(), `m${person}`);
    await waitUntil(async () => (await read()).paused_until !== null);
    expect((await read()).last_error_code).toBe("n8n_failed");
    const release = n8n.hold();
    await save("in");
    // Eight started requests fail after the next save; later ones succeed.
    await waitUntil(() => n8n.pending === 8);
    n8n.reset();
    await save("in");
    release();
    await waitUntil(() => n8n.pending === 0);
    expect((await read()).paused_until).toBeNull();
    await executed(12);
    expect(new Set(inputs()).size).toBe(12);
  });

  test("runs a workflow at most twice when its response comes too late", async () => {
    n8n.activate("in", { respond: "responseNode", output: { output: "late" } });
    await save("in", { reply_mode: "response", timeout_ms: 1_000 });
    n8n.trouble("no_response", 100, (body) => body.chatInput === "slow");
    const ana = newPerson();
    await story.receive(ana, "slow");
    await waitUntil(async () => {
      await story.gateway.advance(60_000);
      return (await read()).waiting === 0;
    });
    expect(inputs()).toEqual(["slow", "slow"]);
    const failing = await read();
    expect(failing.last_error).toMatch(/runs at most twice.*timeout_ms/);
    expect(failing.last_error_is_past).toBe(false);
    await story.receive(ana, "quick");
    expect(await story.receivedBy(ana, 1)).toEqual(["late"]);
    await waitUntil(async () => (await read()).last_error_is_past);
    expect(await read()).toMatchObject({ status: "ok", last_error: failing.last_error });
  });

  test("does not count as inactive if the workflow itself returns 404, and has no last error after a save", async () => {
    n8n.activate("in");
    await save("in");
    n8n.trouble({ status: 404 }, 100);
    await story.receive(newPerson(), "hi");
    const failing = await status("failing");
    expect(failing).toMatchObject({
      last_error: "The integration responded with 404: trouble",
      paused_until: null,
    });
    await waitUntil(async () => (await read()).waiting === 0);
    const { data } = await save("in");
    expect(data).toMatchObject({ status: "unknown", last_error: null, last_error_at: null });
  });

  test("causes no warning about an empty response to a request made before the save", async () => {
    n8n.activate("in");
    await save("in", { reply_mode: "response" });
    const release = n8n.hold();
    await story.receive(newPerson(), "hi");
    await waitUntil(() => n8n.pending === 1);
    await save("in", { reply_mode: "response" });
    release();
    await waitUntil(async () => (await read()).waiting === 0);
    expect(await read()).toMatchObject({ status: "unknown", last_error: null });
  });

  test("does not use up the attempts of an event while it is unavailable", async () => {
    n8n.activate("in");
    await save("in");
    n8n.trouble({ status: 503 }, 12);
    n8n.trouble({ status: 500 }, 2);
    await story.receive(newPerson(), "hi");
    await waitUntil(async () => (await read()).last_error !== null);
    // It did not reject the event, so there is no error code.
    expect((await read()).last_error_code).toBeNull();
    await waitUntil(async () => {
      await story.gateway.advance(600_000);
      return n8n.executions.length > 0;
    });
    expect(inputs()).toEqual(["hi"]);
    await waitUntil(async () => {
      const { rows } = await sql<{ n: number }>`select count(*)::int as n from job
        join lane on lane.id = job.lane where lane.kind = 'integration'`.execute(story.gateway.database.db);
      return rows[0]?.n === 0;
    });
    expect(inputs()).toEqual(["hi"]);
  });

  describe("and whose responses break off after a long time", () => {
    changeTiming(RESPONSE_TIMING, { processedAfterMs: 0 });

    test("runs a workflow at most twice and counts as available", async () => {
      n8n.activate("in", { respond: "responseNode", output: { output: "lost" } });
      await save("in", { reply_mode: "response" });
      n8n.trouble("lose_response", 100);
      await story.receive(newPerson(), "slow");
      await waitUntil(async () => {
        await story.gateway.advance(60_000);
        return (await read()).waiting === 0;
      });
      expect(inputs()).toEqual(["slow", "slow"]);
      expect((await read()).last_error).toMatch(/runs at most twice.*time limit of a proxy/);
    });
  });
});

describe("n8n that restarts", () => {
  test("delays people's messages; each gets one reply after the restart", async () => {
    n8n.activate("in", { respond: "responseNode", output: { output: "here I am" } });
    await save("in", { reply_mode: "response" });
    await n8n.shut();
    // More than the gateway's concurrent calls.
    const people = Array.from({ length: 12 }, () => newPerson());
    for (const person of people) await story.receive(person, "are you there?");
    n8n.boot("no_database");
    await n8n.open();
    for (const phase of ["migrating", "no_workflows", undefined] as const) {
      const { last_error_at } = await read();
      await waitUntil(async () => {
        await story.gateway.advance(12_000);
        return (await read()).last_error_at !== last_error_at;
      });
      n8n.boot(phase);
    }
    await waitUntil(async () => {
      await story.gateway.advance(12_000);
      const heard = await Promise.all(people.map((person) => story.receivedSoFar(person)));
      return heard.every((texts) => texts.length > 0);
    });
    await story.waitUntilIdle();
    for (const person of people) expect(await story.receivedSoFar(person)).toEqual(["here I am"]);
    expect(n8n.executions).toHaveLength(people.length);
    const shown = { status: "ok", last_error_is_past: true, paused_until: null };
    expect(await read()).toMatchObject(shown);
  });

  test.each([
    ["migrating", /n8n is starting/],
    ["no_workflows", /n8n is starting.*compare webhook_url.*Cannot POST/],
    ["no_database", /Database is not ready/],
  ] as const)("has accepted nothing while it responds as in the phase %s", async (phase, words) => {
    n8n.activate("in");
    await save("in");
    n8n.boot(phase);
    await story.receive(newPerson(), "hi");
    expect((await status("failing")).last_error).toMatch(words);
    expect(await tryOut()).toMatchObject({ success: false, message: expect.stringMatching(words) });
    expect((await read()).waiting).toBe(1);
    n8n.boot(undefined);
    await story.gateway.advance(12_000);
    await executed(1);
    expect(inputs()).toEqual(["hi"]);
  });

  test("is not mistaken for an inactive workflow after many other failures", async () => {
    n8n.activate("in");
    await save("in");
    await n8n.shut();
    await story.receive(newPerson(), "first");
    await status("failing");
    for (let tries = 0; tries < 5; tries++) {
      const { last_error_at } = await read();
      await story.gateway.advance(600_000);
      await waitUntil(async () => (await read()).last_error_at !== last_error_at);
    }
    n8n.deactivate("in");
    await n8n.open();
    await story.gateway.advance(600_000);
    await status("inactive");
    expect((await read()).paused_until).toBeNull();
    n8n.activate("in");
    await executed(1);
    expect(inputs()).toEqual(["first"]);
  });
});
