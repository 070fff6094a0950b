import { createHash, randomBytes } from "node:crypto";
import { sql } from "kysely";
import type { Db, Trx } from "../../../platform/db/database.ts";

const SECRET = /^[\w-]{43}$/;
const LIFETIME_HOURS = 24;

/** A new link for a user: the secret at its end. Earlier ones remain valid, since each node prints its own. */
export async function createWelcomeLink(db: Db, user_id: number): Promise<string> {
  const secret = randomBytes(32).toString("base64url");
  await db.deleteFrom("welcome_link").where("expires_at", "<", sql<Date>`now()`).execute();
  await db
    .insertInto("welcome_link")
    .values({
      digest: digestOf(secret),
      user_id,
      expires_at: sql<Date>`now() + make_interval(hours => ${LIFETIME_HOURS})`,
    })
    .execute();
  return secret;
}

/** The user whose link has this secret, as long as the user has neither signed in nor set a password. */
export async function findWelcomedUser(db: Db | Trx, secret: string): Promise<number | undefined> {
  if (!SECRET.test(secret)) return undefined;
  const found = await db
    .selectFrom("welcome_link")
    .innerJoin("account_user", "account_user.id", "welcome_link.user_id")
    .select("account_user.id")
    .where("welcome_link.digest", "=", digestOf(secret))
    .where("welcome_link.expires_at", ">", sql<Date>`now()`)
    .where("account_user.awaits_owner", "=", true)
    .executeTakeFirst();
  return found?.id;
}

/** Ends the links of a user who has signed in or got another password. */
export async function endWelcome(db: Db | Trx, user_id: number): Promise<void> {
  await db
    .updateTable("account_user")
    .set({ awaits_owner: false, unseen_by: null })
    .where("id", "=", user_id)
    .where("awaits_owner", "=", true)
    .execute();
  await db.deleteFrom("welcome_link").where("user_id", "=", user_id).execute();
}

function digestOf(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}
