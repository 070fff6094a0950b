import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../test/database.ts";
import { insertAccount, insertInstance } from "../../../test/rows.ts";
import type { Lane } from "../../engine/engine.ts";
import type { NetworkDriver, NetworkEvent, OpenSessionOptions } from "../../network/driver.ts";
import { phoneJid } from "../../network/jid.ts";
import { createSecretBox } from "../../platform/secrets/secret-box.ts";
import { OwnedSessions } from "./owned-sessions.ts";

const EVENT: NetworkEvent = { type: "qr_expired" };
const ME = { jid: phoneJid("5511999990001"), phone: "5511999990001", lid: null, push_name: null };
const box = createSecretBox("k".repeat(43));

let database: TestDatabase;
let account_id: number;
let one: number;
let two: number;
let opened: OpenSessionOptions[];
let disconnected: OpenSessionOptions[];
let recorded: [number, NetworkEvent][];
let sessions: OwnedSessions;

beforeAll(async () => {
  database = await createTestDatabase();
  account_id = await insertAccount(database.database.db);
});
afterAll(() => database.drop());

beforeEach(async () => {
  [opened, disconnected, recorded] = [[], [], []];
  sessions = createSessions();
  const { db } = database.database;
  [one, two] = [await insertInstance(db, account_id), await insertInstance(db, account_id)];
  for (const id of [one, two]) expect(await sessions.claim(laneOf(String(id)))).toBe(true);
});

/** The sessions of a node that owns the lane of every instance. */
function createSessions(): OwnedSessions {
  const driver: NetworkDriver = {
    network: "sandbox",
    open(options) {
      opened.push(options);
      return {
        connect: () => undefined,
        disconnect: async () => void disconnected.push(options),
        logout: async () => undefined,
        send: async () => ({ outcome: "not_sent", reason: "test" }),
      };
    },
  };
  return new OwnedSessions({
    db: database.database.db,
    engine: {
      node: { id: "a", boot: 1 },
      isSafe: () => true,
      findOwnedLane: (_, key) => laneOf(key),
      limitToGroups: () => undefined,
    },
    box,
    drivers: [driver],
    findSent: async () => undefined,
    isNewChat: async () => false,
    findOriginal: async () => undefined,
    mayDelete: async () => false,
    findUnsupported: async () => [],
    recorder: {
      record: async ({ id }, event) => void recorded.push([id, event]),
      recordMessages: async () => true,
    },
    presence: { opened: () => undefined, connected: () => undefined },
    failStuckSendsSoon: async () => undefined,
  });
}

function laneOf(key: string): Lane {
  return { id: Number(key), kind: "session", key, epoch: 1 };
}

const open = (id: number) => sessions.open(id, "sandbox", { account_id });

describe("a node with the lanes of its instances", () => {
  it("opens one session per instance", () => {
    const session = open(one);
    expect([open(one), sessions.opened(one)]).toEqual([session, session]);
    const other = open(two);
    expect([opened.length, sessions.opened(one), sessions.opened(two)]).toEqual([2, session, other]);
  });

  it("records each event with its instance", async () => {
    open(two);
    await opened[0]?.report(EVENT);
    expect(recorded).toEqual([[two, EVENT]]);
  });

  it("rejects a late event of a closed session, so that the network redelivers it", async () => {
    open(one);
    await sessions.close(one);
    await expect(opened[0]?.report(EVENT)).rejects.toThrow("closed");
    open(one);
    await expect(opened[0]?.report(EVENT)).rejects.toThrow("closed");
    await opened[1]?.report(EVENT);
    expect(recorded).toHaveLength(1);
  });

  it("closes a session once, and no other session", async () => {
    open(one);
    const other = open(two);
    await sessions.close(one);
    await sessions.lose(laneOf(String(one)));
    expect(disconnected).toEqual([opened[0]]);
    expect([sessions.opened(one), sessions.opened(two)]).toEqual([undefined, other]);
  });

  it("uses only a session that is connected", async () => {
    const session = open(one);
    expect(sessions.connected(one)).toBeUndefined();
    await opened[0]?.report({ type: "connected", me: ME, platform: "android" });
    expect(sessions.connected(one)).toBe(session);
    await opened[0]?.report({ type: "disconnected", reason: "connection_lost", will_retry: true });
    expect([sessions.connected(one), sessions.opened(one)]).toEqual([undefined, session]);
  });

  it("knows only its configured networks", () => {
    expect(() => sessions.open(one, "whatsapp", { account_id })).toThrow("whatsapp");
    expect(sessions.opened(one)).toBeUndefined();
  });
});
