import type { Db, Trx } from "../../platform/db/database.ts";
import { type EventDraft, recordEvents } from "../events/events.ts";
import type { InstanceRow } from "../instances/instances.ts";

/** Days before the refusal. */
const WARNINGS = [14, 7, 3, 1];
const INSTANCES_AT_ONCE = 200;

const MESSAGE =
  "WhatsApp will refuse the version of its web client with which this session logs in. The gateway uses a newer one as soon as it can read it from https://web.whatsapp.com; otherwise its operator must update Waygate or set WAYGATE_WHATSAPP_VERSION.";

type Target = Pick<InstanceRow, "id" | "phone" | "jid" | "status">;

/**
 * Reports `instance.attention` to each linked instance, once for each warning that is due, also after a crash. Returns
 * the lanes to wake.
 */
export async function warnOfExpiration(db: Db, revision: number): Promise<number[]> {
  const lanes: number[] = [];
  while (true) {
    const batch = await db.transaction().execute((trx) => warnBatch(trx, revision));
    if (!batch) return lanes;
    lanes.push(...batch);
  }
}

/** Undefined if no instance is left to warn. */
async function warnBatch(trx: Trx, revision: number): Promise<number[] | undefined> {
  const row = await trx
    .selectFrom("client_version")
    .select(["expires_at", "warned_days", "warned_instance_id"])
    .where("expires_revision", "=", revision)
    .where("expires_at", "is not", null)
    .forUpdate()
    .executeTakeFirst();
  const { expires_at } = row ?? {};
  const due = expires_at && findDueWarning(expires_at, Date.now());
  if (!row || !due) return undefined;
  const isNew = row.warned_days === null || due < row.warned_days;
  if (!isNew && row.warned_instance_id === null) return undefined;
  const after = isNew ? 0 : (row.warned_instance_id ?? 0);
  const instances = await findTargets(trx, after);
  const last = instances.length === INSTANCES_AT_ONCE ? (instances.at(-1)?.id ?? null) : null;
  await trx.updateTable("client_version").set({ warned_days: due, warned_instance_id: last }).execute();
  return recordEvents(
    trx,
    instances.map((instance) => toEvent(instance, expires_at)),
  );
}

/** The latest warning that is due, in days before the refusal. */
export function findDueWarning(expires_at: Date, now: number): number | undefined {
  const days = (expires_at.getTime() - now) / 86_400_000;
  return WARNINGS.filter((warning) => days <= warning).at(-1);
}

async function findTargets(trx: Trx, after: number): Promise<Target[]> {
  return trx
    .selectFrom("instance")
    .select(["id", "phone", "jid", "status"])
    .where("network", "=", "whatsapp")
    .where("jid", "is not", null)
    .where("removed_at", "is", null)
    .where("id", ">", after)
    .orderBy("id")
    .limit(INSTANCES_AT_ONCE)
    .execute();
}

function toEvent({ id, ...instance }: Target, expires_at: Date): EventDraft {
  const data = {
    code: "client_expiring",
    message: MESSAGE,
    since: new Date().toISOString(),
    ...instance,
    expires_at: expires_at.toISOString(),
  };
  return { event: "instance.attention", instance_id: id, chat: "instance", data };
}
