import { type Selectable, sql } from "kysely";
import { ACCOUNT_REMOVAL_SCOPE, repeatAccountRemoval } from "../../core/accounts/accounts.ts";
import { type AuditActor, recordAudit } from "../../core/audit/audit.ts";
import type { ErasedPerson } from "../../core/personal-data/personal-data.ts";
import type { Engine } from "../../engine/engine.ts";
import { addJobs } from "../../engine/job-store.ts";
import { addLane } from "../../engine/lane-store.ts";
import type { Jid } from "../../network/driver.ts";
import type { Db, Trx } from "../../platform/db/database.ts";
import { invalidField } from "../../platform/gateway-error.ts";
import { wholeAccount } from "../../platform/reach.ts";
import type { ErasureLogTable } from "../../tables.ts";
import { getLead } from "../crm/crm.ts";
import type { AnonymisationScope } from "./anonymisation-scope.ts";
import { numberedTables } from "./anonymise-table-steps.ts";
import {
  findPerson,
  findPersonByRows,
  findRowsOfPerson,
  logErasure,
  type RowsOfPerson,
} from "./find-person.ts";
import { forgetMembers } from "./person-trace-steps.ts";

/** The kind of the lane that runs requests, those of one account sequentially. */
export const PRIVACY_LANE = "privacy";

export interface ErasureRequest {
  account_id: number;
  scope: AnonymisationScope;
  /** Only with the scope `person`. */
  person: ErasedPerson | null;
  /** Null: repeated after a restore. */
  user_id: number | null;
  ip: string | null;
  /** The last row of each table that it covers. */
  until: Record<string, number>;
}

/** Records the anonymisation and queues it; returns the request and the lane to wake after the commit. */
export async function queueErasure(trx: Trx, erasure: ErasureRequest): Promise<{ id: number; lane: number }> {
  const { account_id, scope, person, user_id, ip, until } = erasure;
  const { id } = await trx
    .insertInto("data_request")
    .values({
      account_id,
      scope,
      ip,
      person: person && JSON.stringify(person),
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

/** A user's request, of one person by an address or by a lead. */
export interface RequestedErasure extends Omit<ErasureRequest, "until" | "person"> {
  whom: { address: Jid } | { lead_id: number } | null;
}

/** Records the request also in the log of erasures and in the audit log. Throws NOT_FOUND for an unknown lead. */
export async function requestErasure(db: Db, { whom, ...erasure }: RequestedErasure, by: AuditActor) {
  const { account_id, scope } = erasure;
  return db.transaction().execute(async (trx) => {
    const until = await readLastRows(trx);
    const person = whom && (await findRequestedPerson(trx, account_id, whom));
    const queued = await queueErasure(trx, { ...erasure, person, until });
    const rows = person ? await findRowsOfPerson(trx, account_id, person) : undefined;
    await logErasure(trx, { account_id, scope, request: queued.id, until, rows });
    const target = { type: "data_request", id: queued.id };
    await recordAudit(trx, { by, action: "data.anonymize", target, account_id, fields: [scope] });
    return queued;
  });
}

/** Of an instance's own number every chat and every group has messages. */
async function findRequestedPerson(
  trx: Trx,
  account_id: number,
  whom: NonNullable<RequestedErasure["whom"]>,
): Promise<ErasedPerson> {
  const person = await findPerson(trx, account_id, await readGiven(trx, account_id, whom));
  const { rows } = await sql`
    select from instance where account_id = ${account_id} and removed_at is null
      and (phone = any(${person.addresses}::text[]) or jid = any(${person.addresses}::text[])
        or lid = any(${person.addresses}::text[])) limit 1`.execute(trx);
  if (rows.length > 0)
    throw invalidField(
      "number",
      "is the number of an instance of the account. Remove the instance instead",
      "is_your_own",
    );
  return person;
}

async function readGiven(
  trx: Trx,
  account_id: number,
  whom: NonNullable<RequestedErasure["whom"]>,
): Promise<ErasedPerson> {
  if ("address" in whom) return { addresses: [whom.address], leads: [] };
  const { id, phone, lid } = await getLead(trx, wholeAccount(account_id), whom.lead_id);
  return { addresses: [phone, lid].flatMap((address) => address ?? []), leads: [id] };
}

/** The current last row of each table. */
export async function readLastRows(db: Db | Trx): Promise<Record<string, number>> {
  const last = numberedTables().map(
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
    const rows = subject.rows as RowsOfPerson | undefined;
    const person = rows ? await findPersonByRows(trx, account_id, rows) : null;
    await forgetMembers(trx, account_id, rows?.group_chat ?? []);
    if (person && person.addresses.length + person.leads.length === 0) return undefined;
    const repeated = {
      account_id,
      scope: scope as AnonymisationScope,
      person,
      user_id: null,
      ip: null,
      until,
    };
    return (await queueErasure(trx, repeated)).lane;
  });
  if (lane !== undefined) engine.wake([lane]);
}
