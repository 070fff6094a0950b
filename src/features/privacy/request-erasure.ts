import { type Selectable, sql } from "kysely";
import type { Engine } from "../../engine/engine.ts";
import { addJobs } from "../../engine/job-store.ts";
import { addLane } from "../../engine/lane-store.ts";
import type { Db, Trx } from "../../platform/db/database.ts";
import type { ErasureLogTable } from "../../tables.ts";
import { ACCOUNT_REMOVAL_SCOPE, repeatAccountRemoval } from "../accounts/accounts.ts";
import { type AuditActor, recordAudit } from "../audit/audit.ts";
import type { AnonymisationScope } from "./anonymisation.ts";
import { NUMBERED_TABLES } from "./anonymise-table-steps.ts";

/** The kind of the lane that runs requests, those of one account sequentially. */
export const PRIVACY_LANE = "privacy";

export interface ErasureRequest {
  account_id: number;
  scope: AnonymisationScope;
  /** Null: repeated after a restore. */
  user_id: number | null;
  ip: string | null;
  /** The last row of each table that it covers. */
  until: Record<string, number>;
}

/** Records the anonymisation and queues it; returns the request and the lane to wake after the commit. */
export async function queueErasure(trx: Trx, erasure: ErasureRequest): Promise<{ id: number; lane: number }> {
  const { account_id, scope, user_id, ip, until } = erasure;
  const { id } = await trx
    .insertInto("data_request")
    .values({
      account_id,
      scope,
      ip,
      request_type: "anonymize",
      requested_by: user_id,
      until: JSON.stringify(until),
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  const lane = await addLane(trx, PRIVACY_LANE, PRIVACY_LANE);
  await addJobs(trx, [{ lane, prio: 1, pos: id, grp: `account:${account_id}`, ref: { request: id } }]);
  return { id, lane };
}

/** A user's request: recorded in the log of erasures and in the audit log. */
export async function requestErasure(db: Db, erasure: Omit<ErasureRequest, "until">, by: AuditActor) {
  const { account_id, scope } = erasure;
  return db.transaction().execute(async (trx) => {
    const until = await readLastRows(trx);
    const queued = await queueErasure(trx, { ...erasure, until });
    await trx
      .insertInto("erasure_log")
      .values({ account_id, scope, subject: JSON.stringify({ request: queued.id, until }) })
      .execute();
    const target = { type: "data_request", id: queued.id };
    await recordAudit(trx, { by, action: "data.anonymize", target, account_id, fields: [scope] });
    return queued;
  });
}

/** The current last row of each table. */
export async function readLastRows(db: Db | Trx): Promise<Record<string, number>> {
  const last = NUMBERED_TABLES.map(
    (table) => sql`select ${sql.lit(table)} as name, coalesce(max(id), 0) as id from ${sql.table(table)}`,
  );
  const { rows } = await sql<{ name: string; id: number }>`${sql.join(last, sql` union all `)}`.execute(db);
  return Object.fromEntries(rows.map(({ name, id }) => [name, id]));
}

/** Repeats an earlier erasure, or the removal of an account, that a restored backup has brought back. */
export async function repeatErasure(
  db: Db,
  engine: Pick<Engine, "wake" | "publish" | "subscribe">,
  { account_id, scope, subject }: Pick<Selectable<ErasureLogTable>, "account_id" | "scope" | "subject">,
): Promise<void> {
  if (scope === ACCOUNT_REMOVAL_SCOPE) return repeatAccountRemoval({ db, engine }, account_id);
  const lane = await db.transaction().execute(async (trx) => {
    const account = await trx.selectFrom("account").select("id").where("id", "=", account_id).execute();
    if (account.length === 0) return undefined;
    const until = subject.until as Record<string, number>;
    return (
      await queueErasure(trx, {
        account_id,
        scope: scope as AnonymisationScope,
        user_id: null,
        ip: null,
        until,
      })
    ).lane;
  });
  if (lane !== undefined) engine.wake([lane]);
}
