import { sql } from "kysely";
import type { MessageStatus } from "../../../network/driver.ts";
import type { Trx } from "../../../platform/db/database.ts";
import { PREPARED_STATEMENT, rowCountHint } from "../../../platform/db/prepared-statement.ts";
import type { TraceParent } from "../../../platform/tracing/trace-parent.ts";
import { addressesOf } from "../../contacts/contacts.ts";
import { causedBy, type EventDraft, recordEvents } from "../../events/events.ts";
import { queueSentFiles } from "../../media/media.ts";
import { messageEvent, sentEvent } from "../log/message-events.ts";
import {
  type MessageRow,
  PENDING_UPLOAD_SQL,
  readForEvents,
  selectChangedForEvents,
} from "../log/message-view.ts";
import type { MessageReceipt } from "./message-receipt.ts";
import {
  type GroupReceiptAdvance,
  type GroupReceiptResult,
  recordGroupReceipts,
} from "./record-group-receipts.ts";

export interface ReceiptRecorder {
  /** Resolves once the receipt and its event are stored. Needs no fence, since a status only advances. */
  record(receipt: MessageReceipt): Promise<void>;
}

/** What a batch of receipts has changed. */
export interface AppliedReceipts {
  events: ReceiptEvent[];
  /** Messages whose outcome a receipt decided. */
  decided: MessageRow[];
  /** Row numbers of the changed messages of campaigns. */
  campaignMessages: number[];
  /** Lanes to wake after the commit. */
  lanes: number[];
  /** Session lanes in which a send with an unknown outcome no longer waits. */
  freed: number[];
}

/** An event that a receipt causes. */
export interface ReceiptEvent {
  /** Index of the receipt. */
  receipt: number;
  /** Row numbers of the messages that it reports. */
  messages: number[];
  draft: EventDraft;
}

const NOTHING: AppliedReceipts = { events: [], decided: [], campaignMessages: [], lanes: [], freed: [] };

/** Records the receipts of messages that no campaign sent. Must be the last call of the transaction. */
export async function recordReceipts(trx: Trx, receipts: readonly MessageReceipt[]): Promise<number[]> {
  const { events, lanes } = await applyReceipts(trx, receipts);
  return [
    ...lanes,
    ...(await recordEvents(
      trx,
      events.map(({ draft }) => draft),
    )),
  ];
}

/** Records the receipts without their events, which the result contains in the order of the receipts. */
export async function applyReceipts(trx: Trx, receipts: readonly MessageReceipt[]): Promise<AppliedReceipts> {
  if (receipts.length === 0) return NOTHING;
  const groups = await recordGroupReceipts(trx, receipts);
  const raised = await raiseStatuses(trx, receipts, groups);
  const moved = receipts
    .flatMap((receipt) => groups.advanceBy(receipt)?.messages ?? [])
    .map((id) => ({ id }));
  if (raised.length + moved.length === 0) return NOTHING;
  const outcomes = raised.filter((row) => row.is_outcome);
  const ended = outcomes.length === 0 ? [] : await endSends(trx, outcomes);
  const traces = new Map(ended.map(({ id, trace }) => [id, trace ?? undefined]));
  const withFile = outcomes.filter((row) => row.waiting_file !== null);
  const lanes = withFile.length === 0 ? [] : await retainFilesOf(trx, withFile);
  const isCurrent = withFile.length + moved.length === 0;
  const rows = isCurrent ? raised : await readForEvents(trx, [...raised, ...moved]);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return {
    events: receipts.flatMap((receipt, index) =>
      eventsOf({ receipt, index, raised, move: groups.advanceBy(receipt), rows: byId, traces }),
    ),
    decided: outcomes.flatMap(({ id }) => byId.get(id) ?? []),
    campaignMessages: raised.filter(({ origin }) => origin === "campaign").map(({ id }) => id),
    lanes,
    freed: [...new Set(ended.map(({ lane }) => lane))],
  };
}

interface AdvancedReceipt extends MessageRow {
  /** Index of the receipt. */
  receipt: number;
  /** The receipt came before the acknowledgement, so it also decides the outcome. */
  is_outcome: boolean;
  /** The file that was sent with it. */
  waiting_file: string | null;
}

/** Advances our own messages to a later status; marks inbound messages as read once. */
async function raiseStatuses(
  trx: Trx,
  receipts: readonly MessageReceipt[],
  groups: GroupReceiptResult,
): Promise<AdvancedReceipt[]> {
  const input = receipts.flatMap((receipt, index) =>
    receipt.ids.map((message_id) => {
      const { instance_id, chat, from_me, at } = receipt;
      const status = groups.statusOf(receipt, message_id);
      return { instance_id, chats: addressesOf(chat), message_id, from_me, status, at, receipt: index };
    }),
  );
  const { rows } = await sql<AdvancedReceipt>`${PREPARED_STATEMENT}
    with input as (
      select * from jsonb_to_recordset(${JSON.stringify(input)}::jsonb) as x (
        instance_id bigint, chats text[], message_id text, from_me boolean, status text, at timestamptz, receipt int)
      ${rowCountHint(input)}
    ), known as (
      select m.id, m.from_me, m.outcome_at, m.read_at, x.receipt, x.at, x.status as reported,
        case when m.status = 'failed' and m.error ->> 'code' = 'UNKNOWN_OUTCOME' then 1 else ${rankOf(sql`m.status`)} end
          as old_rank,
        ${rankOf(sql`x.status`)} as new_rank, ${PENDING_UPLOAD_SQL} as waiting_file
      from input x
      join message m on m.instance_id = x.instance_id and m.message_id = x.message_id and m.jid = any(x.chats)
        and m.from_me = x.from_me
      order by m.id for update of m
    ), best as (
      select distinct on (id) * from known
      where case when from_me then new_rank > old_rank else reported in ('read', 'played') and read_at is null end
      order by id, new_rank desc
    ), message as (
      update message m set
        status = case when b.from_me then b.reported else m.status end,
        error = null,
        outcome_at = case when b.from_me then coalesce(m.outcome_at, now()) end,
        delivered_at = case when b.from_me and b.reported <> 'sent' then coalesce(m.delivered_at, b.at) end,
        played_at = case when b.from_me and b.reported = 'played' then coalesce(m.played_at, b.at) end,
        read_at = case when b.reported in ('read', 'played') then coalesce(m.read_at, b.at) else m.read_at end
      from best b where m.id = b.id
      returning m.*, b.receipt, b.from_me and b.outcome_at is null as is_outcome, b.waiting_file
    )
    ${selectChangedForEvents(trx)}`.execute(trx);
  return rows;
}

function rankOf(status: ReturnType<typeof sql>) {
  return sql`array_position(array['pending', 'sent', 'delivered', 'read', 'played'], ${status})`;
}

/** Moves the files of decided sends to their final place. */
async function retainFilesOf(trx: Trx, messages: readonly MessageRow[]): Promise<number[]> {
  const ids = messages.map(({ id }) => id);
  const { rows } = await sql<{ id: number; upload: string }>`
    with file as (
      select id, ${PENDING_UPLOAD_SQL} as upload from message m where id = any(${ids}::bigint[])
    )
    update message m set content = m.content - 'upload' - 'shared' from file f
    where m.id = f.id and f.upload is not null
    returning m.id, f.upload`.execute(trx);
  return queueSentFiles(trx, rows);
}

/** A send whose waiting job was deleted. */
interface EndedSend {
  /** Row number of the message. */
  id: number;
  lane: number;
  /** The span that the send belongs to. */
  trace: TraceParent | null;
}

/** Deletes the waiting jobs of decided sends. */
async function endSends(trx: Trx, messages: readonly MessageRow[]): Promise<EndedSend[]> {
  const ids = messages.map(({ id }) => id);
  const { rows } = await sql<EndedSend>`${PREPARED_STATEMENT}
    with decided as (
      select m.id, coalesce(m.queue_pos, m.id) as pos, i.lane from message m join instance i on i.id = m.instance_id
      where m.id in (select unnest(${ids}::bigint[]) ${rowCountHint(ids)})
    ), ended as (
      delete from job j using decided d
      where j.lane = d.lane and j.prio in (0, 1, 2) and j.pos = d.pos and j.run_at > now()
        and j.ref ->> 'do' = 'send'
      returning d.id, j.lane, j.ref ->> 'trace' as trace
    )
    select id, lane, trace from ended`.execute(trx);
  return rows;
}

const EVENT_OF: Partial<Record<MessageStatus, EventDraft["event"]>> = {
  delivered: "message.delivered",
  read: "message.read",
  played: "message.read",
};

interface ReceiptChanges {
  receipt: MessageReceipt;
  /** Index of the receipt. */
  index: number;
  raised: readonly AdvancedReceipt[];
  /** Undefined outside groups. */
  move: GroupReceiptAdvance | undefined;
  /** The messages after the change, by row number. */
  rows: ReadonlyMap<number, MessageRow>;
  /** The spans of the sends that the receipts decide, by row number. */
  traces: ReadonlyMap<number, TraceParent | undefined>;
}

/**
 * The outcomes that the receipt decides, then one event for the messages that it advanced; in a group, for
 * the member who sent it.
 */
function eventsOf({ receipt, index, raised, move, rows, traces }: ReceiptChanges): ReceiptEvent[] {
  const own = raised.filter((row) => row.receipt === index);
  const sent = own
    .filter((row) => row.is_outcome)
    .flatMap(({ id }) => rows.get(id) ?? [])
    .map((row) => ({
      receipt: index,
      messages: [row.id],
      draft: causedBy(sentEvent(row), traces.get(row.id)),
    }));
  const advanced = (move?.messages ?? own.map(({ id }) => id)).flatMap((id) => rows.get(id) ?? []);
  const event = EVENT_OF[receipt.status];
  const [first] = advanced;
  if (!first || !event) return sent;
  const { jid, direction } = first;
  const draft = messageEvent(event, first, {
    message_ids: advanced.map((row) => row.message_id),
    jid,
    participant: move?.member ? toMember(move.member) : null,
    at: receipt.at.toISOString(),
    direction,
  });
  return [...sent, { receipt: index, messages: advanced.map(({ id }) => id), draft }];
}

/** Leaves out the name, which receipts do not contain. */
function toMember({ jid, lid, phone }: NonNullable<GroupReceiptAdvance["member"]>) {
  return { jid, lid, phone };
}
