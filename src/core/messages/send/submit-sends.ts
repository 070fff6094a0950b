import { sql } from "kysely";
import type { Job } from "../../../engine/engine.ts";
import { singleJobGroup } from "../../../engine/job-store.ts";
import { type LaneEpoch, lockOwnedLanes } from "../../../engine/lane-store.ts";
import type { Db } from "../../../platform/db/database.ts";
import { PREPARED_STATEMENT, rowCountHint } from "../../../platform/db/prepared-statement.ts";
import type { QuietHours } from "../../../platform/quiet-hours.ts";
import type { ConversationRef } from "../../contacts/contacts.ts";
import { statementHooks } from "../../statement-hooks.ts";
import type { MessageRow, StoredContent } from "../log/message-view.ts";
import { IS_NEW_CHAT_SQL } from "./new-chats.ts";

/** The data of a message that its send job reads. */
export interface SendRow
  extends Pick<
    MessageRow,
    | "id"
    | "account_id"
    | "instance_id"
    | "conversation_id"
    | "message_id"
    | "jid"
    | "origin"
    | "mode"
    | "submitted_at"
    | "outcome_at"
    | "delay_ms"
  > {
  content: StoredContent;
  on_unknown: "resend" | "fail";
  network: "whatsapp" | "sandbox";
  is_overdue: boolean;
  /** Its account is restricted from sending. */
  is_restricted: boolean;
  /** Time since the submission. */
  unknown_outcome_ms: number | null;
  /** The session has reconnected since the submission. */
  is_reconnected: boolean;
  /** Set if the message would begin a chat: until this time the network rejects it. */
  locked_until: Date | null;
  /** When the instance sends no async messages. */
  quiet_hours: QuietHours | null;
  /** With quiet hours: the time on the database's clock, in milliseconds since 1970. */
  now_ms: number | null;
  /** The pause between two sends of the instance, in milliseconds. */
  pace_min: number;
  pace_max: number;
  /** The instance's sends per minute, limited by its plan; null: not set. */
  per_minute: number | null;
  /** While the breaker is open: milliseconds until the next send; 0 or less: one send at a time. */
  breaker_open_ms: number | null;
  /** An async send that has waited for its longest time. */
  is_stale: boolean;
  /** The loading statement has just marked it as submitted. */
  has_begun: boolean;
  /** The address that replaces the accepted one. */
  to?: ConversationRef;
}

/** For an instance `i`. */
export const NETWORK_COLUMNS = sql`i.network, coalesce(i.settings ->> 'on_unknown', 'resend') as on_unknown`;

/** For a message `m`, its instance `i` and its account `a`: what may hold the send. */
export const HOLD_COLUMNS = sql`
        account_state(a) not in ('active', 'trial') as is_restricted,
        -- Reads the history of the chat only while new chats are locked.
        case when i.new_chats_locked_until > now() and ${IS_NEW_CHAT_SQL}
          then i.new_chats_locked_until end as locked_until,
        case when i.send_pauses > 0
          then (extract(epoch from i.sends_paused_until - now()) * 1000)::float8 end as breaker_open_ms,
        nullif(i.settings -> 'quiet_hours', 'null') as quiet_hours,
        case when nullif(i.settings -> 'quiet_hours', 'null') is not null
          then (extract(epoch from now()) * 1000)::float8 end as now_ms,
        coalesce((i.settings ->> 'send_delay_min_ms')::int, 0) as pace_min,
        coalesce((i.settings ->> 'send_delay_max_ms')::int, 0) as pace_max,
        case when i.settings ->> 'messages_per_minute' is not null
          then least((i.settings ->> 'messages_per_minute')::int,
            (select message_rate_limit_per_minute from plan where id = a.plan_id)) end as per_minute`;

/** For a message `m` with these columns in `p`: a simple send, which meets none of the `SEND_HOLDS`. */
export const IS_UNHELD = sql`(m.origin <> 'campaign' and m.delay_ms is null and m.content ->> 'kind' <> 'media'
        and not p.is_restricted and p.locked_until is null and p.breaker_open_ms is null and p.pace_max <= 0
        and (p.quiet_hours is null or m.mode = 'sync')
        and p.per_minute is null)`;

/** A send whose job is claimed. */
export interface ClaimedSend {
  id: number;
  lane: LaneEpoch;
  /** Its session is connected, and its address is the accepted one. */
  may_submit: boolean;
}

/**
 * Loads the sends of the jobs in their order; undefined for a deleted one. The same statement marks simple
 * sends, which meet none of the `SEND_HOLDS`, as submitted, and returns their state before that.
 */
export async function loadAndSubmitSends(
  db: Db,
  node: string,
  holdMs: number,
  claimed: ClaimedSend[],
): Promise<(SendRow | undefined)[]> {
  const lanes = [...new Map(claimed.map(({ lane }) => [lane.id, lane])).values()];
  const ids = claimed.map(({ id }) => id);
  const { rows } = await sql<SendRow>`${PREPARED_STATEMENT}
    with input as (
      select * from unnest(${ids}::bigint[], ${claimed.map(({ lane }) => lane.id)}::bigint[],
        ${claimed.map(({ may_submit }) => may_submit)}::boolean[]) as x (id, lane, may_submit)
      ${rowCountHint(claimed)}
    ), owned as (${lockOwnedLanes(node, lanes)}),
    loaded as materialized (
      select m.id, m.account_id, m.instance_id, m.conversation_id, m.message_id, m.jid, m.origin, m.mode, m.content,
        m.submitted_at, m.outcome_at, m.delay_ms, ${NETWORK_COLUMNS},
        coalesce(${sendDeadlineSql(holdMs)} < now(), false) as is_overdue,
        (extract(epoch from now() - m.submitted_at) * 1000)::float8 as unknown_outcome_ms,
        coalesce(i.connected_at > m.submitted_at, false) as is_reconnected,
        m.origin <> 'campaign' and greatest(m.created_at, m.send_at) < now() - ${holdMs} * interval '1 millisecond' as is_stale,
        ${HOLD_COLUMNS}
      from message m join instance i on i.id = m.instance_id join account a on a.id = i.account_id
      where m.id in (select id from input)
    ), begun as (
      update message m set submitted_at = now(), deadline = ${deadlineOf(holdMs)}
      from input x join owned o on o.id = x.lane join loaded p on p.id = x.id
      where m.id = x.id and x.may_submit and m.submitted_at is null and ${isOpen} and ${IS_UNHELD}
      returning m.id
    )
    select p.*, b.id is not null as has_begun from loaded p left join begun b on b.id = p.id`.execute(db);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => byId.get(id));
}

/**
 * For a message `m`: the end of its attempts. A sync send must begin before its caller's timeout; once it has
 * begun, it has as much time as an async one.
 */
export function sendDeadlineSql(holdMs: number) {
  return sql<Date>`case when m.mode = 'sync' and m.submitted_at is not null
    then m.deadline + ${holdMs} * interval '1 millisecond' else m.deadline end`;
}

/** How long an async send may wait for its acknowledgement after its submission. */
function deadlineOf(holdMs: number) {
  return sql`case when m.mode = 'async' and m.submitted_at is null
    then now() + ${holdMs} * interval '1 millisecond' else m.deadline end`;
}

/** For a message `m`: it may be sent. After its deadline a sync send may not begin, only be retried. */
const isOpen = sql`(m.status = 'pending' and m.outcome_at is null
  and (m.mode = 'async' or m.submitted_at is not null or m.deadline > now()))`;

export interface SendSubmission {
  id: number;
  lane: LaneEpoch;
  to?: ConversationRef;
}

/** `withheld`: what decides about messages of campaigns does not allow it. */
export type SendSubmissionResult = "submitted" | "too_late" | "withheld" | "lane_lost";

/**
 * Marks sends as submitted just before they go out, fenced by their lanes. From then on an async send has
 * until its deadline to be confirmed. A sync send does not begin after its deadline. The send
 * guard decides about messages of campaigns; without one, none is submitted.
 */
export async function submitSends(
  db: Db,
  node: string,
  holdMs: number,
  submissions: SendSubmission[],
): Promise<SendSubmissionResult[]> {
  const lanes = [...new Map(submissions.map(({ lane }) => [lane.id, lane])).values()];
  const ids = submissions.map(({ id }) => id);
  const laneIds = submissions.map(({ lane }) => lane.id);
  const jids = submissions.map(({ to }) => to?.jid ?? null);
  const chats = submissions.map(({ to }) => to?.id ?? null);
  const { sendGuard } = statementHooks();
  const { rows } = await sql<{
    id: number;
    is_owned: boolean;
    is_submitted: boolean;
    is_withheld: boolean;
  }>`${PREPARED_STATEMENT}
    with input as (
      select * from unnest(${ids}::bigint[], ${laneIds}::bigint[], ${jids}::text[], ${chats}::bigint[])
        as x (id, lane, jid, chat)
      ${rowCountHint(submissions)}
    ), owned as (${lockOwnedLanes(node, lanes)}),
    ${sendGuard ? sql`guarded as materialized (${sendGuard.lock}),` : sql``}
    marked as (
      update message m set submitted_at = now(), jid = coalesce(x.jid, m.jid),
        conversation_id = coalesce(x.chat, m.conversation_id),
        deadline = ${deadlineOf(holdMs)}
      from input x join owned o on o.id = x.lane
      where m.id = x.id and ${isOpen}
        and (m.origin <> 'campaign' ${sendGuard ? sql`or ${sendGuard.allows(sql`coalesce(x.jid, m.jid)`)}` : sql``})
      returning m.id
    )
    select x.id, o.id is not null as is_owned, k.id is not null as is_submitted,
      k.id is null and m.origin = 'campaign' as is_withheld
    from input x left join owned o on o.id = x.lane left join marked k on k.id = x.id
      left join message m on m.id = x.id and m.outcome_at is null`.execute(db);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return submissions.map(({ id }) => {
    const row = byId.get(id);
    if (!row?.is_owned) return "lane_lost";
    if (row.is_withheld) return "withheld";
    return row.is_submitted ? "submitted" : "too_late";
  });
}

/** Clears submitted_at: the message never reached the network. Does nothing if the lane was lost. */
export async function clearSubmitted(db: Db, node: string, lane: LaneEpoch, id: number): Promise<void> {
  await sql`
    with owned as (${lockOwnedLanes(node, [lane])})
    update message set submitted_at = null from owned where message.id = ${id} and outcome_at is null`.execute(
    db,
  );
}

/** An attempt that did not reach the network although the session is connected. */
export interface FailedSendAttempt {
  message: number;
  /** An earlier attempt has an unknown outcome, which this attempt does not change. */
  is_outcome_unknown: boolean;
  /** Including this one. */
  attempts: number;
  /** Undefined: the send has no further attempt. */
  wait_ms: number | undefined;
}

/**
 * Schedules the next attempt and stores the number of attempts in the job; a sync send waits until its
 * deadline at most. False: the lane is lost.
 */
export async function waitForRetry(
  db: Db,
  node: string,
  job: Job,
  failed: FailedSendAttempt,
): Promise<boolean> {
  const { message, is_outcome_unknown, attempts, wait_ms = 0 } = failed;
  const { rows } = await sql`
    with owned as (${lockOwnedLanes(node, [job.lane])}),
    withdrawn as (
      update message m set submitted_at = case when ${is_outcome_unknown} then m.submitted_at end
      from owned where m.id = ${message} and m.outcome_at is null
      -- The waiting caller times out first, and gets the response that nothing was sent.
      returning case when m.mode = 'sync' and m.submitted_at is null then m.deadline + interval '1 second' end as latest
    )
    update job set attempts = attempts + 1, ref = ref || jsonb_build_object('tries', ${attempts}::int),
      run_at = case when exists (select from withdrawn)
        then least(now() + ${wait_ms} * interval '1 millisecond', (select latest from withdrawn)) else now() end
    from owned where job.id = ${job.id}
    returning job.id`.execute(db);
  return rows.length > 0;
}

export interface UnknownOutcome {
  /** Row number of the message. */
  id: number;
  /** How long it waits for a receipt. */
  wait_ms: number;
  /** Attempts on this connection that the network has not acknowledged in time. */
  unconfirmed?: number;
  /** The other sends of the chat no longer wait for it. */
  frees_chat?: boolean;
}

/**
 * Lets a send with an unknown outcome wait, or ends its job if it has an outcome. The row lock ensures that a
 * concurrent receipt finds the job either waiting or gone. False: the lane is lost.
 */
export async function waitForUnknownOutcome(
  db: Db,
  node: string,
  job: Job,
  { id, wait_ms, unconfirmed = 0, frees_chat = false }: UnknownOutcome,
): Promise<boolean> {
  const { rows } = await sql`
    with owned as (${lockOwnedLanes(node, [job.lane])}),
    open as (select id from message where id = ${id} and outcome_at is null for update),
    waiting as (
      update job set run_at = now() + ${wait_ms} * interval '1 millisecond', attempts = attempts + 1,
        ref = ref || jsonb_build_object('unconfirmed', ${unconfirmed}::int),
        grp = ${frees_chat ? singleJobGroup(job.id) : job.grp}
      from owned, open where job.id = ${job.id}
    ), over as (
      delete from job using owned where job.id = ${job.id} and not exists (select from open)
    )
    select from owned`.execute(db);
  return rows.length > 0;
}
