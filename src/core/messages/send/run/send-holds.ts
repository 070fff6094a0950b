import type { JobResult } from "../../../../engine/engine.ts";
import { endOfQuietHours } from "../../../../platform/quiet-hours.ts";
import { newChatsLocked, SEND_ERROR } from "../send-error.ts";
import { failSend, NOT_YET, retryIn, TRY_AGAIN_MS, waitForReceipt, withdrawSend } from "./end-send.ts";
import { postponeSend } from "./release-due-sends.ts";
import type { SendContext } from "./send-context.ts";
import { isRetriedImmediately, mayRetry } from "./send-retries.ts";

/** Continues the send, or returns the result of the job instead. */
type HoldResult = "go_on" | JobResult;
type SendHold = (context: SendContext) => HoldResult | Promise<HoldResult>;

/**
 * The reasons to hold a send before its submission, in this order. `submitSends` checks those that need its
 * locks: a lost lane, a passed deadline, a campaign that does not run.
 */
export const SEND_HOLDS: readonly SendHold[] = [
  holdUnknownOutcome,
  holdRestrictedAccount,
  holdQuietHours,
  holdNewChat,
  holdDisconnected,
  holdOpenCircuitBreaker,
  holdRequestedDelay,
  holdPauseBetweenSends,
];

/** Waits for a receipt if the send may have gone out. Then sends the same id again if allowed. */
function holdUnknownOutcome(context: SendContext): HoldResult | Promise<HoldResult> {
  const { deps, job, send } = context;
  if (send.submitted_at === null || isRetriedImmediately(job, send, deps)) return "go_on";
  const waitMs = deps.unknownOutcomeWaitMs - (send.unknown_outcome_ms ?? 0);
  if (waitMs > 0) return waitForReceipt(context, { wait_ms: waitMs });
  return mayRetry(job, send, deps) ? "go_on" : failSend(context, SEND_ERROR.unknownOutcome);
}

/** A campaign's send waits until its account is active again. */
function holdRestrictedAccount(context: SendContext): HoldResult | Promise<HoldResult> {
  const { is_restricted, origin } = context.send;
  if (!is_restricted) return "go_on";
  return origin === "campaign" ? withdrawSend(context) : failSend(context, SEND_ERROR.restricted);
}

/** People wait for the replies of agents and bots, and campaigns have quiet hours of their own. */
const HELD_AT_NIGHT: ReadonlySet<string> = new Set(["api", "panel"]);

/** A queued send waits outside its chat until the quiet hours of the instance end. */
function holdQuietHours(context: SendContext): HoldResult | Promise<HoldResult> {
  const { mode, origin, submitted_at, quiet_hours, now_ms } = context.send;
  if (
    quiet_hours === null ||
    now_ms === null ||
    mode === "sync" ||
    submitted_at !== null ||
    !HELD_AT_NIGHT.has(origin)
  )
    return "go_on";
  const end = endOfQuietHours(quiet_hours, new Date(now_ms));
  return end === undefined ? "go_on" : postponeSend(context, end);
}

function holdNewChat(context: SendContext): HoldResult | Promise<HoldResult> {
  const { locked_until } = context.send;
  return locked_until === null ? "go_on" : holdUntilUnlocked(context, locked_until);
}

/** The network may lift a lock on new chats early. */
const CHECK_LOCK_MS = 600_000;

/**
 * Handles a send that would begin a chat while the network rejects new chats. A campaign's send returns to
 * its campaign, and an async send waits if it can be held until the lock ends. Other callers get the error at
 * once.
 */
export function holdUntilUnlocked(context: SendContext, until: Date): JobResult | Promise<JobResult> {
  const { deps, send } = context;
  if (send.origin === "campaign") return withdrawSend(context);
  const forMs = until.getTime() - Date.now();
  // The database's clock may end the lock a moment later.
  if (send.mode === "async" && forMs <= deps.sendHoldMs)
    return retryIn(Math.min(Math.max(forMs, TRY_AGAIN_MS), CHECK_LOCK_MS));
  return failSend(context, newChatsLocked(until));
}

function holdDisconnected({ session }: SendContext): HoldResult {
  return session ? "go_on" : retryIn(TRY_AGAIN_MS);
}

/** One send at a time tests whether sends reach the network again. */
function holdOpenCircuitBreaker({ deps, job, send }: SendContext): HoldResult {
  return deps.breakers.allows(job, send.breaker_open_ms) ? "go_on" : NOT_YET;
}

/** The recipient's phone stops showing it after this time. */
const TYPING_LASTS_MS = 10_000;

/** Shows typing for the requested delay. */
async function holdRequestedDelay(context: SendContext): Promise<HoldResult> {
  const { deps, send } = context;
  if (send.delay_ms === null) return "go_on";
  showTyping(context);
  const nowMs = Math.min(send.delay_ms, TYPING_LASTS_MS);
  const delay_ms = send.delay_ms > nowMs ? send.delay_ms - nowMs : null;
  await deps.db.updateTable("message").set({ delay_ms }).where("id", "=", send.id).execute();
  return retryIn(nowMs);
}

/** Waits for the instance's throttle, and shows typing during the last seconds. */
async function holdPauseBetweenSends(context: SendContext): Promise<HoldResult> {
  const { slot, send } = context;
  const range = { min: send.pace_min, max: send.pace_max, perMinute: send.per_minute };
  return (await slot.wait(range, () => showTyping(context))) ? "go_on" : NOT_YET;
}

function showTyping({ session, send }: SendContext): void {
  session?.setPresence?.("typing", send.jid).catch(() => {});
}
