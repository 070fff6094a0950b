import { createRateLimitedWarnings, type RateLimitedWarningsOptions } from "../log/rate-limited-warnings.ts";

/** A rejected request for the operator's attention; `ip` is anonymised. */
export interface RejectedRequest {
  ip: string | undefined;
  method: string;
  route: string;
  status: number;
  code: string | undefined;
  request_id: string;
}

export type LogRejectedRequest = (refusal: RejectedRequest) => void;

export type RejectedRequestLogOptions = Pick<RateLimitedWarningsOptions<RejectedRequest>, "log" | "clock">;

/** Logs a warning for rejected credentials, rate-limited per network. */
export function createRejectedRequestLog(options: RejectedRequestLogOptions): LogRejectedRequest {
  return createRateLimitedWarnings({
    ...options,
    message: "a request was rejected",
    sourceOf: ({ ip }) => String(ip),
  });
}
