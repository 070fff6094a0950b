import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Jid, NetworkEvent } from "../driver.ts";
import { phoneJid } from "../jid.ts";
import type { OperationResult } from "../session-operations.ts";
import { MOST_SUBSCRIPTIONS, PresenceSubscriptions } from "./presence-subscriptions.ts";

const MINUTE_MS = 60_000;
const ANA = phoneJid("5511988881001");
const LID = "100011999990056@lid" as Jid;

let reported: NetworkEvent[];
let asked: Jid[];
let response: OperationResult<null>;
let presences: PresenceSubscriptions;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date", "performance"] });
  [reported, asked, response] = [[], [], { outcome: "done", value: null }];
  presences = new PresenceSubscriptions({
    report: async (event) => void reported.push(event),
    async request(chat) {
      asked.push(chat);
      return response;
    },
  });
});
afterEach(() => void vi.useRealTimers());

const subscribe = (chat: Jid) => presences.operations.subscribe(chat);

/** Shows a presence; whether it was reported. */
async function isReported(presence: "typing" | "available", chat = ANA, lid: Jid | null = null) {
  const before = reported.length;
  const who = { jid: chat, lid, phone: null, push_name: null };
  await presences.report({
    type: "presence_changed",
    chat,
    who,
    presence,
    last_seen_at: null,
    at: new Date(),
  });
  return reported.length > before;
}

describe("a session that follows the presence of others", () => {
  test("ends each subscription after an hour, and begins it again on request", async () => {
    expect(await subscribe(ANA)).toMatchObject({
      value: { expires_at: new Date(Date.now() + 60 * MINUTE_MS) },
    });
    vi.advanceTimersByTime(59 * MINUTE_MS);
    expect(await isReported("available")).toBe(true);
    await subscribe(ANA);
    vi.advanceTimersByTime(59 * MINUTE_MS);
    expect(await isReported("available")).toBe(true);
    vi.advanceTimersByTime(MINUTE_MS);
    expect(await isReported("available")).toBe(false);
  });

  test("knows a person by either address", async () => {
    await subscribe(LID);
    expect(await isReported("typing", ANA, LID)).toBe(true);
    expect(await isReported("typing", ANA, null)).toBe(false);
  });

  test("refuses more chats than the limit until one ends, but extends those that it follows", async () => {
    const chats = Array.from({ length: MOST_SUBSCRIPTIONS }, (_, nth) => phoneJid(`55119888${10_000 + nth}`));
    for (const chat of chats) await subscribe(chat);
    vi.advanceTimersByTime(10 * MINUTE_MS);
    const more = phoneJid("5511977770001");
    expect(await subscribe(more)).toMatchObject({ code: "RATE_LIMITED", retry_after_seconds: 3_000 });
    expect(asked).not.toContain(more);
    expect(await subscribe(chats[0] ?? ANA)).toMatchObject({ outcome: "done" });
    vi.advanceTimersByTime(50 * MINUTE_MS);
    expect(await subscribe(more)).toMatchObject({ outcome: "done" });
  });

  test("keeps nothing of a request that the network refuses", async () => {
    response = { outcome: "failed", reason: "away" };
    expect(await subscribe(ANA)).toBe(response);
    expect(await isReported("available")).toBe(false);
  });

  test("asks the network again after each connection, until the pairing ends", async () => {
    await subscribe(ANA);
    const who = { jid: ANA, lid: null, phone: null, push_name: null };
    const connected: NetworkEvent = { type: "connected", me: who, platform: "test" };
    await presences.report(connected);
    expect(asked).toEqual([ANA, ANA]);
    await presences.report({ type: "logged_out", reason: "unlinked" });
    await presences.report(connected);
    expect(asked).toEqual([ANA, ANA]);
    expect(await isReported("available")).toBe(false);
  });

  test("reports no flood of changes", async () => {
    await subscribe(ANA);
    const results: boolean[] = [];
    for (let nth = 0; nth < 100; nth++) results.push(await isReported(nth % 2 ? "typing" : "available"));
    expect(results.filter(Boolean)).toHaveLength(60);
    vi.advanceTimersByTime(MINUTE_MS);
    expect(await isReported("available")).toBe(true);
  });
});
