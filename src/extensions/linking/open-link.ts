import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { sql } from "kysely";
import { requireActiveAccount } from "../../core/accounts/accounts.ts";
import type { InstanceRow } from "../../core/instances/instances.ts";
import type { Db, Trx } from "../../platform/db/database.ts";
import { GatewayError } from "../../platform/gateway-error.ts";

/** Long enough to find the phone, short enough for a link that was sent in a chat. */
const LIFE_MS = 10 * 60_000;
const SECRET_BYTES = 32;
const SECRET = /^[A-Za-z0-9_-]{43}$/;

export interface OpenLink {
  instance_id: number;
  created_at: Date;
  expires_at: Date;
}

/** Replaces the instance's link and returns the token of the new one. Only the digest is stored. */
export async function createLink(
  trx: Trx,
  { id: instance_id, account_id }: Pick<InstanceRow, "id" | "account_id">,
): Promise<{ token: string; expires_at: Date }> {
  const token = newSecret();
  await sql`delete from instance_link where instance_id = ${instance_id}`.execute(trx);
  await sql`
    delete from instance_link where digest in (
      select digest from instance_link where expires_at < now() for update skip locked)`.execute(trx);
  const row = await trx
    .insertInto("instance_link")
    .values({
      digest: digest(token),
      account_id,
      instance_id,
      expires_at: sql<Date>`now() + ${LIFE_MS} * interval '1 millisecond'`,
    })
    .returning("expires_at")
    .executeTakeFirstOrThrow();
  return { token, expires_at: row.expires_at };
}

/** Binds a link to the first browser that opens it; returns the browser's secret. Throws like `getLink`. */
export async function bindLink(db: Db, token: string, browser: string | undefined): Promise<string> {
  const secret = browser !== undefined && SECRET.test(browser) ? browser : newSecret();
  await selectLink(db, token);
  const bound = await db
    .updateTable("instance_link")
    .set({ browser: digest(secret) })
    .where("digest", "=", digest(token))
    .where("browser", "is", null)
    .returning("instance_id")
    .executeTakeFirst();
  if (!bound) await getLink(db, token, secret);
  return secret;
}

/** Throws NOT_FOUND (expired, replaced), FORBIDDEN (other browser), ACCOUNT_RESTRICTED (inactive account). */
export async function getLink(db: Db, token: string, browser: string): Promise<OpenLink> {
  const { browser: bound, ...link } = await selectLink(db, token);
  if (bound && SECRET.test(browser) && timingSafeEqual(bound, digest(browser))) return link;
  throw new GatewayError(
    "FORBIDDEN",
    "This link was opened in another browser and works only there. Ask for a new link.",
  );
}

async function selectLink(db: Db, token: string) {
  const link = SECRET.test(token)
    ? await db
        .selectFrom("instance_link as link")
        .innerJoin("instance", "instance.id", "link.instance_id")
        .innerJoin("account", "account.id", "link.account_id")
        .select(["link.instance_id", "link.browser", "link.created_at", "link.expires_at", "account.status"])
        .where("link.digest", "=", digest(token))
        .where("link.expires_at", ">", sql<Date>`now()`)
        .where("instance.removed_at", "is", null)
        .executeTakeFirst()
    : undefined;
  if (link) {
    const { status, ...open } = link;
    requireActiveAccount(status);
    return open;
  }
  throw new GatewayError("NOT_FOUND", "This link is no longer valid. Ask for a new one.");
}

function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString("base64url");
}

function digest(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}
