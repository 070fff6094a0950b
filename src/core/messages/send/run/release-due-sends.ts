import { sql } from "kysely";
import type { Job, JobResult } from "../../../../engine/engine.ts";
import { lockOwnedLanes } from "../../../../engine/lane-store.ts";
import type { Db } from "../../../../platform/db/database.ts";
import { faultPoint } from "../../../../platform/fault-point.ts";
import { scheduledGroup } from "../insert-messages.ts";
import { SEND_ERROR } from "../send-error.ts";
import { loseLane, NOT_YET } from "./end-send.ts";
import type { SendContext, SendRunnerDeps } from "./send-context.ts";

const AT_ONCE = 500;

/** Whether this is the job of a send that waits for its time. */
export function isScheduled({ ref }: Pick<Job, "ref">): boolean {
  return (ref as { scheduled?: true }).scheduled === true;
}

/** Releases all due sends of the lane of a scheduled job. Those whose time to begin has passed fail instead. */
export async function releaseDueSends(deps: SendRunnerDeps, job: Job): Promise<JobResult> {
  const { db, engine, outcomes } = deps;
  const late = await release(db, engine.node.id, job);
  faultPoint("send:after-release");
  await Promise.all(
    late.map(({ id, job_id, instance_id }) =>
      outcomes.record({
        id,
        instance_id,
        status: "failed",
        at: new Date(),
        error: SEND_ERROR.notBegun,
        job: job_id,
        only_if_not_submitted: true,
      }),
    ),
  );
  return NOT_YET;
}

/** Schedules a send anew that has not begun; its time to begin stays as long as it was. */
export async function postponeSend({ deps, job, send }: SendContext, until: Date): Promise<JobResult> {
  const { db, engine } = deps;
  const { rows } = await sql`
    with owned as (${lockOwnedLanes(engine.node.id, [job.lane])}),
    postponed as (
      update message m set status = 'scheduled', send_at = ${until}, deadline = m.deadline + (${until} - now())
      from owned where m.id = ${send.id} and m.status = 'pending' and m.submitted_at is null
      returning m.id
    ), queued as (
      update job j set prio = 1, run_at = ${until}, grp = ${scheduledGroup(send.id)},
        ref = j.ref || '{"scheduled": true}'
      from postponed where j.id = ${job.id}
    )
    select from owned`.execute(db);
  return rows.length > 0 ? NOT_YET : loseLane({ deps, job });
}

interface LateSend {
  id: number;
  instance_id: number;
  job_id: number;
}

/**
 * Moves the jobs of due sends into their chats, in the order of their times and behind the sends that already wait
 * there. Returns those that are too late.
 */
async function release(db: Db, node: string, { id, lane }: Job): Promise<LateSend[]> {
  const { rows } = await sql<LateSend>`
    with owned as (${lockOwnedLanes(node, [lane])}),
    picked as materialized (
      select m.id, j.id as job_id, j.pos
      from owned o join job j on j.lane = o.id join message m on m.id = (j.ref ->> 'message')::bigint
      where j.prio = 1 and j.ref ? 'scheduled' and j.run_at <= now() and m.status = 'scheduled'
      order by j.run_at, j.pos limit ${AT_ONCE}
    ), due as materialized (
      select m.id, m.instance_id, m.jid, m.conversation_id, m.send_at, p.job_id, p.pos,
        coalesce(m.deadline <= now(), false) as is_late
      from message m join picked p on p.id = m.id
      where m.status = 'scheduled' and m.send_at <= now()
      order by m.id for update of m
    ), placed as materialized (
      select nextval('message_id_seq') as pos, d.id, d.jid, d.conversation_id, d.job_id
      from (select * from due where not is_late order by send_at, pos) d
    ), pending as (
      update message m set status = 'pending', sent_at = now(), queue_pos = p.pos from placed p where m.id = p.id
    ), queued as (
      update job j set grp = p.jid, pos = p.pos, ref = j.ref - 'scheduled' from placed p where j.id = p.job_id
    ), ended as (
      delete from job j using owned where j.id = ${id} and j.ref ? 'scheduled'
        and not exists (select from message m where m.id = (j.ref ->> 'message')::bigint and m.status = 'scheduled')
    ), chatted as (
      select id from conversation where id in (select conversation_id from placed) order by id for no key update
    ), risen as (
      update conversation set last_message_at = now() where id in (select id from chatted)
    )
    select id, instance_id, job_id from due where is_late`.execute(db);
  return rows;
}
