import type { Db } from "../../platform/db/database.ts";
import { encryptionContextOf, type SecretBox } from "../../platform/secrets/secret-box.ts";
import { findDefaultWebhook } from "./find-webhook.ts";
import { openSecrets } from "./webhook-record.ts";

/** The signing secrets of an instance: the current one, and the previous one while it is valid. */
export async function readInstanceSecrets(
  db: Db,
  box: SecretBox,
  instance_id: number,
): Promise<[string, ...string[]]> {
  const { webhook_secret } = await db
    .selectFrom("instance")
    .select("webhook_secret")
    .where("id", "=", instance_id)
    .executeTakeFirstOrThrow();
  const secret = box.open(webhook_secret, encryptionContextOf("instance", "webhook_secret", instance_id));
  // The default webhook has the same secret and also stores the previous one.
  const row = await findDefaultWebhook(db, instance_id);
  const [current, ...previous] = row ? openSecrets(row, box) : [];
  return current === secret ? [secret, ...previous] : [secret];
}
