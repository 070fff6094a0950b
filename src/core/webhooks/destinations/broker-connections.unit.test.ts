import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ConnectTimeoutError, DeadlineError } from "../../../platform/outgoing/classify-fetch-failure.ts";
import {
  type BrokerConnection,
  BrokerConnections,
  type BrokerMessage,
  BrokerRefusal,
} from "./broker-connections.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const MESSAGE: BrokerMessage = {
  topic: "shop.1.message.received.chat",
  id: "evt_1",
  attemptId: "dlv_1",
  headers: {},
  body: Buffer.from("{}"),
};

class FakeConnection implements BrokerConnection {
  published = 0;
  closed = false;
  outcome: () => Promise<void> = async () => {};

  async publish(): Promise<void> {
    this.published += 1;
    await this.outcome();
  }

  isClosed(): boolean {
    return this.closed;
  }

  close(): void {
    this.closed = true;
  }
}

const NEVER = () => new Promise<never>(() => {});

/** Opens a new connection each time. */
function createOpener() {
  const opened: FakeConnection[] = [];
  const open = async () => {
    const connection = new FakeConnection();
    opened.push(connection);
    return connection;
  };
  return { opened, open };
}

describe("the connections to brokers", () => {
  test("share one for each key", async () => {
    const connections = new BrokerConnections();
    const { opened, open } = createOpener();
    const publish = (key: string) => connections.publish(key, open, MESSAGE, 1_000);
    await Promise.all([publish("a"), publish("a"), publish("b")]);
    await publish("a");
    expect(opened.map(({ published }) => published)).toEqual([3, 1]);
    connections.close();
    expect(opened.map(({ closed }) => closed)).toEqual([true, true]);
  });

  test("close one after a minute without use, and open another at the next use", async () => {
    const connections = new BrokerConnections();
    const { opened, open } = createOpener();
    await connections.publish("a", open, MESSAGE, 1_000);
    vi.advanceTimersByTime(59_000);
    expect(opened[0]?.closed).toBe(false);
    vi.advanceTimersByTime(1_000);
    expect(opened[0]?.closed).toBe(true);
    await connections.publish("a", open, MESSAGE, 1_000);
    expect(opened.map(({ published }) => published)).toEqual([1, 1]);
    connections.close();
  });

  test("are bounded: the one that waits longest for a use gives way, and without such a one a delivery fails", async () => {
    const connections = new BrokerConnections({ most: 2 });
    const { opened, open } = createOpener();
    const publish = (key: string) => connections.publish(key, open, MESSAGE, 60_000);
    await publish("a");
    await publish("b");
    await publish("a");
    await publish("c");
    expect(opened.map(({ closed }) => closed)).toEqual([false, true, false]);
    for (const connection of opened) connection.outcome = NEVER;
    const pending = [publish("a"), publish("c")].map((one) => one.catch(() => {}));
    await expect(publish("d")).rejects.toThrow(ConnectTimeoutError);
    connections.close();
    await vi.advanceTimersByTimeAsync(60_000);
    await Promise.all(pending);
  });

  test("keep one after a refusal, and use none again that lost a message or was lost itself", async () => {
    const connections = new BrokerConnections();
    const { opened, open } = createOpener();
    const publish = () => connections.publish("a", open, MESSAGE, 1_000);
    await publish();
    const fail = (error: Error) => {
      const last = opened.at(-1);
      if (last) last.outcome = () => Promise.reject(error);
    };
    fail(new BrokerRefusal("no stream"));
    await expect(publish()).rejects.toThrow("no stream");
    expect(opened).toHaveLength(1);
    fail(new Error("lost"));
    await expect(publish()).rejects.toThrow("lost");
    expect(opened[0]?.closed).toBe(true);
    await publish();
    opened[1]?.close();
    await publish();
    expect(opened).toHaveLength(3);
    connections.close();
  });

  test("give up a message at its deadline, and the connection with it", async () => {
    const connections = new BrokerConnections();
    const { opened, open } = createOpener();
    await connections.publish("a", open, MESSAGE, 1_000);
    for (const connection of opened) connection.outcome = NEVER;
    const failed = expect(connections.publish("a", open, MESSAGE, 1_000)).rejects.toThrow(DeadlineError);
    await vi.advanceTimersByTimeAsync(1_000);
    await failed;
    expect(opened[0]?.closed).toBe(true);
    connections.close();
  });

  test("abort an opening that takes too long, and close what it opens later", async () => {
    const connections = new BrokerConnections();
    const late = new FakeConnection();
    let finish = (_: BrokerConnection): void => {};
    let isAborted = false;
    const open = (signal: AbortSignal) => {
      signal.addEventListener("abort", () => {
        isAborted = true;
      });
      return new Promise<BrokerConnection>((resolve) => {
        finish = resolve;
      });
    };
    const failed = expect(connections.publish("a", open, MESSAGE, 60_000)).rejects.toThrow(
      ConnectTimeoutError,
    );
    await vi.advanceTimersByTimeAsync(5_000);
    await failed;
    expect(isAborted).toBe(true);
    finish(late);
    await vi.advanceTimersByTimeAsync(0);
    expect(late.closed).toBe(true);
    const { opened, open: again } = createOpener();
    await connections.publish("a", again, MESSAGE, 1_000);
    expect(opened).toHaveLength(1);
    connections.close();
  });

  test("open a new one after ten minutes, so that the name is resolved under the rules of that time", async () => {
    const connections = new BrokerConnections({ idleMs: 3_600_000 });
    const { opened, open } = createOpener();
    await connections.publish("a", open, MESSAGE, 1_000);
    vi.advanceTimersByTime(601_000);
    await connections.publish("a", open, MESSAGE, 1_000);
    expect(opened.map(({ closed }) => closed)).toEqual([true, false]);
    connections.close();
  });
});
