import { Client } from "@modelcontextprotocol/client";
import { InMemoryTransport, Server } from "@modelcontextprotocol/server";
import { expect, test } from "vitest";
import { listedTools } from "./listed-tools.ts";
import { readPages } from "./read-pages.ts";
import { type ReportProgress, withProgress } from "./with-progress.ts";

/** A paginated list. The cursor is the first row of the next page. */
function listOf(rows: number) {
  const asked: (string | undefined)[] = [];
  const list = async ({ limit, cursor }: { limit: number; cursor: string | undefined }) => {
    asked.push(cursor);
    const from = Number(cursor ?? 0);
    const until = Math.min(rows, from + limit);
    const has_more = until < rows;
    const data = Array.from({ length: until - from }, (_, index) => from + index);
    return { data, pagination: { has_more, next_cursor: has_more ? String(until) : null } };
  };
  return { asked, list };
}

test.each([
  [0, 1],
  [200, 1],
  [201, 2],
  [5000, 25],
])("a read of all pages returns %i rows with %i requests", async (rows, questions) => {
  const { asked, list } = listOf(rows);
  const steps: string[] = [];
  const { data, pagination } = await readPages(list, (step) => steps.push(step));
  expect(data).toEqual(Array.from({ length: rows }, (_, index) => index));
  expect(pagination).toEqual({ has_more: false, next_cursor: null });
  expect(asked).toHaveLength(questions);
  expect(steps).toHaveLength(questions - 1);
});

test("a read of all pages reports that a list is too long", async () => {
  const { data, pagination } = await readPages(listOf(5001).list, () => {});
  expect(data).toHaveLength(5000);
  expect(pagination).toEqual({ has_more: true, next_cursor: "5000" });
});

test("a read of all pages ends after about a million characters", async () => {
  const text = "x".repeat(3_000);
  const { list } = listOf(5000);
  const { data, pagination } = await readPages(
    async (page) => ({ ...(await list(page)), data: Array.from({ length: page.limit }, () => text) }),
    () => {},
  );
  expect(data).toHaveLength(400);
  expect(pagination).toEqual({ has_more: true, next_cursor: "400" });
});

/** A host that calls a server's only tool, which runs `work`. */
async function callerOf(work: (report: ReportProgress) => Promise<void>) {
  const server = new Server({ name: "server", version: "1" }, { capabilities: { tools: {} } });
  server.setRequestHandler("tools/call", async (_, context) => {
    await withProgress(context, work, 1);
    return { content: [] };
  });
  const client = new Client({ name: "host", version: "1" });
  const [one, other] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(one), client.connect(other)]);
  return client;
}

test("a host that asks for progress gets each step and signs of life in between, with growing numbers", async () => {
  let finish = () => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const client = await callerOf((report) => {
    report("200 rows are read.");
    return finished;
  });
  const received: { progress: number; message?: string }[] = [];
  await client.callTool(
    { name: "any" },
    {
      onprogress: (progress) => {
        received.push(progress);
        if (received.length === 3) finish();
      },
    },
  );
  expect(received.slice(0, 3)).toEqual([
    { progress: 1, message: "200 rows are read." },
    { progress: 2, message: "The gateway is at work." },
    { progress: 3, message: "The gateway is at work." },
  ]);
  await client.close();
});

test.each([
  { asks: "does not ask for it", _meta: undefined, reports: 0 },
  { asks: "asks with a token", _meta: { progressToken: "t" }, reports: 1 },
  { asks: "asks with an endless token", _meta: { progressToken: "t".repeat(1_001) }, reports: 0 },
])("a host that $asks gets $reports reports of progress", async ({ _meta, reports }) => {
  const client = await callerOf(async (report) => report("A step."));
  const notified: unknown[] = [];
  client.setNotificationHandler("notifications/progress", (notification) => void notified.push(notification));
  await client.callTool({ name: "any", ...(_meta && { _meta }) });
  expect(notified).toHaveLength(reports);
  await client.close();
});

/** The objects in a JSON Schema with own fields. */
function objectsIn(schema: unknown): { properties: unknown; additionalProperties?: unknown }[] {
  if (typeof schema !== "object" || schema === null) return [];
  return [...("properties" in schema ? [schema] : []), ...Object.values(schema).flatMap(objectsIn)];
}

test("every object in the arguments of a tool refuses fields that it does not have", () => {
  const open = listedTools().flatMap(({ name, inputSchema }) =>
    objectsIn(inputSchema).flatMap((one) => (one.additionalProperties === false ? [] : [name])),
  );
  expect(open).toEqual([]);
  expect(objectsIn(listedTools().find(({ name }) => name === "send_list")?.inputSchema)).toHaveLength(3);
});
