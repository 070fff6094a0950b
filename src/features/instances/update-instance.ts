import { sql } from "kysely";
import type { Db, Trx } from "../../platform/db/database.ts";
import type { InputOf } from "../../platform/http/route.ts";
import { encryptionContextOf, type SecretBox } from "../../platform/secrets/secret-box.ts";
import { type AuditActor, recordAudit } from "../audit/audit.ts";
import { changeStatus } from "./change-status.ts";
import type { instancesContract } from "./contract.ts";
import { addControlJob } from "./control-job-ref.ts";
import { instanceAuditEntry } from "./instance-audit-entry.ts";
import { type InstanceRow, lockInstance } from "./instance-row.ts";
import { readSettings, requireSettingsWithinPlan } from "./instance-settings.ts";
import { type OutgoingPolicy, requireAllowedProxyUrl } from "./require-allowed-urls.ts";

type UpdateInput = InputOf<typeof instancesContract.updateInstance>;

/** Changes only the given fields; reopens a live session if its proxy changes. Returns the lanes to wake. */
export async function updateInstance(
  { db, box, outgoing }: { db: Db; box: SecretBox; outgoing: OutgoingPolicy },
  input: UpdateInput,
  by: AuditActor,
): Promise<number[]> {
  const { id, name, webhook_enabled, metadata, proxy } = input;
  const context = encryptionContextOf("instance", "proxy", id);
  await requireAllowedProxyUrl(outgoing, proxy?.url);
  return db.transaction().execute(async (trx) => {
    const row = await lockInstance(trx, id);
    await requireSettingsWithinPlan(trx, row.account_id, input.settings);
    await trx
      .updateTable("instance")
      .set({
        name,
        webhook_enabled,
        metadata: metadata && JSON.stringify(metadata),
        ...(proxy !== undefined && { proxy: proxy && box.seal(proxy.url, context) }),
        settings: JSON.stringify(readSettings(row.settings, input)),
        updated_at: sql<Date>`now()`,
      })
      .where("id", "=", id)
      .execute();
    await recordAudit(trx, instanceAuditEntry(by, "instance.update", row, input));
    const before = row.proxy && box.open(row.proxy, context);
    const isMoved = proxy !== undefined && (proxy?.url ?? null) !== before;
    return isMoved && row.wanted === "connected" ? reopen(trx, row) : [];
  });
}

/** The pairing stays; a pairing in progress restarts. Must be the last of the transaction. */
async function reopen(trx: Trx, row: InstanceRow): Promise<number[]> {
  if (row.jid === null) {
    const phone = row.pairing_phone ?? undefined;
    await addControlJob(trx, row.lane, { do: "connect", phone, afresh: true });
    return [row.lane];
  }
  await addControlJob(trx, row.lane, { do: "reconnect" });
  const change = { status: "reconnecting", reason: "proxy_changed", will_retry: true } as const;
  return [row.lane, ...(await changeStatus(trx, row, change))];
}
