import { GatewayError } from "../../platform/gateway-error.ts";
import { Semaphore } from "../../platform/limits/semaphore.ts";

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
  const links = new Semaphore({ limitPerKey: POLLS_PER_LINK });
  const addresses = new Semaphore({ limitPerKey: POLLS_PER_ADDRESS });

  return async <Result>({ instance_id, ip }: Poll, wait: () => Promise<Result>): Promise<Result> => {
    const ofLink = links.tryAcquire({ key: instance_id });
    if (!ofLink) throw tooMany(POLLS_PER_LINK);
    const ofAddress = addresses.tryAcquire({ key: ip });
    try {
      if (!ofAddress) throw tooMany(POLLS_PER_ADDRESS);
      return await wait();
    } finally {
      ofLink.release();
      ofAddress?.release();
    }
  };
}

function tooMany(limit: number): GatewayError {
  return new GatewayError(
    "RATE_LIMITED",
    `${limit} requests are already waiting for a change. Close other tabs of this page, or try again later.`,
    { details: { limit }, retryAfterSeconds: 20 },
  );
}
