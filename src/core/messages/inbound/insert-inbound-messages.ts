import { sql } from "kysely";
import type { NetworkMessage } from "../../../network/driver.ts";
import { compileOnce } from "../../../platform/db/compile-once.ts";
import type { Trx } from "../../../platform/db/database.ts";
import { PREPARED_STATEMENT, rowCountHint } from "../../../platform/db/prepared-statement.ts";
import type { TraceParent } from "../../../platform/tracing/trace-parent.ts";
import { type MessageRow, selectForEvents, UNSUPPORTED_TYPE } from "../log/message-view.ts";
import { searchWords } from "../log/search-words.ts";
import { IS_OPEN_ASK } from "../polls/answer-by-text.ts";

/** A message in the chat under which the log stores it. */
export interface InboundMessage {
  account_id: number;
  instance_id: number;
  conversation_id: number;
  message: NetworkMessage;
  /** Sealed, in hex digits. */
  secret?: string | null;
  /** Sealed, in hex digits. */
  raw?: string | null;
  /** The span that its event belongs to. */
  trace?: TraceParent | undefined;
}

/** A stored message with what its followers need. */
export interface InboundRow extends MessageRow {
  /** Whether the account creates a lead for a new sender. */
  creates_leads: boolean;
  /** Whether a question in the chat waits for an answer. */
  is_asked: boolean;
}

/**
 * Stores messages with their search words and moves their chats to the top of the list, in one statement.
 * Leaves logged messages unchanged, such as echoes of our own sends; replaces only unsupported ones of the same sender,
 * since senders choose the ids. Returns the stored ones in order of row numbers. No two of the messages may have one key.
 */
export async function insertInboundMessages(
  trx: Trx,
  messages: readonly InboundMessage[],
): Promise<InboundRow[]> {
  const { rows } = await sql<InboundRow>`${PREPARED_STATEMENT}
    with input as (
      select * from jsonb_to_recordset(${JSON.stringify(messages.map(toInput))}::jsonb) as x (
        ord int, account_id bigint, instance_id bigint, conversation_id bigint, message_id text, jid text,
        from_me boolean, was_read boolean, sender jsonb, type text, content jsonb, secret text, raw text, at timestamptz,
        edited_at timestamptz, deleted_at timestamptz, words text[])
      ${rowCountHint(messages)}
    ), asked as (
      select i.conversation_id from (select distinct conversation_id from input) i
      where exists (select from message m where m.conversation_id = i.conversation_id and ${IS_OPEN_ASK})
    ), message as (
      insert into message as m (account_id, instance_id, conversation_id, message_id, jid, from_me, direction,
        origin, status, sender, type, content, secret, raw, edited_at, deleted_at, sent_at, outcome_at, read_at)
      select account_id, instance_id, conversation_id, message_id, jid, from_me,
        case when from_me then 'outbound' else 'inbound' end, case when from_me then 'phone' else 'contact' end,
        case when from_me then 'sent' else 'received' end, sender, type, content, decode(secret, 'hex'), decode(raw, 'hex'),
        edited_at, deleted_at, at,
        case when from_me then at end, case when was_read then at end
      from input order by ord
      on conflict (instance_id, message_id, jid) do update set type = excluded.type, content = excluded.content,
        secret = excluded.secret, raw = excluded.raw, edited_at = excluded.edited_at,
        deleted_at = coalesce(m.deleted_at, excluded.deleted_at)
        where m.type = ${UNSUPPORTED} and ${IS_SAME_SENDER}
          and coalesce(excluded.content ->> 'reason', '') not in ('undecryptable', m.content ->> 'reason')
      returning m.*
    ), indexed as (
      insert into message_search (account_id, instance_id, at, id, words)
      select m.account_id, m.instance_id, m.sent_at, m.id, array_to_tsvector(x.words)
      from message m join input x using (instance_id, message_id, jid) where x.words <> '{}'
      on conflict (instance_id, at, id) do update set words = excluded.words
    ), chatted as (
      select id from conversation where id in (select conversation_id from message) order by id for no key update
    ), moved as (
      update conversation c set last_message_at = greatest(c.last_message_at, (
        select max(sent_at) from message where conversation_id = c.id))
      where id in (select id from chatted)
    )
    ${selectStored(trx)}`.execute(trx);
  return rows;
}

/** `message` is the CTE of stored rows, not the table. */
const selectStored = compileOnce((trx) =>
  selectForEvents(trx)
    .select(CREATES_LEADS_SQL.as("creates_leads"))
    .select(sql<boolean>`m.conversation_id in (select conversation_id from asked)`.as("is_asked")),
);

const UNSUPPORTED = sql.lit(UNSUPPORTED_TYPE);

/** Each may know only one of the addresses. */
const IS_SAME_SENDER = sql`m.from_me = excluded.from_me and array[excluded.sender ->> 'jid', excluded.sender ->> 'lid']
          && array[m.sender ->> 'jid', m.sender ->> 'lid']`;

const CREATES_LEADS_SQL = sql<boolean>`(
  select a.settings ->> 'auto_create_leads' is not distinct from 'true' from account a where a.id = m.account_id)`;

function toInput({ message, trace: _trace, ...chat }: InboundMessage, ord: number) {
  const { content, from_me } = message;
  return {
    ...chat,
    ord,
    message_id: message.id,
    jid: message.chat,
    from_me,
    // The phone read it before the pairing.
    was_read: message.history === true && !from_me,
    sender: message.sender,
    type: content.kind === "media" ? content.media_type : content.kind,
    content,
    at: message.at,
    edited_at: message.edited_at,
    deleted_at: message.deleted_at,
    words: searchWords(chat.instance_id, content),
  };
}
