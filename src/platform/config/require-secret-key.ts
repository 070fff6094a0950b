import type { Db } from "../db/database.ts";
import { encryptionContextOf, type SecretBox } from "../secrets/secret-box.ts";

const WORD = "waygate";
const PLACE = encryptionContextOf("secret_check", "sealed", 1);

/**
 * Throws unless this box has the key that sealed the secrets in this database. The first start stores a
 * sealed check value, so that a wrong key fails at start and not at the first delivery.
 */
export async function requireSecretKey(db: Db, box: SecretBox): Promise<void> {
  await db
    .insertInto("secret_check")
    .values({ sealed: box.seal(WORD, PLACE) })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const { sealed } = await db.selectFrom("secret_check").select("sealed").executeTakeFirstOrThrow();
  verifySecretCheck(box, sealed);
}

/** Throws unless the box opens the stored check value. */
export function verifySecretCheck(box: SecretBox, sealed: Buffer): void {
  box.open(sealed, PLACE);
}
