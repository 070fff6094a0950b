import { expect, test } from "vitest";
import { readEventStream, type StreamedEvent } from "./read-event-stream.ts";

function streamOf(...parts: string[]): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(encoder.encode(part));
      controller.close();
    },
  });
}

async function readAll(...parts: string[]): Promise<StreamedEvent[]> {
  const events: StreamedEvent[] = [];
  for await (const event of readEventStream(streamOf(...parts))) events.push(event);
  return events;
}

test("an event is read completely wherever the network splits it", async () => {
  const events = await readAll(
    "retry: 2000\n\nid: evt_1\nev",
    'ent: message.sent\ndata: {"a":1}\n',
    "\n: still here\n\n",
  );
  expect(events).toEqual([{ id: "evt_1", name: "message.sent", data: '{"a":1}' }]);
});

test("an event without its end is not reported", async () => {
  expect(await readAll("id: evt_1\nevent: message.sent\ndata: {}")).toEqual([]);
});

test("an endless frame is rejected before it fills the memory", async () => {
  const part = `data: ${"x".repeat(600_000)}`;
  await expect(readAll(part, part)).rejects.toThrow("too long");
});
