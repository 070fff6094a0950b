import { recordAudit } from "../../core/audit/audit.ts";
import { rotateSecrets } from "../../core/secrets/rotate-secrets.ts";
import type { Env } from "../../platform/config/config.ts";
import { StartError } from "../../processes/start-error.ts";
import { COMMAND_ACTOR, withCommandContext } from "./command-database.ts";
import { startProgressPrinter } from "./progress-printer.ts";

/** Reseals every secret with WAYGATE_SECRET_KEY; the gateway may be running. */
export async function runRotateKeyCommand(env: Env): Promise<void> {
  const { resealed, key_id } = await withCommandContext(env, async ({ database: { db }, box }) => {
    const progress = startProgressPrinter();
    const report = (column: string, rows: number) =>
      progress.advanceBy(rows, `secrets looked at, in ${column}`);
    const rotation = await rotateSecrets(db, box, report).catch((error: unknown) => {
      throw new StartError(error instanceof Error ? error.message : String(error), { cause: error });
    });
    await db.transaction().execute((trx) =>
      recordAudit(trx, {
        by: COMMAND_ACTOR,
        action: "secret_key.rotate",
        target: { type: "secret_key", id: box.key_id },
        account_id: null,
      }),
    );
    return { ...rotation, key_id: box.key_id };
  });
  for (const [column, count] of Object.entries(resealed)) console.log(`${column}: ${count}`);
  console.log(`Every secret is now encrypted with the key ${key_id}.`);
  console.log("Remove WAYGATE_SECRET_KEY_SECOND when the sign-ins made with the old key have expired.");
}
