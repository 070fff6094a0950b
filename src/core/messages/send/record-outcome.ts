import { sql } from "kysely";
import type { Trx } from "../../../platform/db/database.ts";
import { PREPARED_STATEMENT, rowCountHint } from "../../../platform/db/prepared-statement.ts";
import type { SendError } from "../../../platform/send-reasons.ts";
import type { TraceParent } from "../../../platform/tracing/trace-parent.ts";
import { addressesOf } from "../../contacts/contacts.ts";
import type { EventDraft } from "../../events/events.ts";
import { queueSentFiles } from "../../media/media.ts";
import { failedEvent, sentEvent } from "../log/message-events.ts";
import {
  type MessageRow,
  PENDING_UPLOAD_SQL,
  readForEvents,
  selectChangedForEvents,
} from "../log/message-view.ts";
import type { MessageReceipt } from "../receipts/message-receipt.ts";
import { deleteOutgoing } from "./outgoing-file.ts";

/** The outcome of a send, from the network or by decision of the gateway. */
export interface SendOutcome {
  /** Row number of the message. */
  id: number;
  instance_id: number;
  status: "sent" | "failed";
  at: Date;
  error: SendError | null;
  /** The job that this outcome ends, if known. */
  job: number | null;
  /** The node whose caller waits for it, if known. */
  awaited_by?: string | undefined;
  /** Applies only to a send that has not begun. */
  only_if_not_submitted?: boolean;
  /** The media reference with which the network can serve the file again. */
  media_ref?: unknown;
  /** The secret of the message: sealed, in hex digits. */
  secret?: string | null;
  /** The span that the event of the outcome belongs to. */
  trace?: TraceParent | undefined;
}

export interface OutcomeRecorder {
  /** The first outcome counts: a message has one outcome and one outcome event. */
  record(outcome: SendOutcome): Promise<void>;
}

/** Called in the same transaction with the campaign messages that changed their status. */
export type OutcomeFollower = (trx: Trx, messageIds: readonly number[]) => Promise<void>;

/** What a batch of outcomes has changed. */
export interface AppliedOutcomes {
  /** Messages that got this outcome. */
  decided: MessageRow[];
  /** Row numbers of the changed messages of campaigns. */
  campaignMessages: number[];
  /** Lanes to wake after the commit. */
  lanes: number[];
}

/**
 * Records the outcomes without their events, which `outcomeEvent` returns. Also locks the messages of receipts
 * that the transaction records later, since a transaction locks its messages in order of their ids.
 */
export async function applyOutcomes(
  trx: Trx,
  outcomes: readonly SendOutcome[],
  receipts: readonly MessageReceipt[],
): Promise<AppliedOutcomes> {
  if (outcomes.length === 0) return { decided: [], campaignMessages: [], lanes: [] };
  const changed = await decide(trx, outcomes, receipts);
  const decided = changed.filter(({ is_open }) => is_open);
  await deleteUnregisteredContacts(trx, decided);
  const files = decided.flatMap(({ id, waiting_file: upload, is_shared, status }) =>
    upload === null ? [] : [{ id, upload, is_shared, status }],
  );
  const lanes = await queueSentFiles(
    trx,
    files.filter(({ status }) => status === "sent"),
  );
  await deleteOutgoing(
    trx,
    files.filter(({ status, is_shared }) => status !== "sent" && !is_shared).map(({ upload }) => upload),
  );
  await freeKeys(
    trx,
    decided.filter((row) => isTooLate(row) && row.submitted_at === null),
  );
  return {
    decided: files.length > 0 ? await readForEvents(trx, decided) : decided,
    campaignMessages: changed.filter(({ origin }) => origin === "campaign").map(({ id }) => id),
    lanes,
  };
}

interface DecidedSend extends MessageRow {
  /** The pending file of the message. */
  waiting_file: string | null;
  /** The file belongs to a campaign, and other messages need it. */
  is_shared: boolean;
  /** Whether the message had no outcome before. */
  is_open: boolean;
}

/**
 * Decides open messages; of two concurrent outcomes the acknowledgement counts. For messages already decided,
 * a late ack only adds the media reference, and turns UNKNOWN_OUTCOME into sent. Returns the changed
 * messages.
 */
async function decide(
  trx: Trx,
  outcomes: readonly SendOutcome[],
  receipts: readonly MessageReceipt[],
): Promise<DecidedSend[]> {
  const named = receipts.flatMap(({ ids, instance_id, chat, from_me }) =>
    ids.map((message_id) => ({ instance_id, chats: addressesOf(chat), message_id, from_me })),
  );
  const { rows } = await sql<DecidedSend>`${PREPARED_STATEMENT}
    with input as (
      select * from jsonb_to_recordset(${JSON.stringify(outcomes)}::jsonb) as x (
        id bigint, status text, at timestamptz, error jsonb, job bigint, only_if_not_submitted boolean, media_ref jsonb,
        secret text)
      ${rowCountHint(outcomes)}
    ), named as (
      select * from jsonb_to_recordset(${JSON.stringify(named)}::jsonb) as x (
        instance_id bigint, chats text[], message_id text, from_me boolean)
      ${rowCountHint(named)}
    ), known as (
      select m.id, m.outcome_at is null as is_open, ${PENDING_UPLOAD_SQL} as upload,
        m.content ? 'shared' as is_shared,
        m.status = 'failed' and m.error ->> 'code' = 'UNKNOWN_OUTCOME' as is_unknown,
        m.outcome_at is null and m.submitted_at is not null as is_begun
      from message m where m.id in (
        select id from input
        union
        select m.id from named x join message m on m.instance_id = x.instance_id and m.message_id = x.message_id
          and m.jid = any(x.chats) and m.from_me = x.from_me)
      order by m.id for update
    ), finished as (
      -- A send that has begun meanwhile needs its job: its acknowledgement is still pending.
      delete from job where id in (
        select x.job from input x left join known k on k.id = x.id
        where x.only_if_not_submitted is not true or k.is_begun is not true)
    ), message as (
      update message m set
      status = case when k.is_open or k.is_unknown then x.status else m.status end,
      error = case when k.is_open or k.is_unknown then nullif(x.error, 'null'::jsonb) else m.error end,
      outcome_at = coalesce(m.outcome_at, now()),
      sent_at = case when k.is_open and x.status = 'sent' then x.at else m.sent_at end,
      secret = coalesce(m.secret, decode(x.secret, 'hex')),
      content = case when x.media_ref is null and k.upload is null then m.content
        else m.content - 'upload' - 'shared' || jsonb_strip_nulls(jsonb_build_object('ref', x.media_ref)) end
    from (
      select distinct on (id) * from input order by id, status = 'sent' desc, only_if_not_submitted is true
    ) x join known k on k.id = x.id
    where m.id = x.id and case when k.is_open then x.only_if_not_submitted is not true or not k.is_begun
      else x.status = 'sent' and (k.is_unknown or x.media_ref is not null) end
      returning m.*, k.upload as waiting_file, k.is_shared, k.is_open
    )
    ${selectChangedForEvents(trx)}`.execute(trx);
  return rows;
}

/** The events that report these outcomes. */
export async function outcomeEvents(
  trx: Trx,
  messages: readonly Pick<MessageRow, "id">[],
): Promise<EventDraft[]> {
  return messages.length === 0 ? [] : (await readForEvents(trx, messages)).flatMap(outcomeEvent);
}

/** A failed sync send is reported only to its waiting caller; if the outcome is too late, by an event. */
export function outcomeEvent(row: MessageRow): EventDraft[] {
  if (row.status === "failed" || row.status === "cancelled")
    return row.mode === "sync" && !isTooLate(row) ? [] : [failedEvent(row)];
  return [sentEvent(row)];
}

/** The outcome came after the caller's wait, because the database or the caller's node was unavailable. */
function isTooLate({ mode, status, deadline, outcome_at }: MessageRow): boolean {
  return mode === "sync" && status === "failed" && deadline !== null && (outcome_at ?? 0) > deadline;
}

/** Deletes the keys of sends that never began, so that a repeated request starts a new send. */
async function freeKeys(trx: Trx, messages: readonly MessageRow[]): Promise<void> {
  if (messages.length === 0) return;
  const ids = messages.map(({ id }) => id);
  await trx.deleteFrom("idempotency").where("message", "in", ids).execute();
}

/**
 * Deletes contacts whose numbers are not registered on the network, and removes their chats from the lists.
 * Failed messages stay in the log, and contacts with more data than a number stay.
 */
async function deleteUnregisteredContacts(trx: Trx, decided: readonly MessageRow[]): Promise<void> {
  const chats = decided
    .filter(({ status, error }) => status === "failed" && error?.code === "RECIPIENT_NOT_FOUND")
    .map(({ conversation_id }) => conversation_id);
  if (chats.length === 0) return;
  await sql`
    with unregistered as (
      select c.id, p.id as contact from conversation c
      left join contact p on p.id = c.contact_id and p.lid is null and p.name is null and p.push_name is null
        and p.verified_name is null and not p.is_blocked
      where c.id = any(${chats}::bigint[]) and c.type = 'contact' and not exists (
        select from message m where m.conversation_id = c.id
          and (m.status <> 'failed' or m.error ->> 'code' is distinct from 'RECIPIENT_NOT_FOUND'))
      order by c.id for update of c
    ), deleted as (
      delete from contact p using unregistered n where p.id = n.contact
    )
    update conversation c set last_message_at = null,
      contact_id = case when n.contact is null then c.contact_id end
    from unregistered n where c.id = n.id`.execute(trx);
}
