import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Jid } from "../../driver.ts";
import { lidJid, phoneJid } from "../../jid.ts";
import { ContactTokens, type StoredTokens } from "./contact-tokens.ts";

const ana = {
  jid: phoneJid("5511999990001"),
  lid: lidJid("990001"),
  phone: "5511999990001",
  push_name: null,
};

const given = {
  tag: "iq",
  attrs: {},
  content: [
    {
      tag: "tokens",
      attrs: {},
      content: [
        {
          tag: "token",
          attrs: { type: "trusted_contact", t: `${Math.floor(Date.now() / 1000)}` },
          content: Buffer.from("token"),
        },
      ],
    },
  ],
};

/** The tokens of an account without contacts; `respond` simulates the network. */
function createStory(respond: () => Promise<unknown>) {
  const stored: Record<string, StoredTokens> = {};
  const ws = { isOpen: true };
  const issuePrivacyTokens = vi.fn(respond);
  const trades = new Map<string, unknown>();
  const cache = {
    get: (key: string) => trades.get(key),
    set: (key: string, trade: unknown) => {
      // A second entry would outlive the first.
      expect(trades.has(key)).toBe(false);
      trades.set(key, trade);
    },
    del: (key: string) => trades.delete(key),
  };
  const tokens = new ContactTokens({
    sock: { ws, issuePrivacyTokens },
    keyStore: {
      get: async () => stored,
      set: async ({ tctoken }: { tctoken: typeof stored }) => Object.assign(stored, tctoken),
    },
    identities: { identify: async () => ana, isMe: () => false },
    facts: { contactTokenFor: () => Buffer.from("first") },
    caches: { createCache: () => cache },
  } as never);
  const nodes = async () => (await tokens.nodesFor(ana.lid as Jid)).map(({ tag }) => tag);
  const send = async () => {
    const sending = nodes();
    await vi.advanceTimersByTimeAsync(6_000);
    return sending;
  };
  return { nodes, send, ws, trades, asked: issuePrivacyTokens };
}

describe("a token that the network does not give", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it.each([
    ["no response", () => new Promise(() => {})],
    ["an error", () => Promise.reject(new Error("rate-overlimit"))],
  ])("after %s is asked for once in a while, and not at every message", async (_, respond) => {
    const { send, asked, trades } = createStory(respond);
    for (const _ of ["first", "second", "third"]) expect(await send()).toEqual(["cstoken"]);
    expect(asked).toHaveBeenCalledTimes(1);
    trades.clear();
    await send();
    expect(asked).toHaveBeenCalledTimes(2);
  });

  it("is asked for again once the connection that has ended is back", async () => {
    const { send, asked, ws } = createStory(() => new Promise(() => {}));
    ws.isOpen = false;
    await send();
    ws.isOpen = true;
    await send();
    expect(asked).toHaveBeenCalledTimes(2);
  });
});

it("messages that go out at once ask for the token of their recipient once", async () => {
  let respond: (response: unknown) => void = () => {};
  const { asked, nodes } = createStory(() => new Promise((resolve) => (respond = resolve)));
  const sending = Promise.all([nodes(), nodes()]);
  await vi.waitFor(() => expect(asked).toHaveBeenCalled());
  respond(given);
  // Baileys adds the token itself.
  expect(await sending).toEqual([[], []]);
  expect(asked).toHaveBeenCalledTimes(1);
});
