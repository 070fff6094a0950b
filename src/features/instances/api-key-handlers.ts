import type { Db, Trx } from "../../platform/db/database.ts";
import type { Handlers } from "../../platform/http/handler.ts";
import type { OutputOf } from "../../platform/http/route.ts";
import { recordAudit } from "../audit/audit.ts";
import { maskApiKey } from "./api-key.ts";
import type { apiKeysContract } from "./contract.ts";
import { instanceAuditEntry } from "./instance-audit-entry.ts";
import { lockInstance, noInstance } from "./instance-row.ts";
import { rotateApiKey } from "./issue-api-key.ts";

export interface ApiKeyDeps {
  db: Db;
  /** Evicts the keys with these digests from the caches of all nodes. */
  invalidateApiKeys(digests: readonly Buffer[]): void;
}

type ApiKeyView = OutputOf<typeof apiKeysContract.getApiKey>;

/** The API key of an instance: its scope and its renewal. */
export function apiKeyHandlers({
  db,
  invalidateApiKeys,
}: ApiKeyDeps): Pick<Handlers<typeof apiKeysContract>, "getApiKey" | "updateApiKey" | "regenerateApiKey"> {
  return {
    getApiKey: ({ input }) => getApiKey(db, input.id),

    async updateApiKey({ input: { id, scope }, ...by }) {
      const { caller } = by;
      const changed = await db.transaction().execute(async (trx) => {
        if (caller.kind !== "user") throw noInstance();
        const row = await lockInstance(trx, id, caller.account_id);
        await recordAudit(trx, instanceAuditEntry(by, "instance.update_key", row, { scope }));
        return trx
          .updateTable("api_key")
          .set({ scope })
          .where("instance_id", "=", id)
          .returning("digest")
          .execute();
      });
      invalidateApiKeys(changed.map(({ digest }) => digest));
      return getApiKey(db, id);
    },

    async regenerateApiKey({ input: { id, grace_seconds }, ...by }) {
      const { api_key, ended } = await db.transaction().execute(async (trx) => {
        const row = await lockInstance(trx, id);
        await recordAudit(trx, instanceAuditEntry(by, "instance.regenerate_key", row));
        return rotateApiKey(trx, row, grace_seconds);
      });
      invalidateApiKeys(ended);
      return { id, api_key };
    },
  };
}

/** The newest key; an older one is only valid for its grace period. Throws NOT_FOUND. */
async function getApiKey(db: Db | Trx, id: number): Promise<ApiKeyView> {
  const key = await db
    .selectFrom("api_key")
    .select(["last4", "scope", "created_at", "last_used_at"])
    .where("instance_id", "=", id)
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirstOrThrow(noInstance);
  const { last4, ...rest } = key;
  return { id, token: maskApiKey(last4), ...rest };
}
