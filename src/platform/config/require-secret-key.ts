import type { Db } from "../db/database.ts";
import { encryptionContextOf, isUnbound, type SecretBox } from "../secrets/secret-box.ts";

const WORD = "waygate";
const PLACE = encryptionContextOf("secret_check", "sealed", 1);

/**
 * Throws unless the secrets in this database are sealed with the key of this box. The first start leaves a sealed word
 * behind, so that a wrong key is found at a start and not by the first delivery.
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

/**
 * Throws unless the box opens the word that the database keeps. A word of the older format says that other values may
 * still be of it: it is the last to be resealed.
 */
export function verifySecretCheck(box: SecretBox, sealed: Buffer): void {
  if (isUnbound(sealed)) box.acceptUnbound();
  if (box.open(sealed, PLACE) !== WORD) throw new Error("secret_check holds a value of another place.");
}
