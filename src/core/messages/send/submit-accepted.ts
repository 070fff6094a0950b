import { sql } from "kysely";
import { type LaneEpoch, lockOwnedLanes } from "../../../engine/lane-store.ts";
import { HOLD_COLUMNS, IS_UNHELD, NETWORK_COLUMNS, type SendRow } from "./submit-sends.ts";

/** This node owns the lane of a send and has reserved a place in it. */
export interface LaneOwner {
  node: string;
  lane: LaneEpoch;
}

/**
 * Submits sends in the statement that accepts them: CTEs around `input` and `accepted`, whose columns are those
 * of a message. A send whose `may_submit` is set was checked against a remembered instance. It is accepted only
 * if that instance is still so, and submitted only if none of the `SEND_HOLDS` would stop it.
 */
export function submitAcceptedSql(owners: readonly LaneOwner[]) {
  const lanes = [...new Map(owners.map(({ lane }) => [lane.id, lane])).values()];
  return {
    loaded: sql`
    owned as (${lockOwnedLanes(owners[0]?.node ?? "", lanes)}),
    loaded as materialized (
      select m.ord, ${NETWORK_COLUMNS}, ${HOLD_COLUMNS}
      from input m join owned o on o.id = m.lane join instance i on i.id = m.instance_id
        join account a on a.id = i.account_id join plan l on l.id = a.plan_id
      where m.may_submit and i.status = 'connected' and i.removed_at is null
        and coalesce(i.new_chats_locked_until <= now(), true) and l.max_messages is not distinct from m.max_messages
    )`,
    isAcceptable: sql`(not may_submit or ord in (select ord from loaded))`,
    begun: sql`
    begun as materialized (
      select m.ord, p.network, p.on_unknown
      from accepted m join loaded p on p.ord = m.ord join first_of_chat f on f.ord = m.ord
      where ${IS_UNHELD} and (m.mode = 'async' or m.hold_ms > 0)
    )`,
  };
}

/** What the accepting statement reads of a send that it has submitted. */
export type SubmittedSend = Pick<SendRow, "network" | "on_unknown">;

type AcceptedFields = Pick<
  SendRow,
  | "id"
  | "account_id"
  | "instance_id"
  | "conversation_id"
  | "message_id"
  | "jid"
  | "origin"
  | "mode"
  | "content"
>;

/** The row that `loadAndSubmitSends` would return of a send that the accepting statement has submitted. */
export function toSendRow(message: AcceptedFields, { network, on_unknown }: SubmittedSend): SendRow {
  const { id, account_id, instance_id, conversation_id, message_id, jid, origin, mode, content } = message;
  return {
    id,
    account_id,
    instance_id,
    conversation_id,
    message_id,
    jid,
    origin,
    mode,
    content,
    network,
    on_unknown,
    submitted_at: null,
    outcome_at: null,
    delay_ms: null,
    is_overdue: false,
    is_restricted: false,
    unknown_outcome_ms: null,
    is_reconnected: false,
    locked_until: null,
    quiet_hours: null,
    now_ms: null,
    pace_min: 0,
    pace_max: 0,
    per_minute: null,
    breaker_open_ms: null,
    is_stale: false,
    has_begun: true,
  };
}
