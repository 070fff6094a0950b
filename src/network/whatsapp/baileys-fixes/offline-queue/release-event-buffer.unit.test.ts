import { EventEmitter } from "node:events";
import type { WASocket } from "baileys";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { releaseEventBuffer } from "./release-event-buffer.ts";

const END = "CB:ib,,offline";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A socket that has logged in, and the number of ends that Baileys has seen. */
function logIn() {
  const ws = Object.assign(new EventEmitter(), { isOpen: true });
  const authState = { creds: { accountSyncCounter: 1 } };
  releaseEventBuffer({ ws, authState } as unknown as WASocket, 300);
  let ends = 0;
  ws.on(END, () => ends++);
  ws.emit("CB:success");
  return { ws, countEnds: () => ends };
}

it("Baileys waits for the end of the offline queue for a limited time only", () => {
  const { countEnds } = logIn();
  vi.advanceTimersByTime(299);
  expect(countEnds()).toBe(0);
  vi.advanceTimersByTime(1);
  expect(countEnds()).toBe(1);
});

it("Baileys sees no second end when the network has reported one, or the connection is closed", () => {
  const { ws, countEnds } = logIn();
  ws.emit(END);
  const closed = logIn();
  closed.ws.isOpen = false;
  vi.advanceTimersByTime(1_000);
  expect([countEnds(), closed.countEnds()]).toEqual([1, 0]);
});
