import type { JobResult } from "../../../../engine/engine.ts";
import { newChatsLocked, SEND_ERROR } from "../send-error.ts";
import { failSend, NOT_YET, retryIn, TRY_AGAIN_MS, waitForReceipt, withdrawSend } from "./end-send.ts";
import type { SendContext } from "./send-context.ts";
import { isRetriedImmediately, mayRetry } from "./send-retries.ts";

/** Lets a send go on, or says what happens to it instead. */
type HoldResult = "go_on" | JobResult;
type SendHold = (context: SendContext) => HoldResult | Promise<HoldResult>;

/**
 * What can hold a send before it is submitted, in this order. `submitSends` checks the rest, which needs its
 * locks: a lost lane, a passed deadline, a campaign that does not run.
 */
export const SEND_HOLDS: readonly SendHold[] = [
  holdUnknownOutcome,
  holdRestrictedAccount,
  holdNewChat,
  holdDisconnected,
  holdOpenCircuitBreaker,
  holdRequestedDelay,
  holdPauseBetweenSends,
];

/**
 * A send that may have reached the network waits for a receipt. Then the same id goes out again if the
 * instance allows it.
 */
function holdUnknownOutcome(context: SendContext): HoldResult | Promise<HoldResult> {
  const { deps, job, send } = context;
  if (send.submitted_at === null || isRetriedImmediately(job, send, deps)) return "go_on";
  const waitMs = deps.unknownOutcomeWaitMs - (send.unknown_outcome_ms ?? 0);
  if (waitMs > 0) return waitForReceipt(context, { wait_ms: waitMs });
  return mayRetry(job, send, deps) ? "go_on" : failSend(context, SEND_ERROR.unknownOutcome);
}

/** A campaign waits until its account is active again. */
function holdRestrictedAccount(context: SendContext): HoldResult | Promise<HoldResult> {
  const { is_restricted, origin } = context.send;
  if (!is_restricted) return "go_on";
  return origin === "campaign" ? withdrawSend(context) : failSend(context, SEND_ERROR.restricted);
}

function holdNewChat(context: SendContext): HoldResult | Promise<HoldResult> {
  const { locked_until } = context.send;
  return locked_until === null ? "go_on" : holdUntilUnlocked(context, locked_until);
}

/** A lock on new chats may be lifted before its time. */
const CHECK_LOCK_MS = 600_000;

/**
 * Handles a send that would begin a chat while the network rejects new chats. A campaign's send returns to
 * its campaign; an async send waits as long as it can be held; a sync caller gets the error at once.
 */
export function holdUntilUnlocked(context: SendContext, until: Date): JobResult | Promise<JobResult> {
  const { deps, send } = context;
  if (send.origin === "campaign") return withdrawSend(context);
  const forMs = until.getTime() - Date.now();
  // By the clock of the database the lock may last a moment longer.
  if (send.mode === "async" && forMs <= deps.sendHoldMs)
    return retryIn(Math.min(Math.max(forMs, TRY_AGAIN_MS), CHECK_LOCK_MS));
  return failSend(context, newChatsLocked(until));
}

function holdDisconnected({ session }: SendContext): HoldResult {
  return session ? "go_on" : retryIn(TRY_AGAIN_MS);
}

/** Sends of several chats do not reach the network: one send at a time tests it. */
function holdOpenCircuitBreaker({ deps, job, send }: SendContext): HoldResult {
  return deps.breakers.allows(job, send.breaker_open_ms) ? "go_on" : NOT_YET;
}

/** After this time the recipient's phone stops showing it. */
const TYPING_LASTS_MS = 10_000;

/** Shows typing for the delay that the request asked for. */
async function holdRequestedDelay(context: SendContext): Promise<HoldResult> {
  const { deps, send } = context;
  if (send.delay_ms === null) return "go_on";
  showTyping(context);
  const nowMs = Math.min(send.delay_ms, TYPING_LASTS_MS);
  const delay_ms = send.delay_ms > nowMs ? send.delay_ms - nowMs : null;
  await deps.db.updateTable("message").set({ delay_ms }).where("id", "=", send.id).execute();
  return retryIn(nowMs);
}

/** The throttle of the instance; shows typing during the last seconds. */
async function holdPauseBetweenSends(context: SendContext): Promise<HoldResult> {
  const { slot, send } = context;
  const range = { min: send.pace_min, max: send.pace_max, perMinute: send.per_minute };
  return (await slot.wait(range, () => showTyping(context))) ? "go_on" : NOT_YET;
}

function showTyping({ session, send }: SendContext): void {
  session?.setPresence?.("typing", send.jid).catch(() => {});
}
