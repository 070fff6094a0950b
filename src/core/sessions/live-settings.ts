import type { Engine } from "../../engine/engine.ts";
import type { Db } from "../../platform/db/database.ts";
import { PREPARED_STATEMENT } from "../../platform/db/prepared-statement.ts";
import { createTtlCache } from "../../platform/ttl-cache.ts";
import { DEFAULT_SETTINGS } from "../instances/contract.ts";
import type { InstanceSettings } from "../instances/instances.ts";

const TTL_MS = 5_000;
const MOST_INSTANCES = 20_000;

/** Caches instance settings, which every message needs; a change applies at once, or within 5 s. */
export interface LiveSettings {
  get(instanceId: number): Promise<InstanceSettings>;
}

export function createLiveSettings(db: Db, engine: Pick<Engine, "subscribe">): LiveSettings {
  const known = createTtlCache({
    max: MOST_INSTANCES,
    ttlMs: TTL_MS,
    load: async (id) => {
      const query = db.selectFrom("instance").modifyFront(PREPARED_STATEMENT).select("settings");
      return (await query.where("id", "=", Number(id)).executeTakeFirst())?.settings;
    },
  });
  engine.subscribe("instance", (id) => known.delete(id));
  return {
    get: async (id) => ({ ...DEFAULT_SETTINGS, ...(await known.get(String(id))) }),
  };
}
