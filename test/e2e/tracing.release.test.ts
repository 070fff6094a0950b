import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newPhone, waitUntil } from "../gateway.ts";
import { createHttpRequester } from "../http-requester.ts";
import { buildDist } from "../run/build-dist.ts";
import { ROOT } from "../source-files.ts";
import { createE2eStory, type E2eStory } from "./e2e-story.ts";

interface ExportedSpan {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
}

interface Export {
  resourceSpans: {
    resource: { attributes: { key: string; value: { stringValue?: string } }[] };
    scopeSpans: { spans: ExportedSpan[] }[];
  }[];
}

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const exported: Export[] = [];
const collector = createServer(async (request, response) => {
  exported.push((await json(request)) as Export);
  response.writeHead(200, { "content-type": "application/json" }).end("{}");
});
let story: E2eStory;

beforeAll(buildDist);
beforeAll(async () => {
  collector.listen(0, "127.0.0.1");
  await once(collector, "listening");
  const { port } = collector.address() as AddressInfo;
  story = await createE2eStory({
    WAYGATE_TRACING: "continue",
    NODE_OPTIONS: `--import ${join(ROOT, "examples/otel.mjs")}`,
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
    OTEL_SERVICE_NAME: "gateway-of-the-test",
  });
});

afterAll(async () => {
  await story?.end();
  collector.close();
});

const spansOf = (trace: string) =>
  exported
    .flatMap(({ resourceSpans }) => resourceSpans.flatMap(({ scopeSpans }) => scopeSpans))
    .flatMap(({ spans }) => spans)
    .filter(({ traceId }) => traceId === trace);

describe("a gateway with the SDK of the example", () => {
  test("continues the trace of a send after a kill, and exports it before it stops", async () => {
    await story.start();
    const { id, api_key } = await story.pair();
    await story.receiver.shut();
    const { body } = await createHttpRequester(() => story.gateway.url)(
      `POST /api/v1/instances/${id}/send-text`,
      { number: newPhone(), text: "Hi", async: true },
      { "x-api-key": api_key, traceparent: `00-${TRACE}-00f067aa0ba902b7-01` },
    );
    await waitUntil(() => spansOf(TRACE).some(({ name }) => name === "deliver webhook"));
    await story.gateway.kill();
    await story.receiver.open();
    await story.start();
    const [attempt] = await story.receiver.waitFor(
      ({ body: event }) => event.data?.message?.message_id === body.pendingMessageId,
    );
    await story.gateway.kill("SIGTERM");
    const [, trace, span] = String(attempt?.headers.traceparent).split("-");
    expect(trace).toBe(TRACE);
    const made = spansOf(TRACE).find(({ spanId }) => spanId === span);
    const event = spansOf(TRACE).find(({ spanId }) => spanId === made?.parentSpanId);
    expect([made?.name, event?.name]).toEqual(["deliver webhook", "record message.sent"]);
    const named = exported.flatMap(({ resourceSpans }) => resourceSpans[0]?.resource.attributes ?? []);
    expect(named).toContainEqual({ key: "service.name", value: { stringValue: "gateway-of-the-test" } });
  });
});
