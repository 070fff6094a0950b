import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import type { Session } from "./driver.ts";
import type { Jid } from "./identity.ts";
import {
  createRemoteSession,
  type RemoteOperation,
  type RemoteOperationResult,
  runRemoteOperation,
} from "./remote-session.ts";

const BIA = "5511999990001@s.whatsapp.net" as Jid;

/** A session in "another process": calls go over as they would on the wire. */
function remoteOf(parts: Partial<Session>): ReturnType<typeof createRemoteSession> {
  return createRemoteSession(7, async ({ call, args }: RemoteOperation): Promise<RemoteOperationResult> => {
    const value = await runRemoteOperation(parts as Session, { call, args });
    return value instanceof Readable ? { outcome: "stream", body: value } : { outcome: "value", value };
  });
}

async function download(parts: Partial<Session>): Promise<{ end: string; bytes: Buffer }> {
  const pieces: Uint8Array[] = [];
  const end = await remoteOf(parts).downloadMedia?.("ref", (chunk) => void pieces.push(chunk));
  return { end: end ?? "", bytes: Buffer.concat(pieces) };
}

describe("a session of another process", () => {
  test("answers a call as the session does", async () => {
    const block = { outcome: "done", value: null } as const;
    const asked: unknown[] = [];
    const contacts = {
      setBlocked: async (...args: unknown[]) => {
        asked.push(...args);
        return block;
      },
    } as unknown as Session["contacts"];
    expect(await remoteOf({ contacts }).contacts?.setBlocked(BIA, true)).toEqual(block);
    expect(asked).toEqual([BIA, true]);
  });

  test("says what its network cannot do", async () => {
    expect(await remoteOf({}).groups?.list()).toMatchObject({ outcome: "refused", code: "NOT_SUPPORTED" });
    expect(await remoteOf({}).setPresence?.("typing", BIA)).toMatchObject({ code: "NOT_SUPPORTED" });
  });

  test("runs nothing that is no call", async () => {
    const session = { logout: () => expect.fail("was called"), contacts: {} } as unknown as Session;
    for (const call of ["logout", "contacts.constructor", "credentials.erase", "__proto__.x"]) {
      expect(await runRemoteOperation(session, { call, args: [] })).toMatchObject({ code: "NOT_SUPPORTED" });
    }
  });

  test("brings a file piece by piece, however slowly it is read", async () => {
    const file = Buffer.alloc(300_000, "ab");
    const { end, bytes } = await download({
      async downloadMedia(_ref, onChunk) {
        for (let at = 0; at < file.length; at += 70_000) await onChunk(file.subarray(at, at + 70_000));
        return "done";
      },
    });
    expect(end).toBe("done");
    expect(bytes.equals(file)).toBe(true);
  });

  test("tells of a file that is gone", async () => {
    expect((await download({ downloadMedia: async () => "gone" })).end).toBe("gone");
  });

  test("fails when the file breaks off", async () => {
    const broken = download({
      async downloadMedia(_ref, onChunk) {
        await onChunk(Buffer.from("half"));
        throw new Error("the hash is wrong");
      },
    });
    await expect(broken).rejects.toThrow("the hash is wrong");
  });

  test("is unreachable while its process is", async () => {
    const away = createRemoteSession(7, async () => ({ outcome: "unreachable", reason: "no answer" }));
    expect(await away.contacts?.blocked()).toEqual({ outcome: "unreachable", reason: "no answer" });
    await expect(away.downloadMedia?.("ref", () => {})).rejects.toThrow("no answer");
  });

  test("has perhaps done what its process did not answer", async () => {
    const torn = createRemoteSession(7, async () => ({ outcome: "unknown", reason: "cut" }));
    expect(await torn.contacts?.setBlocked(BIA, true)).toEqual({ outcome: "unknown", reason: "cut" });
    expect(await torn.setPresence?.("typing", BIA)).toEqual({ outcome: "unknown", reason: "cut" });
  });
});
