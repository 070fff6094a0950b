import { describe, expect, test } from "vitest";
import type { Session } from "./driver.ts";
import type { Jid } from "./identity.ts";
import {
  createLocalSession,
  createRemoteSession,
  isPairingOperation,
  type RemoteOperation,
  type RemoteOperationResult,
  runRemoteOperation,
} from "./remote-session.ts";
import { SESSION_OPERATIONS } from "./session-operations.ts";

const BIA = "5511999990001@s.whatsapp.net" as Jid;

/** A session in another process, which receives operations as JSON. */
function remoteOf(parts: Partial<Session>): ReturnType<typeof createRemoteSession> {
  return createRemoteSession(
    7,
    async ({ name: call, args }: RemoteOperation): Promise<RemoteOperationResult> => {
      const arrived = JSON.parse(JSON.stringify(args));
      return {
        outcome: "value",
        value: await runRemoteOperation(parts as Session, { name: call, args: arrived }),
      };
    },
  );
}

/** A session that returns each operation's name and arguments. */
function echoing(): Partial<Session> {
  const echo =
    (name: string) =>
    async (...args: unknown[]) => ({ name, args });
  const groups = Object.entries(SESSION_OPERATIONS).map(([name, declared]) => [
    name,
    "during" in declared
      ? echo(name)
      : Object.fromEntries(Object.keys(declared).map((method) => [method, echo(`${name}.${method}`)])),
  ]);
  return Object.fromEntries(groups);
}

const NAMES = Object.entries(SESSION_OPERATIONS).flatMap(([name, declared]) =>
  "during" in declared ? [name] : Object.keys(declared).map((method) => `${name}.${method}`),
);

/** Calls an operation by its full name. */
function ask(session: object, name: string, ...args: unknown[]): Promise<unknown> {
  const path = name.split(".");
  const run = path.reduce((found: unknown, part) => (found as Record<string, unknown>)[part], session);
  return (run as (...args: unknown[]) => Promise<unknown>)(...args);
}

describe("a session of another process", () => {
  test("returns from an operation what the session returns", async () => {
    const block = { outcome: "done", value: null } as const;
    const asked: unknown[] = [];
    const contacts = {
      setBlocked: async (...args: unknown[]) => {
        asked.push(...args);
        return block;
      },
    } as unknown as Session["contacts"];
    expect(await remoteOf({ contacts }).contacts.setBlocked(BIA, true)).toEqual(block);
    expect(asked).toEqual([BIA, true]);
  });

  test.each(NAMES)("has the declared operation %s, with its arguments", async (name) => {
    const args = ["first", { second: 2 }];
    expect(await ask(remoteOf(echoing()), name, ...args)).toEqual({ name, args });
    expect(await ask(createLocalSession(echoing()), name, ...args)).toEqual({ name, args });
  });

  test.each(NAMES)("refuses %s with NOT_SUPPORTED if its network lacks it", async (name) => {
    const refused = { outcome: "refused", code: "NOT_SUPPORTED" };
    expect(await ask(remoteOf({}), name)).toMatchObject(refused);
    expect(await ask(createLocalSession({}), name)).toMatchObject(refused);
  });

  test("leaves out an optional argument that is absent, and keeps a null that has a meaning", async () => {
    const session = remoteOf(echoing());
    expect(await session.setPresence("available", undefined)).toEqual({
      name: "setPresence",
      args: ["available"],
    });
    expect(await session.profile.setPicture(null)).toEqual({ name: "profile.setPicture", args: [null] });
  });

  test("knows which operations a session in pairing allows", () => {
    expect(NAMES.filter(isPairingOperation)).toEqual([
      "passkey.submitAssertion",
      "passkey.confirm",
      "passkey.cancel",
    ]);
  });

  test("runs only declared operations", async () => {
    const session = { logout: () => expect.fail("was called"), contacts: {} } as unknown as Session;
    for (const call of [
      "logout",
      "contacts",
      "contacts.constructor",
      "downloadMedia",
      "credentials.erase",
      "__proto__.x",
    ]) {
      expect(await runRemoteOperation(session, { name: call, args: [] })).toMatchObject({
        code: "NOT_SUPPORTED",
      });
    }
  });

  test("is unreachable while its process is unreachable", async () => {
    const away = createRemoteSession(7, async () => ({ outcome: "unreachable", reason: "no answer" }));
    expect(await away.contacts.blocked()).toEqual({ outcome: "unreachable", reason: "no answer" });
    expect(await away.setPresence("typing", BIA)).toEqual({ outcome: "not_sent", reason: "no answer" });
  });

  test("reports an unknown outcome when its process does not respond", async () => {
    const torn = createRemoteSession(7, async () => ({ outcome: "unknown", reason: "cut" }));
    expect(await torn.contacts.setBlocked(BIA, true)).toEqual({ outcome: "unknown", reason: "cut" });
    expect(await torn.setPresence("typing", BIA)).toEqual({ outcome: "unknown", reason: "cut" });
  });
});
