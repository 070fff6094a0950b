import type { Readable } from "node:stream";
import { GatewayError } from "../../gateway-error.ts";

const CHECK_AGAIN_MS = 5_000;

/** Responses that end only with the server, or as soon as their caller would be rejected. */
export interface LongLivedResponses {
  /** `check` rejects with a GatewayError if the caller has lost access. */
  add(stream: Readable, check: () => Promise<unknown>): void;
  closeAll(): void;
  count(): number;
}

export function createLongLivedResponses(): LongLivedResponses {
  const open = new Set<Readable>();
  return {
    add(stream, check) {
      open.add(stream);
      const timer = setInterval(() => void destroyWhenRefused(stream, check), CHECK_AGAIN_MS);
      stream.once("close", () => {
        clearInterval(timer);
        open.delete(stream);
      });
    },
    closeAll() {
      for (const stream of open) stream.destroy();
    },
    count: () => open.size,
  };
}

/** An unavailable database ends no response. */
async function destroyWhenRefused(stream: Readable, check: () => Promise<unknown>): Promise<void> {
  try {
    await check();
  } catch (error) {
    if (error instanceof GatewayError) stream.destroy();
  }
}
