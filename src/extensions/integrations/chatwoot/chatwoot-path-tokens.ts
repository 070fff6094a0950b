import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { Engine } from "../../../engine/engine.ts";
import type { Db } from "../../../platform/db/database.ts";
import type { SecretBox } from "../../../platform/secrets/secret-box.ts";
import { createTtlCache } from "../../../platform/ttl-cache.ts";
import { openIntegration, selectIntegrations } from "../integration-row.ts";

export interface ChatwootPathTokensDeps {
  db: Db;
  box: SecretBox;
  engine: Pick<Engine, "publish" | "subscribe">;
}

/**
 * Digests of the tokens in the URLs that Chatwoot inboxes call, cached for at most 5 s; `invalidate` removes
 * one on all nodes.
 */
export interface ChatwootPathTokens {
  isKnown(instanceId: number): boolean;
  isValid(instanceId: number, token: string): Promise<boolean>;
  invalidate(instanceId: number): void;
}

const TTL_MS = 5_000;
const MOST_INSTANCES = 20_000;
const TOPIC = "chatwoot_token";
/** Matches no token: caches that there is none, so that guesses cause no load. */
const NONE = randomBytes(32);

export function createChatwootPathTokens({ db, box, engine }: ChatwootPathTokensDeps): ChatwootPathTokens {
  const digests = createTtlCache({ max: MOST_INSTANCES, ttlMs: TTL_MS, load });
  engine.subscribe(TOPIC, (instanceId) => digests.delete(instanceId));

  async function load(instanceId: string): Promise<Buffer> {
    const row = await selectIntegrations(db, Number(instanceId))
      .where("provider", "=", "chatwoot")
      .executeTakeFirst();
    const token = row && openIntegration(row, box).secrets.our_webhook_token;
    return token === undefined ? NONE : digestOf(token);
  }

  return {
    isKnown: (instanceId) => instanceId === 0 || digests.has(String(instanceId)),
    async isValid(instanceId, token) {
      const right = instanceId === 0 ? NONE : ((await digests.get(String(instanceId))) ?? NONE);
      return timingSafeEqual(digestOf(token), right);
    },
    invalidate(instanceId) {
      digests.delete(String(instanceId));
      engine.publish(TOPIC, String(instanceId));
    },
  };
}

function digestOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
