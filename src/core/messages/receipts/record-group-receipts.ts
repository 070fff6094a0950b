import { sql } from "kysely";
import type { Identity, MessageStatus } from "../../../network/driver.ts";
import { isGroupJid } from "../../../network/jid.ts";
import type { Trx } from "../../../platform/db/database.ts";
import { PREPARED_STATEMENT, rowCountHint } from "../../../platform/db/prepared-statement.ts";
import { addressesOf } from "../../contacts/contacts.ts";
import type { MessageReceipt } from "./message-receipt.ts";
import {
  applyReceipt,
  findReceipt,
  loadReceiptLedger,
  type MemberReceipt,
  type ReceiptLedger,
  saveReceipts,
} from "./receipt-ledger.ts";

/** The changes that group receipts have made. */
export interface GroupReceiptResult {
  /** The status that all group members have reached; `sent` if it is unknown. */
  statusOf(receipt: MessageReceipt, messageId: string): MessageStatus;
  /** The member whom the receipt advanced, with the messages; undefined for a receipt outside groups. */
  advanceBy(receipt: MessageReceipt): GroupReceiptAdvance | undefined;
}

export interface GroupReceiptAdvance {
  member: Pick<MemberReceipt, "jid" | "lid" | "phone"> | null;
  /** Row numbers of the messages. */
  messages: number[];
}

const NONE: GroupReceiptResult = { statusOf: ({ status }) => status, advanceBy: () => undefined };

const NO_ADVANCE: GroupReceiptAdvance = { member: null, messages: [] };

/** Whether one group member sent the receipt, for our messages to the group. */
function isOfMember({ chat, from_me }: Pick<MessageReceipt, "chat" | "from_me">): boolean {
  return from_me && isGroupJid(chat);
}

/** Records the receipts of group members; locks all messages that the receipts name. */
export async function recordGroupReceipts(
  trx: Trx,
  receipts: readonly MessageReceipt[],
): Promise<GroupReceiptResult> {
  if (!receipts.some(isOfMember)) return NONE;
  const named = (await lockMessages(trx, receipts)).flatMap(({ receipt: nth, ...message }) => {
    const receipt = receipts[nth];
    return receipt && isOfMember(receipt) ? [{ ...message, receipt }] : [];
  });
  const persons = named.flatMap(({ receipt }) => receipt.participant ?? []);
  const book = await loadReceiptLedger(trx, [...new Set(named.map(({ id }) => id))], persons);
  const moves = new Map<MessageReceipt, GroupReceiptAdvance>();
  for (const { id, receipt } of named) {
    const member = receipt.participant && record(book, id, receipt.participant, receipt);
    if (!member) continue;
    const move = moves.get(receipt) ?? { member, messages: [] };
    move.messages.push(id);
    moves.set(receipt, move);
  }
  await saveReceipts(trx, book);
  const reached = await readStatuses(trx, book.messages);
  const statuses = new Map(
    named.map(({ id, message_id, receipt }) => [keyOf(receipt, message_id), reached.get(id)] as const),
  );
  return {
    statusOf: (receipt, messageId) =>
      isOfMember(receipt) ? (statuses.get(keyOf(receipt, messageId)) ?? "sent") : receipt.status,
    advanceBy: (receipt) => (isOfMember(receipt) ? (moves.get(receipt) ?? NO_ADVANCE) : undefined),
  };
}

function keyOf({ instance_id, chat }: MessageReceipt, messageId: string): string {
  return `${instance_id} ${chat} ${messageId}`;
}

/** Returns the member whom the receipt advanced. A person who joined after the send has no receipt. */
function record(
  book: ReceiptLedger,
  message: number,
  who: Identity,
  { status, at }: MessageReceipt,
): MemberReceipt | undefined {
  const entry = status === "sent" ? undefined : findReceipt(book, message, who);
  return entry && status !== "sent" && applyReceipt(book, entry, status, at) ? entry : undefined;
}

interface NamedMessage {
  id: number;
  message_id: string;
  /** Index of the receipt. */
  receipt: number;
}

/** Locks in order of row numbers, like every transaction that changes several messages. */
async function lockMessages(trx: Trx, receipts: readonly MessageReceipt[]): Promise<NamedMessage[]> {
  const input = receipts.flatMap(({ ids, instance_id, chat, from_me }, receipt) =>
    ids.map((message_id) => ({ instance_id, chats: addressesOf(chat), message_id, from_me, receipt })),
  );
  const { rows } = await sql<NamedMessage>`${PREPARED_STATEMENT}
    with input as (
      select * from jsonb_to_recordset(${JSON.stringify(input)}::jsonb) as x (
        instance_id bigint, chats text[], message_id text, from_me boolean, receipt int)
      ${rowCountHint(input)}
    )
    select m.id, m.message_id, x.receipt from input x
    join message m on m.instance_id = x.instance_id and m.message_id = x.message_id and m.jid = any(x.chats)
      and m.from_me = x.from_me
    order by m.id, x.receipt for update of m`.execute(trx);
  return rows;
}

/** A message has the status of its slowest member at the time of sending. */
async function readStatuses(trx: Trx, messages: readonly number[]): Promise<Map<number, MessageStatus>> {
  const { rows } = await sql<{ message: number; status: MessageStatus }>`${PREPARED_STATEMENT}
    select message, (array['sent', 'delivered', 'read', 'played'])[1 + min(case
      when played_at is not null then 3 when read_at is not null then 2 when delivered_at is not null then 1
      else 0 end)] as status
    from message_receipt
    where message in (select unnest(${messages}::bigint[]) ${rowCountHint(messages)}) and is_addressee group by message`.execute(
    trx,
  );
  return new Map(rows.map(({ message, status }) => [message, status]));
}
