import { createRateLimitedWarnings, type RateLimitedWarningsOptions } from "../log/rate-limited-warnings.ts";

/** The account and instance of an outgoing request, as far as known. */
export interface Tenant {
  account_id?: number;
  instance_id?: number;
}

/** What was blocked: the URL itself, a resolved address, or the request at the egress proxy. */
export type BlockReason = "url" | "resolved" | "proxy";

export interface BlockedRequest extends Tenant {
  /** With the port of the URL. The rest of the URL may be secret. */
  host: string;
  reason: BlockReason;
}

export type LogBlockedRequest = (request: BlockedRequest) => void;

/** Logs a warning for outgoing requests that the policy blocked, rate-limited per tenant. */
export function createBlockedRequestLog(
  options: Pick<RateLimitedWarningsOptions<BlockedRequest>, "log" | "clock">,
): LogBlockedRequest {
  return createRateLimitedWarnings({
    ...options,
    message: "an outgoing request was blocked",
    sourceOf: ({ account_id, instance_id }) => `${account_id}/${instance_id}`,
  });
}
