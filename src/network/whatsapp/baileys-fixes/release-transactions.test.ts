import { AsyncLocalStorage } from "node:async_hooks";
import { MessageRetryManager, proto } from "baileys";
import { afterEach, describe, expect, it, vi } from "vitest";
import { releaseTransactions } from "./release-transactions.ts";
import { silentBaileysLogger } from "./silent-baileys-logger.ts";

const transaction = new AsyncLocalStorage<string>();

describe("a message that Baileys keeps for resends", () => {
  afterEach(() => void vi.restoreAllMocks());

  it("does not keep the transaction that encrypted it", () => {
    const kept: (string | undefined)[] = [];
    const { setTimeout: set } = globalThis;
    vi.spyOn(globalThis, "setTimeout").mockImplementation(((...args: Parameters<typeof set>) => {
      kept.push(transaction.getStore());
      return set(...args);
    }) as typeof set);
    const recent = new MessageRetryManager(silentBaileysLogger, 5);
    releaseTransactions({ messageRetryManager: recent });

    const message = proto.Message.create({ conversation: "hello" });
    transaction.run("the session's keys", () => recent.addRecentMessage("to", "id", message));

    expect(recent.getRecentMessage("to", "id")?.message).toBe(message);
    expect(kept.length).toBeGreaterThan(0);
    expect(kept.every((store) => store === undefined)).toBe(true);
    recent.clear();
  });
});
