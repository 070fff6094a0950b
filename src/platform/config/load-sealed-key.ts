import { hkdfSync, randomBytes } from "node:crypto";
import type { Db, Trx } from "../db/database.ts";
import { encryptionContextOf, type SecretBox } from "../secrets/secret-box.ts";

/**
 * The named key of 32 bytes, generated on first use and stored sealed in the database. It survives a change
 * of the secret key, and so do the values marked with it.
 */
export async function loadSealedKey(db: Db | Trx, box: SecretBox, name: string): Promise<Buffer> {
  const found = await findSealed(db, name);
  return toKey(
    box.open(found ?? (await makeKey(db, box, name)), encryptionContextOf("sealed_key", "sealed", name)),
    name,
  );
}

async function makeKey(db: Db | Trx, box: SecretBox, name: string): Promise<Buffer> {
  const sealed = box.seal(
    randomBytes(32).toString("base64url"),
    encryptionContextOf("sealed_key", "sealed", name),
  );
  await db
    .insertInto("sealed_key")
    .values({ name, sealed })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const made = await findSealed(db, name);
  if (!made) throw new Error(`The key ${name} was created and could not be read back.`);
  return made;
}

async function findSealed(db: Db | Trx, name: string): Promise<Buffer | undefined> {
  const row = await db.selectFrom("sealed_key").select("sealed").where("name", "=", name).executeTakeFirst();
  return row?.sealed;
}

function toKey(text: string, name: string): Buffer {
  return Buffer.from(hkdfSync("sha256", text, "", `waygate ${name}`, 32));
}
