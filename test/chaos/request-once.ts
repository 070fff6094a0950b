import { setTimeout as delay } from "node:timers/promises";
import { createClient, WaygateError } from "../../src/client/client.ts";
import type { E2eStory, PairedInstance } from "../e2e/e2e-story.ts";
import type { ClientSend } from "../e2e/ledgers.ts";
import { type PlannedSend, sendOnce, toClientSend, toRefused } from "../e2e/send-history.ts";

const PAUSE_MS = 50;

/**
 * Clients without idempotency keys, which never retry because they read an error as a refusal. They send until
 * stopped.
 */
export function keepRequestingOnce(
  story: E2eStory,
  instance: PairedInstance,
  name: string,
): { stop(): Promise<ClientSend[]> } {
  const sends: ClientSend[] = [];
  let isOver = false;
  const asking = (async () => {
    for (let n = 0; !isOver; n++) {
      sends.push(await requestOnce(story, instance, { text: `${name}-${n}`, number: "5521955566667" }));
      await delay(PAUSE_MS);
    }
  })();
  return {
    async stop() {
      isOver = true;
      await asking;
      return sends;
    },
  };
}

async function requestOnce(
  story: E2eStory,
  instance: PairedInstance,
  planned: PlannedSend,
): Promise<ClientSend> {
  try {
    return toClientSend(await sendOnce(story, instance, planned));
  } catch (error) {
    const isRefusal = error instanceof WaygateError && error.status === 503;
    return { ...toRefused(planned), known: isRefusal ? "fail" : "unknown" };
  }
}

/** Keys of the production checks that /health reports as failed. */
export async function readBlockers(url: string): Promise<string[]> {
  const { production_blockers } = await createClient({ baseUrl: url }).health();
  return production_blockers.map(({ key }) => key);
}
