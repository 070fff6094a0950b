import type { BinaryNode } from "baileys";
import type { MessageId, SendResult } from "../../driver.ts";
import { isLidJid } from "../../jid.ts";
import { parseTimestamp } from "../stanzas/stanza.ts";
import { messageRefusalOf } from "../wire/whatsapp-error.ts";

const NO_ACK: SendResult = {
  outcome: "unknown",
  reason: "The connection ended before the network responded.",
};

/**
 * The network does not let the account write to this person: it blocks new chats for a while, or it expects another
 * address or a token.
 */
const REACHOUT = "463";
/** Also for a LID to which the account cannot write. */
const NOT_UNDERSTOOD = "400";
/**
 * The network rejects the message as malformed, most likely because our list of the recipient's devices is
 * outdated.
 */
const MALFORMED = "479";

/** The network refuses the message, and may accept it for the person's other address. */
export interface Misaddressed {
  outcome: "misaddressed";
  refusal: SendResult;
}

export type AckResult = SendResult | Misaddressed;

export interface PendingAcksOptions {
  /** The end of the block of new chats; undefined if there is none. */
  lockedUntil(): Promise<Date | undefined>;
  isConnected(): boolean;
}

/** Messages that wait for the network's ack; Baileys itself is done as soon as they are written. */
export class PendingAcks {
  readonly #waiting = new Map<MessageId, Set<(result: AckResult) => void>>();
  readonly #lockedUntil: PendingAcksOptions["lockedUntil"];
  readonly #isConnected: PendingAcksOptions["isConnected"];

  constructor({ lockedUntil, isConnected }: PendingAcksOptions) {
    this.#lockedUntil = lockedUntil;
    this.#isConnected = isConnected;
  }

  /** Resolves with the network's ack of this id, or with an earlier result of `write`. */
  wait(id: MessageId, write: () => Promise<SendResult | undefined>): Promise<AckResult> {
    return new Promise((resolve) => {
      const finish = (result: AckResult): void => {
        waiting.delete(finish);
        if (waiting.size === 0 && this.#waiting.get(id) === waiting) this.#waiting.delete(id);
        resolve(result);
      };
      const waiting = this.#waiting.get(id) ?? new Set();
      this.#waiting.set(id, waiting.add(finish));
      write().then(
        (result) => result && finish(result),
        (error) => finish(sendFailureOf(error, this.#isConnected())),
      );
    });
  }

  async handleAck({ attrs }: BinaryNode): Promise<void> {
    const waiting = this.#waiting.get(attrs.id as MessageId);
    if (!waiting) return;
    const finishAll = [...waiting];
    const result = await this.#resultOf(attrs);
    for (const finish of finishAll) finish(result);
  }

  rejectAll(): void {
    for (const waiting of [...this.#waiting.values()]) for (const finish of [...waiting]) finish(NO_ACK);
  }

  async #resultOf({ t, error, from }: Record<string, string>): Promise<AckResult> {
    if (error === undefined) return { outcome: "accepted", at: parseTimestamp(t) };
    const until = error === REACHOUT ? await this.#lockedUntil() : undefined;
    if (until) return refuseNewChat(until);
    const retryable = error === MALFORMED;
    const refusal: SendResult = {
      outcome: "refused",
      code: "SEND_FAILED",
      ...messageRefusalOf(error),
      retryable,
    };
    const isMisaddressed = error === REACHOUT || (error === NOT_UNDERSTOOD && isLidJid(from ?? ""));
    return isMisaddressed ? { outcome: "misaddressed", refusal } : refusal;
  }
}

function refuseNewChat(until: Date): SendResult {
  return {
    outcome: "refused",
    code: "REACHOUT_TIMELOCK",
    why: "new_chats_locked",
    reason: "WhatsApp does not let this number start new chats for a while.",
    retryable: false,
    until,
  };
}

/** Baileys' code for a closed connection. */
const CLOSED = 428;

/**
 * A failure before the message is written is safe to retry; a socket error leaves the outcome unknown.
 * Without a connection, the failure is not caused by the message.
 */
export function sendFailureOf(error: unknown, isConnected = true): SendResult {
  const reason = error instanceof Error ? error.message : String(error);
  const { code, output } = (error ?? {}) as { code?: unknown; output?: { statusCode?: number } };
  if (typeof code === "string") return { outcome: "unknown", reason };
  const isOffline = !isConnected || output?.statusCode === CLOSED;
  return { outcome: "not_sent", reason, ...(isOffline && { is_offline: true }) };
}
