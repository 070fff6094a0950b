import { verifyAudit } from "../../core/audit/verify-audit.ts";
import type { Env } from "../../platform/config/config.ts";
import { StartError } from "../../processes/start-error.ts";
import { withCommandContext } from "./command-database.ts";
import { startProgressPrinter } from "./progress-printer.ts";

/** Verifies that the audit log is unchanged. Throws StartError with the first broken entry. */
export async function runVerifyAuditCommand(env: Env, head: string | undefined): Promise<void> {
  if (head !== undefined && !/^[\da-f]{64}$/i.test(head))
    throw new StartError("--head must be the 64 hexadecimal digits that an earlier run printed.");
  const progress = startProgressPrinter();
  const onProgress = (links: number) => progress.advanceTo(links, "entries hold so far");
  const verification = await withCommandContext(env, ({ database: { db }, box }) =>
    verifyAudit(db, box, { head, onProgress }),
  );
  const { links, pending, broken } = verification;
  if (broken && broken.position === null && broken.audit_id === 0) {
    throw new StartError(
      "No entry of the audit log has this --head: it was mistyped, belongs to another gateway, or the end of the log was cut off.",
    );
  }
  if (broken) {
    const where = broken.position === null ? "" : ` at link ${broken.position}`;
    throw new StartError(`The audit log is broken${where}: entry ${broken.audit_id}: ${broken.reason}.`);
  }
  console.log(`The audit log is unchanged: ${links} entries verified, ${pending} not yet linked.`);
  console.log(
    `Head: ${verification.head}\nKeep it elsewhere. Pass it as --head later to find out whether the end was cut off.`,
  );
}
