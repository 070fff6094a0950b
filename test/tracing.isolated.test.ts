import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { SpanKind, trace } from "@opentelemetry/api";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BasicTracerProvider,
  InMemorySpanExporter,
  ParentBasedSampler,
  type ReadableSpan,
  type Sampler,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createClient } from "../src/client/client.ts";
import type { Jid } from "../src/network/driver.ts";
import { newMessageId } from "../src/network/jid.ts";
import { type TestInstance, waitUntil } from "./gateway.ts";
import { createHttpRequester } from "./http-requester.ts";
import type { Received } from "./servers/receiver.ts";
import { OWNER } from "./sign-in.ts";
import { ROOT } from "./source-files.ts";
import { createSecondRecorder } from "./stories/engine/second-recorder.ts";
import { type MessagingStory, startMessagingStory } from "./stories/messaging-story.ts";

/** An SDK in this process that keeps every ended span. */
interface RecordedSpans {
  /** All spans since the last `clear`. */
  all(): ReadableSpan[];
  /** Spans of a trace once `isWhole` holds, by start time. */
  of(traceId: string, isWhole: (names: string[]) => boolean): Promise<ReadableSpan[]>;
  /** Names, attributes, events, links and states of all spans. */
  texts(): string;
  /** Replaces the sampler. */
  sample(sampler: Sampler): void;
  clear(): void;
}

/** Loads an SDK into this process, so the file must be `*.isolated.test.ts`. */
function recordSpans(): RecordedSpans {
  const exporter = new InMemorySpanExporter();
  let current: Sampler = new AlwaysOnSampler();
  const sampler: Sampler = {
    shouldSample: (...about) => current.shouldSample(...about),
    toString: () => "the sampler of the test",
  };
  const provider = new BasicTracerProvider({ sampler, spanProcessors: [new SimpleSpanProcessor(exporter)] });
  if (!trace.setGlobalTracerProvider(provider)) throw new Error("this process has an SDK already");
  const all = () => exporter.getFinishedSpans();
  const ofTrace = (traceId: string) =>
    all()
      .filter((span) => span.spanContext().traceId === traceId)
      .toSorted((one, other) => toNumber(one.startTime) - toNumber(other.startTime));
  return {
    all,
    async of(traceId, isWhole) {
      await waitUntil(() => isWhole(ofTrace(traceId).map(({ name }) => name)));
      return ofTrace(traceId);
    },
    texts: () =>
      JSON.stringify(
        all().map(({ name, attributes, events, links, status }) => ({
          name,
          attributes,
          events,
          links,
          status,
        })),
      ),
    sample(next) {
      current = next;
    },
    clear: () => exporter.reset(),
  };
}

function toNumber([seconds, nanoseconds]: [number, number]): number {
  return seconds * 1e9 + nanoseconds;
}

/** Spans as an indented tree, with their kind and error type. */
function drawTrace(spans: readonly ReadableSpan[], parent?: string): string[] {
  const ids = new Set(spans.map((span) => span.spanContext().spanId));
  const isChild = (span: ReadableSpan) => {
    const above = span.parentSpanContext?.spanId;
    return parent === undefined ? above === undefined || !ids.has(above) : above === parent;
  };
  return spans.filter(isChild).flatMap((span) => {
    const failure = span.attributes["error.type"];
    const own = `${SpanKind[span.kind].toLowerCase()} ${span.name}${failure ? `: ${failure}` : ""}`;
    return [own, ...drawTrace(spans, span.spanContext().spanId).map((line) => `  ${line}`)];
  });
}

const TEXT = "Your table for two is ready";
const NAMES = { "x-request-id": "req-of-the-test" };
const spans = recordSpans();
let story: MessagingStory;

beforeAll(async () => {
  story = await startMessagingStory({ WAYGATE_TRACING: "continue" });
});

afterAll(() => story.stop());

beforeEach(() => spans.clear());

afterEach(() => {
  spans.sample(new AlwaysOnSampler());
  for (const span of spans.all()) noteShape(span);
});

/** Span names of this file, as the document writes them, with their attributes. */
const shapes = new Map<string, Set<string>>();

function noteShape({ name, kind, attributes }: ReadableSpan): void {
  const documented = name
    .replace(/^[A-Z]+ .*/, "POST /api/v1/...")
    .replace(/^record .*\..*/, "record message.sent");
  const key = `${documented} ${SpanKind[kind].toLowerCase()}`;
  const known = shapes.get(key) ?? new Set();
  for (const attribute of Object.keys(attributes)) known.add(attribute);
  shapes.set(key, known);
}

/** A span of a calling program. */
function newCaller(flags = "01") {
  const trace = randomBytes(16).toString("hex");
  const span = randomBytes(8).toString("hex");
  return { trace, span, traceparent: `00-${trace}-${span}-${flags}` };
}

const traceOf = ({ headers }: Received) => String(headers.traceparent).split("-")[1] ?? "";

/** Queues a text from the shop to the friend. Returns the message id. */
async function queue(headers: Record<string, string>, url = story.gateway.url): Promise<string> {
  const { sales, friend } = story;
  const response = await createHttpRequester(() => url)(
    `POST /api/v1/instances/${sales.id}/send-text`,
    { number: friend.phone, text: TEXT, async: true },
    { "x-api-key": sales.api_key, ...NAMES, ...headers },
  );
  expect(response.status).toBe(202);
  return response.body.pendingMessageId;
}

/** Rejects only the first message.sent, because other events would wait for it. */
function refuseFirst(): void {
  let refused = 0;
  story.receiver.respond(({ body }, response) => {
    const status = body.event === "message.sent" && refused++ === 0 ? 503 : 200;
    response.writeHead(status).end();
  });
}

/** Attempts that deliver a message's event to an instance's webhook. */
function attempts(event: string, messageId: string, { id }: TestInstance, count = 1): Promise<Received[]> {
  return story.receiver.waitFor(
    ({ body }) =>
      body.event === event && body.instance.id === id && body.data.message?.message_id === messageId,
    count,
  );
}

/** A span of each step from the request to the attempt. */
const isWhole = (names: string[]) => names.length >= SENT.length;

const SENT = [
  "server POST /api/v1/instances/:id/send-text",
  "  internal accept send",
  "    client submit send",
  "    internal record outcome",
  "      producer record message.sent",
  "        client deliver webhook",
];

describe("an asynchronous send", () => {
  test("is one trace from the caller to the attempt that its receiver sees", async () => {
    const caller = newCaller();
    const id = await queue({ traceparent: caller.traceparent });
    const [attempt] = await attempts("message.sent", id, story.sales);
    const trace = await spans.of(caller.trace, isWhole);
    expect(drawTrace(trace)).toEqual(SENT);
    expect(trace[0]?.parentSpanContext?.spanId).toBe(caller.span);
    const posted = trace.at(-1)?.spanContext();
    expect(attempt?.headers.traceparent).toBe(`00-${caller.trace}-${posted?.spanId}-01`);
    expect(trace[0]?.attributes).toEqual({
      "http.request.method": "POST",
      "http.route": "/api/v1/instances/:id/send-text",
      "http.response.status_code": 202,
      "url.scheme": "http",
    });
  });

  test("stays one trace if another node accepts it", async () => {
    const other = await story.gateway.addNode({ WAYGATE_TRACING: "continue", WAYGATE_ROLES: "api" });
    const caller = newCaller();
    const id = await queue({ traceparent: caller.traceparent }, other.url);
    const [attempt] = await attempts("message.sent", id, story.sales);
    expect(drawTrace(await spans.of(caller.trace, isWhole))).toEqual(SENT);
    expect(attempt && traceOf(attempt)).toBe(caller.trace);
  });

  test("stays in its trace when a restarted gateway repeats the delivery", async () => {
    const caller = newCaller();
    refuseFirst();
    const id = await queue({ traceparent: caller.traceparent });
    await attempts("message.sent", id, story.sales);
    await spans.of(caller.trace, isWhole);
    await story.restart();
    await story.gateway.advance(60_000);
    await attempts("message.sent", id, story.sales, 2);
    const trace = await spans.of(caller.trace, (names) => names.length > SENT.length);
    expect(drawTrace(trace)).toEqual([
      ...SENT.slice(0, -1),
      "        client deliver webhook: 503",
      "        client deliver webhook",
    ]);
    expect(trace.at(-1)?.attributes["http.request.resend_count"]).toBe(1);
  });

  test("stays in its trace if only a receipt reports that it was sent", async () => {
    const caller = newCaller();
    const { sales } = story;
    const { data } = await sales.client.sendText({ id: sales.id, number: story.friend.phone, text: TEXT });
    const message_id = newMessageId();
    // The state after a kill between the network and its acknowledgement.
    const { rows } = await sql<{ jid: Jid }>`
      with copied as (
        insert into message (account_id, instance_id, conversation_id, message_id, direction, from_me, origin, mode, jid,
          type, content, status, submitted_at)
        select account_id, instance_id, conversation_id, ${message_id}, direction, from_me, origin, 'async', jid,
          type, content, 'pending', now()
        from message where id = ${data.id ?? 0}
        returning id, instance_id, jid
      ), queued as (
        insert into job (lane, prio, pos, grp, run_at, ref)
        select i.lane, 1, c.id, c.jid, now() + interval '1 hour',
          jsonb_build_object('do', 'send', 'message', c.id, 'trace', ${caller.traceparent}::text)
        from copied c join instance i on i.id = c.instance_id
      )
      select jid from copied`.execute(story.gateway.database.db);
    await createSecondRecorder(story.gateway).receipts.record({
      instance_id: sales.id,
      chat: rows[0]?.jid ?? ("" as Jid),
      ids: [message_id],
      from_me: true,
      status: "delivered",
      at: new Date(),
    });
    const [attempt] = await attempts("message.sent", message_id, sales);
    expect(attempt && traceOf(attempt)).toBe(caller.trace);
  });
});

test("a synchronous send continues the trace of its caller too", async () => {
  const caller = newCaller();
  const { sales, friend, request } = story;
  const { body } = await request(
    `POST /api/v1/instances/${sales.id}/send-text`,
    { number: friend.phone, text: TEXT },
    { "x-api-key": sales.api_key, traceparent: caller.traceparent },
  );
  await attempts("message.sent", body.data.message_id, sales);
  expect(drawTrace(await spans.of(caller.trace, isWhole))).toEqual(SENT);
});

test("a message from the network begins a trace that ends at the webhook", async () => {
  const { sales, friend } = story;
  const { data } = await friend.client.sendText({ id: friend.id, number: sales.phone, text: TEXT });
  const [attempt] = await attempts("message.received", data.message_id ?? "", sales);
  if (!attempt) throw new Error("nothing was delivered");
  const trace = await spans.of(traceOf(attempt), (names) => names.length > 2);
  expect(drawTrace(trace)).toEqual([
    "consumer receive message",
    "  producer record message.received",
    "    client deliver webhook",
  ]);
});

test("a delivery that a user repeats belongs to the trace of that request", async () => {
  const { sales, request } = story;
  const id = await queue({});
  const [first] = await attempts("message.sent", id, sales);
  const caller = newCaller();
  const headers = { "x-api-key": sales.api_key, traceparent: caller.traceparent };
  await request(
    `POST /api/v1/instances/${sales.id}/webhook-events/${first?.body.event_id}/retry`,
    {},
    headers,
  );
  expect(drawTrace(await spans.of(caller.trace, (names) => names.length > 1))).toEqual([
    "server POST /api/v1/instances/:id/webhook-events/:eventId/retry",
    "  client deliver webhook",
  ]);
});

describe("a caller", () => {
  test("cannot choose a trace without a valid credential, and causes no span if refused", async () => {
    const caller = newCaller();
    const headers = { traceparent: caller.traceparent };
    const { sales, request } = story;
    expect((await request("GET /api/v1/instances", undefined, headers)).status).toBe(401);
    const wrong = { ...headers, "x-api-key": `${sales.api_key}x` };
    expect((await request(`GET /api/v1/instances/${sales.id}`, undefined, wrong)).status).toBe(401);
    expect((await request("GET /nowhere", undefined, headers)).status).toBe(404);
    expect((await request("GET /health", undefined, headers)).status).toBe(200);
    expect((await request("GET /privacy", undefined, headers)).status).toBe(200);
    const own = { ...headers, "x-api-key": sales.api_key };
    expect((await request(`GET /api/v1/instances/${sales.id}`, undefined, own)).status).toBe(200);
    const [known] = await spans.of(caller.trace, (names) => names.length > 0);
    expect(known?.name).toBe("GET /api/v1/instances/:id");
    const requests = spans.all().filter(({ name }) => /^(GET|POST) /.test(name));
    expect(requests.map(({ name }) => name)).toEqual(["GET /privacy", "GET /api/v1/instances/:id"]);
    expect(requests[0]?.parentSpanContext).toBeUndefined();
  });

  test("sees its tracestate and baggage nowhere, and its malformed traceparent ignored", async () => {
    const secret = "fromAStranger";
    const id = await queue({
      traceparent: `00-${"z".repeat(32)}-${"1".repeat(16)}-01`,
      tracestate: `${secret}=1,${"vendor=x,".repeat(200)}end=1`,
      baggage: `${secret}=1`,
    });
    const [attempt] = await attempts("message.sent", id, story.sales);
    if (!attempt) throw new Error("nothing was delivered");
    expect(drawTrace(await spans.of(traceOf(attempt), isWhole))).toEqual(SENT);
    expect(attempt.headers).not.toHaveProperty("tracestate");
    expect(attempt.headers).not.toHaveProperty("baggage");
    expect(spans.texts()).not.toContain(secret);
    expect(spans.all().some((span) => span.spanContext().traceState !== undefined)).toBe(false);
  });

  test("cannot overrule the sampler of the operator, whose decision reaches the receiver", async () => {
    const sampler = new ParentBasedSampler({
      root: new AlwaysOffSampler(),
      remoteParentSampled: new AlwaysOffSampler(),
    });
    spans.sample(sampler);
    const caller = newCaller("01");
    const id = await queue({ traceparent: caller.traceparent });
    const [attempt] = await attempts("message.sent", id, story.sales);
    expect(attempt?.headers.traceparent).toMatch(new RegExp(`^00-${caller.trace}-[0-9a-f]{16}-00$`));
    expect(spans.all().filter((span) => span.spanContext().traceId === caller.trace)).toEqual([]);
  });

  test("is not believed by a sampler that believes only the gateway", async () => {
    spans.sample(
      new ParentBasedSampler({ root: new AlwaysOnSampler(), remoteParentSampled: new AlwaysOffSampler() }),
    );
    const { sales } = story;
    const caller = newCaller();
    const sent = await queue({ traceparent: caller.traceparent });
    await attempts("message.sent", sent, sales);
    const own = await queue({});
    const [attempt] = await attempts("message.sent", own, sales);
    expect(drawTrace(await spans.of(attempt ? traceOf(attempt) : "", isWhole))).toEqual(SENT);
    expect(spans.all().filter((span) => span.spanContext().traceId === caller.trace)).toEqual([]);
  });
});

test("no span contains a number, a text, a name, an address, a key or a query", async () => {
  const { sales, friend, request } = story;
  await sales.client.sendText({
    id: sales.id,
    number: friend.phone,
    text: TEXT,
    metadata: { order: "order-77" },
  });
  const id = await queue({ "idempotency-key": "key-of-the-caller" });
  await attempts("message.sent", id, sales);
  await friend.client.sendText({ id: friend.id, number: sales.phone, text: "Thanks, Ana Silva" });
  await request(
    `GET /api/v1/instances/${sales.id}/messages?search=secret-of-the-query&phone=${friend.phone}`,
  );
  await request(`POST /api/v1/instances/${sales.id}/send-text`, { number: "1", text: TEXT });
  await story.gateway.owner.listInstances({});
  const delivered = story.receiver.received.filter(({ body }) => body.event === "message.received");
  expect(delivered.length).toBeGreaterThan(0);
  const texts = spans.texts();
  expect(texts).toContain("deliver webhook");
  expect(texts).toContain("GET /api/v1/instances/:id/messages");
  const personal = [
    ...[sales, friend].flatMap(({ phone, api_key, webhook_secret }) => [
      phone,
      phone.slice(4),
      api_key,
      webhook_secret,
    ]),
    ...[
      "table for two",
      "Thanks",
      "Ana Silva",
      "Sales",
      "Friend",
      "order-77",
      "key-of-the-caller",
      "secret-of-the-query",
    ],
    ...[OWNER.email, "127.0.0.1", "/hook", "s.whatsapp.net", "req-of-the-test"],
  ];
  expect(personal.filter((text) => texts.includes(text))).toEqual([]);
});

test("a gateway that restarts traces links each one to the trace of its caller", async () => {
  await story.gateway.restart({ WAYGATE_TRACING: "restart" });
  const caller = newCaller();
  const id = await queue({ traceparent: caller.traceparent });
  const [attempt] = await attempts("message.sent", id, story.sales);
  if (!attempt) throw new Error("nothing was delivered");
  expect(traceOf(attempt)).not.toBe(caller.trace);
  const [request] = await spans.of(traceOf(attempt), isWhole);
  expect(request?.parentSpanContext).toBeUndefined();
  expect(request?.links.map(({ context }) => context)).toEqual([
    { traceId: caller.trace, spanId: caller.span, traceFlags: 1, isRemote: true },
  ]);
});

test("a gateway without the setting makes no span, stores no trace and sends no header", async () => {
  await story.gateway.restart({ WAYGATE_TRACING: "off" });
  spans.clear();
  const { sales, friend, gateway } = story;
  refuseFirst();
  const id = await queue({ traceparent: newCaller().traceparent });
  const [attempt] = await attempts("message.sent", id, sales);
  expect(attempt?.headers).not.toHaveProperty("traceparent");
  const { rows } = await sql<{ ref: object }>`
    select ref from job where ref ->> 'event_id' = ${attempt?.body.event_id}`.execute(gateway.database.db);
  expect(rows.length).toBeGreaterThan(0);
  expect(JSON.stringify(rows)).not.toContain("trace");
  const client = createClient({ baseUrl: gateway.url, apiKey: friend.api_key });
  await client.sendText({ id: friend.id, number: sales.phone, text: TEXT });
  expect(spans.all()).toEqual([]);
});

describe("the page about tracing", () => {
  const page = readFileSync(join(ROOT, "docs/operation/tracing.md"), "utf8");

  test("lists exactly the spans, the kinds and the attributes that the tests above have seen", () => {
    const rows = page.split("\n").flatMap((line) => {
      const [, name, , kind, , attributes = ""] =
        /^\| `([^`]+)`([^|]*)\| (\w+) \|([^|]*)\| (`.*) \|$/.exec(line) ?? [];
      return name
        ? [[`${name} ${kind}`, [...attributes.matchAll(/`([^`]+)`/g)].map(([, one]) => one)] as const]
        : [];
    });
    const documented = Object.fromEntries(rows.map(([name, attributes]) => [name, attributes.toSorted()]));
    const seen = [...shapes].map(([name, found]) => [
      name,
      [...found].filter((one) => one !== "error.type").toSorted(),
    ]);
    expect(documented).toEqual(Object.fromEntries(seen));
  });

  test("installs the packages of the example in the versions of the tests", () => {
    const { dependencies, devDependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    const versions = Object.entries({ ...dependencies, ...devDependencies });
    const [line = ""] = page.match(/npm install .*/) ?? [];
    const installed = line.split(" ").slice(2);
    const imported = readFileSync(join(ROOT, "examples/otel.mjs"), "utf8").matchAll(/from "([^"]+)"/g);
    const expected = [...imported].map(
      ([, name]) => `${name}@${versions.find(([one]) => one === name)?.[1]}`,
    );
    expect(installed.toSorted()).toEqual(expected.toSorted());
  });
});
