import { createHmac } from "node:crypto";
import type { Selectable } from "kysely";
import { loadSealedKey } from "../../platform/config/load-sealed-key.ts";
import type { Db, Trx } from "../../platform/db/database.ts";
import type { SecretBox } from "../../platform/secrets/secret-box.ts";
import type { AuditTable } from "../../tables.ts";

export type AuditRow = Selectable<AuditTable>;

export const GENESIS_HASH = Buffer.alloc(32);

/** The link over an entry and the previous link; it cannot be forged without the key. */
export function hashEntry(key: Buffer, before: Buffer, row: AuditRow): Buffer {
  const sealed = [row.id, row.account_id, row.actor, row.actor_id, row.credential_id, row.action];
  const rest = [row.target_type, row.target_id, row.fields, row.request_id, row.created_at.toISOString()];
  return createHmac("sha256", key)
    .update(before)
    .update(JSON.stringify([...sealed, ...rest]))
    .digest();
}

/** The key of this database's chain. */
export function loadAuditChainKey(db: Db | Trx, box: SecretBox): Promise<Buffer> {
  return loadSealedKey(db, box, "audit chain");
}
