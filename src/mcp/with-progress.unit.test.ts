import { Client } from "@modelcontextprotocol/client";
import { InMemoryTransport, Server } from "@modelcontextprotocol/server";
import { expect, test } from "vitest";
import { type ReportProgress, withProgress } from "./with-progress.ts";

/** A host that calls the only tool of a server, which does this work. */
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
