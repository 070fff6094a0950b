import { createRateLimitedWarnings, type RateLimitedWarningsOptions } from "../log/rate-limited-warnings.ts";

/** For whom a call goes out, as far as the caller knows. */
export interface Tenant {
  account_id?: number;
  instance_id?: number;
}

/** What was refused: the URL itself, an address behind its name, or the call by the egress proxy. */
export type BlockReason = "url" | "resolved" | "proxy";

export interface BlockedRequest extends Tenant {
  /** With the port that the URL names. The rest of the URL may be secret. */
  host: string;
  reason: BlockReason;
}

export type LogBlockedRequest = (call: BlockedRequest) => void;

/** Warns of outgoing calls that the policy refused, bounded per tenant. */
export function createBlockedRequestLog(
  options: Pick<RateLimitedWarningsOptions<BlockedRequest>, "log" | "clock">,
): LogBlockedRequest {
  return createRateLimitedWarnings({
    ...options,
    message: "an outgoing call was blocked",
    sourceOf: ({ account_id, instance_id }) => `${account_id}/${instance_id}`,
  });
}
