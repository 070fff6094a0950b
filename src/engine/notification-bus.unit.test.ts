import { pino } from "pino";
import { describe, expect, it } from "vitest";
import { ALL_KEYS, channelOf, NOTIFY_CHANNEL, type Notice, NotificationBus } from "./notification-bus.ts";

function createPair(hasAudience = true): { a: NotificationBus; b: NotificationBus; sent: Notice[] } {
  const sent: Notice[] = [];
  const log = pino({ level: "silent" });
  const b = new NotificationBus({
    node: "b",
    from: "b",
    send: async () => {},
    hasOtherNodes: () => true,
    log,
  });
  const a: NotificationBus = new NotificationBus({
    node: "a",
    from: "a",
    log,
    hasOtherNodes: () => hasAudience,
    async send(notices) {
      sent.push(...notices);
      for (const { channel, payload } of notices) {
        if (channel !== channelOf("b")) a.receiveNotification(payload);
        if (channel !== channelOf("a")) b.receiveNotification(payload);
      }
    },
  });
  return { a, b, sent };
}

function aboutOf(sent: readonly Notice[]) {
  return sent.map(({ payload }) => JSON.parse(payload).about);
}

function heardBy(notifications: NotificationBus, topic: string): string[] {
  const keys: string[] = [];
  notifications.subscribe(topic, (key) => keys.push(key));
  return keys;
}

describe("notifications", () => {
  it("reach the subscribers of their own node at once, and only once", async () => {
    const { a } = createPair();
    const keys = heardBy(a, "outcome");
    a.publish("outcome", "1");
    expect(keys).toEqual(["1"]);
    await a.flush();
    expect(keys).toEqual(["1"]);
  });

  it("that are published within 10 ms reach the other nodes in one notice", async () => {
    const { a, b, sent } = createPair();
    const outcomes = heardBy(b, "outcome");
    const events = heardBy(b, "event");
    for (const key of ["1", "2", "1"]) a.publish("outcome", key);
    a.publish("event", "x");
    await expect.poll(() => sent.length).toBe(1);
    expect([outcomes, events]).toEqual([["1", "2"], ["x"]]);
  });

  it("that concern one node go to its own channel, and those for this node to none", async () => {
    const { a, b, sent } = createPair();
    const keys = heardBy(b, "outcome");
    for (const [key, node] of [
      ["1", "b"],
      ["2", "a"],
      ["3", undefined],
      ["4", "b"],
    ] as const)
      a.publish("outcome", key, undefined, node);
    await a.flush();
    expect(sent.map(({ channel }) => channel)).toEqual([channelOf("b"), NOTIFY_CHANNEL]);
    expect(aboutOf(sent)).toEqual([[["outcome", ["1", "4"]]], [["outcome", ["3"]]]]);
    expect(keys).toEqual(["1", "4", "3"]);
  });

  it("gather while a notice is being sent, and leave together in the next one", async () => {
    const gates: (() => void)[] = [];
    const sent: Notice[] = [];
    const log = pino({ level: "silent" });
    const send = (notices: readonly Notice[]) => {
      sent.push(...notices);
      return new Promise<void>((resolve) => gates.push(resolve));
    };
    const slow = new NotificationBus({ node: "a", from: "a", send, hasOtherNodes: () => true, log });
    slow.publishToOtherNodes("outcome", "1");
    const first = slow.flush();
    for (const key of ["2", "3", "2"]) slow.publishToOtherNodes("outcome", key);
    const last = slow.flush();
    expect(sent.length).toBe(1);
    gates[0]?.();
    await first;
    await expect.poll(() => sent.length).toBe(2);
    gates[1]?.();
    await last;
    expect(aboutOf(sent)).toEqual([[["outcome", ["1"]]], [["outcome", ["2", "3"]]]]);
  });

  it("that arrive during a notice are sent by themselves after it, even when it was lost", async () => {
    const losses: ((error: Error) => void)[] = [];
    const sent: Notice[] = [];
    const slow = new NotificationBus({
      node: "a",
      from: "a",
      hasOtherNodes: () => true,
      log: pino({ level: "silent" }),
      send(notices) {
        sent.push(...notices);
        return new Promise<void>((_, reject) => losses.push(reject));
      },
    });
    slow.publishToOtherNodes("outcome", "1");
    await expect.poll(() => losses.length).toBe(1);
    slow.publishToOtherNodes("outcome", "2");
    losses[0]?.(new Error("lost"));
    await expect.poll(() => aboutOf(sent)).toEqual([[["outcome", ["1"]]], [["outcome", ["2"]]]]);
  });

  it("become one 'check everything' when they would not fit into a notice", async () => {
    const { a, b, sent } = createPair();
    const keys = heardBy(b, "outcome");
    for (let n = 0; n < 5_000; n++) a.publish("outcome", `message-${n}`);
    await a.flush();
    expect(keys).toEqual([ALL_KEYS]);
    expect(sent.map(({ payload }) => Buffer.byteLength(payload) < 8_000)).toEqual([true]);
  });

  it("are not sent when there is no other node", async () => {
    const { a, sent } = createPair(false);
    a.publish("outcome", "1");
    await a.flush();
    expect(sent).toEqual([]);
  });

  it("make every subscriber check everything when some notifications may have been missed", () => {
    const { b } = createPair();
    const keys = heardBy(b, "outcome");
    b.notifyAll();
    expect(keys).toEqual([ALL_KEYS]);
  });

  it("continue after malformed payloads and after subscribers that throw", () => {
    const { b } = createPair();
    b.subscribe("outcome", () => {
      throw new Error("a bug");
    });
    const keys = heardBy(b, "outcome");
    for (const payload of ["", "{", "null", '{"from":"x"}', '{"from":"x","about":[3]}'])
      b.receiveNotification(payload);
    b.receiveNotification(JSON.stringify({ from: "x", about: [["outcome", ["7"]]] }));
    expect(keys).toEqual(["7"]);
  });

  it("are no longer received after the subscription has ended", () => {
    const { a } = createPair();
    const keys: string[] = [];
    a.subscribe("outcome", (key) => keys.push(key))();
    a.publish("outcome", "1");
    expect(keys).toEqual([]);
  });
});
