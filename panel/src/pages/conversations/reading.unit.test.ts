import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { markChanged, readWithStaleCheck, refetchAfterRead } from "./stale-reads.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const KEY = ["thread", 1];

/** A thread whose reads take 100 ms. Each read returns the gateway's state at its start. */
async function openThread() {
  const gateway = { text: "sent", reads: 0 };
  const client = new QueryClient();
  const queryFn = async () => {
    gateway.reads += 1;
    const { text } = gateway;
    await new Promise((answer) => setTimeout(answer, 100));
    return text;
  };
  const close = new QueryObserver(client, { queryKey: KEY, queryFn }).subscribe(() => {});
  await vi.advanceTimersByTimeAsync(50);
  return { gateway, client, close };
}

test("a change during a read of the thread is shown a second after the response that missed it", async () => {
  const { gateway, client, close } = await openThread();
  gateway.text = "read";
  refetchAfterRead(client, KEY);
  await vi.advanceTimersByTimeAsync(60);
  expect(client.getQueryData(KEY)).toBe("sent");
  await vi.advanceTimersByTimeAsync(1_200);
  expect([client.getQueryData(KEY), gateway.reads]).toEqual(["read", 2]);
  close();
});

test("a thread with an event in each of its reads is read once a second", async () => {
  const { gateway, client, close } = await openThread();
  for (let ms = 0; ms < 10_000; ms += 20) {
    refetchAfterRead(client, KEY);
    await vi.advanceTimersByTimeAsync(20);
  }
  expect(gateway.reads).toBeGreaterThan(8);
  expect(gateway.reads).toBeLessThan(12);
  close();
});

test("a thread that is not being read is not read again", async () => {
  const { gateway, client, close } = await openThread();
  await vi.advanceTimersByTimeAsync(100);
  refetchAfterRead(client, KEY);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(gateway.reads).toBe(1);
  close();
});

const SENT = { id: 7, message_id: "3EB0A" };
const OTHER = { id: 8, message_id: "3EB0B" };

test.each([
  ["its row", [7]],
  ["its id on the network", ["3EB0A"]],
])("a message that an event names by %s while it is read is outdated, and no other", async (_, ids) => {
  const { found, isOutdated } = await readWithStaleCheck(async () => {
    markChanged(ids);
    return [SENT, OTHER];
  });
  expect(found.map(isOutdated)).toEqual([true, false]);
});

test("events before and after a read do not make it outdated", async () => {
  markChanged([7]);
  const { isOutdated } = await readWithStaleCheck(async () => SENT);
  markChanged([7]);
  expect(isOutdated(SENT)).toBe(false);
});

test("a failed read rejects and leaves no trace", async () => {
  await expect(readWithStaleCheck(() => Promise.reject(new Error("offline")))).rejects.toThrow("offline");
});
