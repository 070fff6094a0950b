import { sql } from "kysely";
import type { Db, Trx } from "../../platform/db/database.ts";
import type { SecretBox } from "../../platform/secrets/secret-box.ts";
import { type AuditRow, GENESIS_HASH, hashEntry, loadAuditChainKey } from "./audit-chain.ts";

const AT_ONCE = 1_000;

/**
 * Appends committed entries to the chain. An entry is linked when it is seen, so gaps in ids and the order of
 * commits do not matter, and writers never wait.
 */
export async function appendAuditChain(db: Db, box: SecretBox): Promise<void> {
  const key = await loadAuditChainKey(db, box);
  for (let sealed = AT_ONCE; sealed === AT_ONCE; ) {
    sealed = await db.transaction().execute((trx) => sealBatch(trx, key));
  }
}

async function sealBatch(trx: Trx, key: Buffer): Promise<number> {
  await sql`select pg_advisory_xact_lock(hashtext('waygate audit chain'))`.execute(trx);
  const rows: AuditRow[] = await trx
    .selectFrom("audit_pending")
    .innerJoin("audit", "audit.id", "audit_pending.audit_id")
    .selectAll("audit")
    .orderBy("audit.id")
    .limit(AT_ONCE)
    .execute();
  if (rows.length === 0) return 0;
  const head = await findHead(trx);
  let hash = head?.hash ?? GENESIS_HASH;
  let position = head?.position ?? 0;
  const links = rows.map((row) => {
    hash = hashEntry(key, hash, row);
    position += 1;
    return { position, audit_id: row.id, hash };
  });
  await trx.insertInto("audit_seal").values(links).execute();
  await trx
    .deleteFrom("audit_pending")
    .where(
      "audit_id",
      "in",
      rows.map(({ id }) => id),
    )
    .execute();
  return rows.length;
}

/** The last link; undefined while the chain is empty. */
function findHead(trx: Trx) {
  return trx
    .selectFrom("audit_seal")
    .select(["position", "hash"])
    .orderBy("position", "desc")
    .limit(1)
    .executeTakeFirst();
}
