import type { OperationResult } from "../../session-operations.ts";
import { toFailedResult } from "./operation-error.ts";

/** Less than the timeout of Baileys, which then treats silence as success. */
const RESPONSE_MS = 50_000;

/** The requests of one connection, which end with it: Baileys itself leaves open requests pending. */
export class PendingOperations {
  readonly #open = new Set<(reason: Error) => void>();
  #isOver = false;

  /** Waits for a response; an exception is the network's refusal or a missing response. */
  async run<Value>(question: () => Promise<Value>): Promise<OperationResult<Value>> {
    let giveUp: (reason: Error) => void = () => {};
    const end = new Promise<never>((_, reject) => {
      giveUp = reject;
    });
    const timer = setTimeout(giveUp, RESPONSE_MS, new Error("The network did not respond."));
    this.#open.add(giveUp);
    if (this.#isOver) giveUp(CLOSED);
    try {
      return { outcome: "done", value: await Promise.race([end, question()]) };
    } catch (error) {
      return toFailedResult(error);
    } finally {
      clearTimeout(timer);
      this.#open.delete(giveUp);
    }
  }

  rejectAll(): void {
    this.#isOver = true;
    for (const giveUp of this.#open) giveUp(CLOSED);
  }
}

const CLOSED = new Error("The connection ended before the network responded.");
