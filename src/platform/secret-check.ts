import type { Db } from "./db.ts";
import type { SecretBox } from "./secret-box.ts";

/**
 * Throws unless the secrets in this database are sealed with the key of this box. The first start leaves a sealed word
 * behind, so that a wrong key is found at a start and not by the first delivery.
 */
export async function requireSecretKey(db: Db, box: SecretBox): Promise<void> {
  await db
    .insertInto("secret_check")
    .values({ sealed: box.seal("waygate") })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const { sealed } = await db.selectFrom("secret_check").select("sealed").executeTakeFirstOrThrow();
  box.open(sealed);
}
