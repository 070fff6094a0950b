import { sql } from "kysely";
import type { Db } from "../../platform/db/database.ts";
import { maskUrl } from "../../platform/outgoing/mask-url.ts";
import type { SecretBox } from "../../platform/secrets/secret-box.ts";
import { webhookEncryptionContext } from "./webhook-record.ts";

const ROWS_AT_ONCE = 500;

/**
 * Seals URLs that an earlier version stored in plain text, in batches, so that an interrupted start can
 * continue. A URL that changes meanwhile is sealed by that change.
 */
export async function sealAddresses(db: Db, box: SecretBox): Promise<void> {
  for (;;) {
    const rows = await db
      .selectFrom("webhook")
      .select(["id", "url"])
      .where("address", "is", null)
      .where("url", "!=", "")
      .orderBy("id")
      .limit(ROWS_AT_ONCE)
      .execute();
    if (rows.length === 0) return;
    const sealed = rows.map(({ id, url }) => box.seal(url, webhookEncryptionContext("address", id)));
    await sql`
      update webhook w set address = x.address, url = x.masked
      from unnest(${rows.map(({ id }) => id)}::bigint[], ${rows.map(({ url }) => url)}::text[],
        ${rows.map(({ url }) => maskUrl(url))}::text[], ${sealed}::bytea[]) as x (id, url, masked, address)
      where w.id = x.id and w.url = x.url and w.address is null`.execute(db);
  }
}
