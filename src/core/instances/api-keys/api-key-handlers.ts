import type { Db, Trx } from "../../../platform/db/database.ts";
import { GatewayError, invalidField } from "../../../platform/gateway-error.ts";
import type { Caller, Handlers } from "../../../platform/http/handler.ts";
import type { InputOf, OutputOf } from "../../../platform/http/route.ts";
import { recordAudit } from "../../audit/audit.ts";
import type { apiKeysContract } from "../contract.ts";
import { instanceAuditEntry } from "../instance-audit-entry.ts";
import { lockInstance, noInstance } from "../instance-row.ts";
import { maskApiKey } from "./api-key.ts";
import { findDescendants, type KeyRotation, rotateApiKey } from "./issue-api-key.ts";

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
        const row = await lockInstance(trx, id, caller);
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

    async regenerateApiKey({ input, ...by }) {
      const { id } = input;
      const rotation = readRotation(input, by.caller);
      const { api_key, ended, descendants } = await db.transaction().execute(async (trx) => {
        const row = await lockInstance(trx, id);
        await recordAudit(trx, instanceAuditEntry(by, "instance.regenerate_key", row, toAudited(input)));
        const rotated = await rotateApiKey(trx, row, rotation);
        return { ...rotated, descendants: (await findDescendants(trx, id, MOST_SHOWN)).newest };
      });
      invalidateApiKeys(ended);
      return { id, api_key, descendants, descendants_ended: rotation.endsDescendants };
    },
  };
}

const MOST_SHOWN = 100;
/** In seconds: the time in which people can react to a renewal with a key that was stolen. */
const SHORTEST_OVERLAP = 3_600;

type RotationInput = InputOf<typeof apiKeysContract.regenerateApiKey>;

/** Throws VALIDATION_ERROR or FORBIDDEN. */
function readRotation(
  { grace_seconds, leaked, end_descendants: endsDescendants = leaked }: RotationInput,
  caller: Caller,
): KeyRotation {
  const isByKey = caller.kind === "key";
  const graceSeconds = grace_seconds ?? (isByKey ? SHORTEST_OVERLAP : 0);
  if (leaked || endsDescendants) refuseKey(caller);
  if (isByKey && graceSeconds < SHORTEST_OVERLAP)
    throw invalidField(
      "grace_seconds",
      "must be 3600 or more if a key renews itself. Sign in to end it sooner",
      "too_low",
      { min: 3600 },
    );
  if (leaked && graceSeconds > 0)
    throw invalidField("grace_seconds", "must be 0 for a leaked key", "too_high", { max: 0 });
  return { graceSeconds, endsDescendants, isByKey, endsLinks: leaked };
}

/** Throws FORBIDDEN for a key. */
export function refuseKey({ kind }: Caller): void {
  if (kind === "key") throw new GatewayError("FORBIDDEN", "A key cannot end other keys. Sign in to do so.");
}

/** Only what was asked for. */
function toAudited({ leaked, end_descendants }: RotationInput) {
  return { leaked: leaked || undefined, end_descendants };
}

/** The newest key; an older one is only valid for its grace period. Throws NOT_FOUND. */
async function getApiKey(db: Db | Trx, id: number): Promise<ApiKeyView> {
  const key = await db
    .selectFrom("api_key")
    .select(["last4", "scope", "created_at", "last_used_at", "expires_at", "is_renewed_by_key"])
    .where("instance_id", "=", id)
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirstOrThrow(noInstance);
  const { last4, ...rest } = key;
  const { count } = await findDescendants(db, id, 1);
  return { id, token: maskApiKey(last4), ...rest, descendants: count };
}
