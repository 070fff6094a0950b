import { GatewayError } from "../../platform/gateway-error.ts";

/** A user opens the page of a link in one tab or a few. */
const POLLS_PER_LINK = 5;
/** Many users of an office or a proxy share one address. */
const POLLS_PER_ADDRESS = 50;

export interface Poll {
  instance_id: number;
  ip: string;
}

/** Limits the requests that wait concurrently for a change of a link. Throws RATE_LIMITED above the limit. */
export function createPollLimit() {
  const open = new Map<string, number>();

  return async <Result>({ instance_id, ip }: Poll, wait: () => Promise<Result>): Promise<Result> => {
    const limits = [
      { key: `link ${instance_id}`, limit: POLLS_PER_LINK },
      { key: `address ${ip}`, limit: POLLS_PER_ADDRESS },
    ];
    for (const { key, limit } of limits) if ((open.get(key) ?? 0) >= limit) throw tooMany(limit);
    for (const { key } of limits) open.set(key, (open.get(key) ?? 0) + 1);
    try {
      return await wait();
    } finally {
      for (const { key } of limits) release(open, key);
    }
  };
}

function release(open: Map<string, number>, key: string): void {
  const left = (open.get(key) ?? 1) - 1;
  if (left > 0) open.set(key, left);
  else open.delete(key);
}

function tooMany(limit: number): GatewayError {
  return new GatewayError(
    "RATE_LIMITED",
    `${limit} requests are already waiting for a change. Close other tabs of this page, or try again later.`,
    { details: { limit }, retryAfterSeconds: 20 },
  );
}
