import { sql } from "kysely";
import { type AuditActor, recordAudit } from "../../core/audit/audit.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Db, Trx } from "../../platform/db/database.ts";
import { GatewayError } from "../../platform/gateway-error.ts";
import type { SendError } from "../../platform/send-reasons.ts";

const AT_ONCE = 500;

export type HeldJobsAction = "release" | "discard";

export interface HeldJobs {
  backup: string;
  backup_at: Date;
  restored_at: Date;
  action: HeldJobsAction | null;
  decided_at: Date | null;
  /** Jobs that are still on hold. */
  sends: number;
  deliveries: number;
  others: number;
}

interface HeldJob {
  id: number;
  kind: string;
  ref: { do?: string; message?: number; action?: number; delivery?: number; at?: string };
}

/** The jobs on hold after a restore; undefined if this database was not restored. */
export async function readHeldJobs(db: Db): Promise<HeldJobs | undefined> {
  const { rows } = await sql<HeldJobs>`
    select r.backup, r.backup_at, r.restored_at, r.action, r.decided_at, h.* from restore_record r, (
      select count(*) filter (where kind = 'session' and ref ->> 'do' = 'send') as sends,
        count(*) filter (where kind = 'webhook') as deliveries,
        count(*) filter (where kind <> 'webhook' and (kind = 'session' and ref ->> 'do' = 'send') is not true) as others
      from held_job) h`.execute(db);
  return rows[0];
}

/** Records the decision, which a worker node carries out. Throws CONFLICT if no job is on hold. */
export async function decideHeldJobs(db: Db, by: AuditActor, action: HeldJobsAction): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const { rows } = await sql<{ action: HeldJobsAction | null }>`
      select action from restore_record where exists (select from held_job) for update`.execute(trx);
    const [found] = rows;
    if (!found)
      throw new GatewayError("CONFLICT", "No job is on hold, so there is nothing to release or discard.");
    if (found.action !== null && found.action !== action) {
      throw new GatewayError(
        "CONFLICT",
        `The jobs on hold already have the decision ${found.action}, which is being carried out.`,
      );
    }
    await sql`update restore_record set action = ${action}, decided_at = coalesce(decided_at, now())`.execute(
      trx,
    );
    await recordAudit(trx, {
      by,
      action: `restored.${action}`,
      target: { type: "restored" },
      account_id: null,
    });
  });
}

export interface HeldJobsDeps {
  db: Db;
  engine: Pick<Engine, "wake">;
  /** How long a released send waits for its instance. */
  sendHoldMs: number;
  /** Fails a send, with its event and all other effects. */
  failSend(send: { id: number; instance_id: number }, error: SendError): Promise<void>;
}

/** Carries out the operator's decision in batches; continues after a crash. */
export async function applyHeldJobsDecision(deps: HeldJobsDeps): Promise<void> {
  const decided = await deps.db.selectFrom("restore_record").select("action").executeTakeFirst();
  if (!decided?.action) return;
  const step = decided.action === "release" ? releaseSome : discardSome;
  while (await step(deps));
}

/** Returns whether more jobs may be left. */
async function releaseSome({ db, engine, sendHoldMs }: HeldJobsDeps): Promise<boolean> {
  const lanes = await db.transaction().execute(async (trx) => {
    const jobs = await lockSome(trx);
    const ids = jobs.map(({ id }) => id);
    const deadline = sql`now() + ${sendHoldMs}::float8 * interval '1 millisecond'`;
    const laterDeadline = sql`greatest(send_at, now()) + ${sendHoldMs}::float8 * interval '1 millisecond'`;
    const { messages, actions } = pointedAt(jobs);
    await sql`
      update message set deadline = ${laterDeadline}
      where id in (select id from message where id = any(${messages}::bigint[]) and outcome_at is null
        order by id for update)`.execute(trx);
    await sql`update action set deadline = ${deadline} where id = any(${actions}::bigint[])`.execute(trx);
    const { rows } = await sql<{ lane: number }>`
      with back as (delete from held_job where id = any(${ids}::bigint[]) returning *)
      insert into job (lane, prio, pos, grp, run_at, attempts, max_attempts, ref)
      select lane, prio, pos, grp, case when kind = 'webhook' then now() else run_at end, attempts, max_attempts, ref
      from back order by id returning lane`.execute(trx);
    return rows.map(({ lane }) => lane);
  });
  engine.wake([...new Set(lanes)], { changed: true });
  return lanes.length > 0;
}

/** The error of a send that was discarded after a restore. */
export const DISCARDED: SendError = {
  code: "UNKNOWN_OUTCOME",
  reason: "discarded",
  params: {},
  message: "It was pending in the backup that the gateway was restored from, and an operator discarded it.",
  retryable: false,
};

async function discardSome({ db, failSend }: HeldJobsDeps): Promise<boolean> {
  const jobs = await selectSome(db).execute();
  const { messages, actions, deliveries } = pointedAt(jobs);
  // Sends come first: each fails in its own transaction with its event, and repeating it has no effect.
  const { rows: sends } = await sql<{ id: number; instance_id: number }>`
    select id, instance_id from message where id = any(${messages}::bigint[])`.execute(db);
  await Promise.all(sends.map((send) => failSend(send, DISCARDED)));
  await db.transaction().execute(async (trx) => {
    await sql`
      update action set outcome_at = now(), error = ${JSON.stringify(DISCARDED)}::jsonb
      where id = any(${actions}::bigint[]) and outcome_at is null`.execute(trx);
    await sql`
      update delivery d set status = 'discarded', next_retry_at = null, error = 'Discarded after a restore.',
        error_class = 'discarded'
      from jsonb_to_recordset(${JSON.stringify(deliveries)}::jsonb) as x (delivery bigint, at timestamptz)
      where d.id = x.delivery and d.created_at = x.at and d.status in ('pending', 'retrying', 'parked')`.execute(
      trx,
    );
    await sql`delete from held_job where id = any(${jobs.map(({ id }) => id)}::bigint[])`.execute(trx);
  });
  return jobs.length > 0;
}

function pointedAt(jobs: readonly HeldJob[]) {
  const ofSessions = jobs.filter(({ kind }) => kind === "session").map(({ ref }) => ref);
  return {
    messages: ofSessions.flatMap(({ message }) => message ?? []),
    actions: ofSessions.flatMap(({ action }) => action ?? []),
    deliveries: jobs
      .filter(({ kind }) => kind === "webhook")
      .map(({ ref: { delivery, at } }) => ({ delivery, at })),
  };
}

function selectSome(db: Db | Trx) {
  return db
    .selectFrom("held_job")
    .select(["id", "kind", "ref"])
    .orderBy("id")
    .limit(AT_ONCE)
    .$castTo<HeldJob>();
}

async function lockSome(trx: Trx): Promise<HeldJob[]> {
  return selectSome(trx).forUpdate().execute();
}
