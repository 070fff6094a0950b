import { describe, expect, it } from "vitest";
import type { CredentialStore, NetworkDriver, NetworkEvent, OpenSessionOptions } from "./driver.ts";
import { createSessionRegistry } from "./session-registry.ts";

const EVENT: NetworkEvent = { type: "qr_expired" };
const NO_CREDENTIALS: CredentialStore = {
  load: async () => undefined,
  save: async () => undefined,
  erase: async () => undefined,
  loadRegistration: async () => undefined,
  saveRegistration: async () => undefined,
};

const OF_ACCOUNT = { account_id: 1 };

function setUp() {
  const opened: OpenSessionOptions[] = [];
  const disconnected: OpenSessionOptions[] = [];
  const reported: [number, NetworkEvent][] = [];
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
  const sessions = createSessionRegistry({
    drivers: [driver],
    credentials: () => NO_CREDENTIALS,
    report: async (instance, event) => void reported.push([instance, event]),
  });
  return { sessions, opened, disconnected, reported };
}

describe("the session registry", () => {
  it("opens one session per instance", () => {
    const { sessions, opened } = setUp();
    const session = sessions.open(1, "sandbox", OF_ACCOUNT);
    expect([sessions.open(1, "sandbox", OF_ACCOUNT), sessions.get(1)]).toEqual([session, session]);
    const other = sessions.open(2, "sandbox", OF_ACCOUNT);
    expect([opened.length, sessions.get(1), sessions.get(2)]).toEqual([2, session, other]);
  });

  it("reports each event with its instance", async () => {
    const { sessions, opened, reported } = setUp();
    sessions.open(7, "sandbox", OF_ACCOUNT);
    await opened[0]?.report(EVENT);
    expect(reported).toEqual([[7, EVENT]]);
  });

  it("rejects a late event of a closed session, so that the network redelivers it", async () => {
    const { sessions, opened, reported } = setUp();
    sessions.open(1, "sandbox", OF_ACCOUNT);
    await sessions.close(1);
    sessions.open(1, "sandbox", OF_ACCOUNT);
    await expect(opened[0]?.report(EVENT)).rejects.toThrow("closed");
    await opened[1]?.report(EVENT);
    expect(reported).toHaveLength(1);
  });

  it("closes a session once, and no other session", async () => {
    const { sessions, opened, disconnected } = setUp();
    sessions.open(1, "sandbox", OF_ACCOUNT);
    const other = sessions.open(2, "sandbox", OF_ACCOUNT);
    await sessions.close(1);
    await sessions.close(1);
    expect(disconnected).toEqual([opened[0]]);
    expect([sessions.get(1), sessions.get(2)]).toEqual([undefined, other]);
  });

  it("knows only its configured networks", () => {
    const { sessions } = setUp();
    expect(() => sessions.open(1, "whatsapp", OF_ACCOUNT)).toThrow("whatsapp");
    expect(sessions.get(1)).toBeUndefined();
  });
});
