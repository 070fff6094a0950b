import { pino } from "pino";
import { describe, expect, it, test, vi } from "vitest";
import { FailureDetector, NODE_TIMING } from "./cluster/failure-detector.ts";
import {
  ALL_KEYS,
  channelOf,
  NOTIFY_CHANNEL,
  type Notice,
  NotificationBus,
} from "./cluster/notification-bus.ts";
import type { Lane } from "./lanes/lane-kind.ts";
import { retryUntilCommitted } from "./retry-until-committed.ts";

const lane: Lane = { id: 1, kind: "webhook", key: "1", epoch: 3 };

function failure(code: string): Error {
  return Object.assign(new Error("no"), { code });
}

/** Fails with these codes in order, and then works. */
function failing(...codes: string[]) {
  return vi.fn(async () => {
    const code = codes.shift();
    if (code !== undefined) throw failure(code);
    return "written";
  });
}

test.each([
  ["the disk of the database is full", "53100"],
  ["the database restarts", "57P01"],
  ["somebody else holds the row", "55P03"],
])("the result of a job is written as soon as possible while %s", async (_, code) => {
  const write = failing(code);
  expect(await retryUntilCommitted({ findOwnedLane: () => lane }, lane, write, 1)).toBe("written");
  expect(write).toHaveBeenCalledTimes(2);
});

test("a permanent error is thrown at once", async () => {
  const write = failing("23505");
  await expect(retryUntilCommitted({ findOwnedLane: () => lane }, lane, write)).rejects.toMatchObject({
    code: "23505",
  });
  expect(write).toHaveBeenCalledTimes(1);
});

test("a write is not retried once the lane has another owner", async () => {
  const write = failing("53100");
  await expect(retryUntilCommitted({ findOwnedLane: () => undefined }, lane, write)).rejects.toMatchObject({
    code: "53100",
  });
});

const other = (heartbeat: number, extra: object = {}) => ({
  id: "b",
  boot: 1,
  heartbeat,
  dead: false,
  roles: ["worker"],
  ...extra,
});

/** Polls every second with immediate responses. */
function watchFor(heartbeats: number[]): { watch: FailureDetector; suspects: string[][] } {
  const watch = new FailureDetector("a", 12_000);
  const suspects = heartbeats.map((heartbeat, second) =>
    watch.observe([other(heartbeat)], second * 1_000, second * 1_000).map((node) => node.id),
  );
  return { watch, suspects };
}

describe("the failure detector", () => {
  it("suspects a node whose heartbeat is unchanged for 12 s, and not before", () => {
    const { suspects } = watchFor([...Array(13).fill(7)]);
    expect(suspects.slice(0, 12).flat()).toEqual([]);
    expect(suspects[12]).toEqual(["b"]);
  });

  it("declares a death at the fourth poll after the first unchanged one, at any poll duration", () => {
    const { heartbeatMs, deadAfterMs, selfFenceMs } = NODE_TIMING;
    const watch = new FailureDetector("a", deadAfterMs);
    const look = (n: number) => watch.observe([other(7)], n * heartbeatMs, n * heartbeatMs + 900).length;
    expect([0, 1, 2, 3, 4].map(look)).toEqual([0, 0, 0, 0, 1]);
    expect(selfFenceMs + 1_500).toBeLessThan(deadAfterMs);
  });

  it("suspects no node whose heartbeat changes, whatever its clock shows", () => {
    expect(watchFor([5, 4, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 10, 10]).suspects.flat()).toEqual([]);
  });

  it("starts anew after a time in which polls failed", () => {
    const watch = new FailureDetector("a", 12_000);
    watch.observe([other(1)], 0, 0);
    expect(watch.observe([other(1)], 60_000, 60_000)).toEqual([]);
    for (const at of [63_000, 66_000, 69_000]) expect(watch.observe([other(1)], at, at)).toEqual([]);
    watch.reset();
    expect(watch.observe([other(1)], 72_000, 72_000)).toEqual([]);
  });

  it("counts until the sending of a poll, not until its late response", () => {
    const watch = new FailureDetector("a", 12_000);
    watch.observe([other(1)], 0, 0);
    watch.observe([other(1)], 5_000, 5_000);
    expect(watch.observe([other(1)], 10_000, 30_000)).toEqual([]);
  });

  it("treats a new boot with the same heartbeat as alive", () => {
    const watch = new FailureDetector("a", 12_000);
    for (const at of [0, 5_000, 10_000]) watch.observe([other(1)], at, at);
    expect(watch.observe([other(1, { boot: 2 })], 14_000, 14_000)).toEqual([]);
  });

  it("never suspects its own node or a node that is dead already", () => {
    const watch = new FailureDetector("a", 12_000);
    const rows = [other(1, { id: "a" }), other(1, { dead: true })];
    for (let at = 0; at <= 30_000; at += 3_000) expect(watch.observe(rows, at, at)).toEqual([]);
    expect(watch.dead()).toEqual(["b"]);
    expect(watch.alive(30_000)).toEqual([]);
  });

  it("knows which nodes are alive with which role", () => {
    const { watch } = watchFor([1, 2, 3]);
    expect(watch.alive(3_000)).toHaveLength(1);
    expect(watch.alive(3_000, "worker")).toHaveLength(1);
    expect(watch.alive(3_000, "sessions")).toEqual([]);
    expect(watch.alive(14_000, "worker")).toEqual([]);
  });
});

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
