import { type Insertable, sql } from "kysely";
import { createBatchWriter } from "../../../engine/batch-queue.ts";
import type { Engine } from "../../../engine/engine.ts";
import type { NetworkMessage } from "../../../network/driver.ts";
import { phoneOfJid } from "../../../network/jid.ts";
import type { Db, Trx } from "../../../platform/db/database.ts";
import { PREPARED_STATEMENT, rowCountHint } from "../../../platform/db/prepared-statement.ts";
import { cleanJson } from "../../../platform/text/clean-text.ts";
import type { MessageTable } from "../../../tables.ts";
import type { Conversations } from "../../contacts/contacts.ts";
import { recordEvents } from "../../events/events.ts";
import { queueInboundFiles } from "../../media/media.ts";
import { type MessageRow, readForEvents, UNDECRYPTED_TYPE } from "../log/message-view.ts";
import { searchWords } from "../log/search-words.ts";
import { receivedEvent, sentEvent } from "../message-events.ts";

export interface InboundRecorder {
  /** Resolves once the message and its event are stored; only then may the gateway acknowledge it. */
  record(instance: { id: number; account_id: number }, message: NetworkMessage): Promise<void>;
}

interface InboundMessage {
  row: Insertable<MessageTable>;
  offline: boolean;
  /** Stored without an event. */
  silent: boolean;
}

/** Handles new messages in the transaction that stores them. */
export type InboundFollower = (trx: Trx, rows: readonly MessageRow[]) => Promise<void>;

export function createInboundRecorder(
  db: Db,
  engine: Engine,
  conversations: Conversations,
  follow: InboundFollower,
): InboundRecorder {
  const writer = createBatchWriter<InboundMessage, void>({
    async write(messages) {
      engine.wake(await db.transaction().execute((trx) => recordMessages(trx, messages, follow)));
      return messages.map(() => undefined);
    },
  });

  return {
    async record(instance, received) {
      const message = cleanJson(received);
      const chat = await conversations.getOrCreate({
        account_id: instance.account_id,
        instance_id: instance.id,
        jid: message.chat,
        type: message.chat_type,
        ...chatIdentity(message),
      });
      const sender = await conversations.identify(instance.id, message.sender);
      const row = toRow(instance, { ...message, sender, chat: chat.jid }, chat.id);
      const { offline = false, history = false, unreadable = false } = message;
      await writer.write({ row, offline, silent: history || unreadable });
    },
  };
}

/** In a direct chat the sender is the chat, unless the instance sent the message. */
function chatIdentity(message: NetworkMessage) {
  if (message.chat_type === "group" || message.from_me) {
    return { phone: phoneOfJid(message.chat), lid: null, push_name: null };
  }
  const { phone, lid, push_name } = message.sender;
  return { phone, lid, push_name };
}

function toRow(
  instance: { id: number; account_id: number },
  message: NetworkMessage,
  conversation_id: number,
): Insertable<MessageTable> {
  const { content } = message;
  return {
    account_id: instance.account_id,
    instance_id: instance.id,
    conversation_id,
    message_id: message.id,
    direction: message.from_me ? "outbound" : "inbound",
    from_me: message.from_me,
    origin: message.from_me ? "phone" : "contact",
    jid: message.chat,
    sender: JSON.stringify(message.sender),
    type: message.unreadable
      ? UNDECRYPTED_TYPE
      : content.kind === "media"
        ? content.media_type
        : content.kind,
    content: JSON.stringify(content),
    status: message.from_me ? "sent" : "received",
    outcome_at: message.from_me ? message.at : null,
    // The phone read it before the pairing.
    read_at: message.history && !message.from_me ? message.at : null,
    sent_at: message.at,
  };
}

/** Leaves logged messages unchanged, such as echoes of our own sends; replaces only undecrypted ones. */
async function recordMessages(trx: Trx, all: InboundMessage[], follow: InboundFollower): Promise<number[]> {
  const messages = unique(all);
  const added = await trx
    .insertInto("message")
    .values(messages.map(({ row }) => row))
    .onConflict((conflict) =>
      conflict
        .columns(["instance_id", "message_id", "jid"])
        .doUpdateSet((eb) => ({ type: eb.ref("excluded.type"), content: eb.ref("excluded.content") }))
        .where("message.type", "=", UNDECRYPTED_TYPE)
        .where((eb) => eb("excluded.type", "<>", UNDECRYPTED_TYPE)),
    )
    .returning(["id", "instance_id", "message_id", "jid"])
    .execute();
  if (added.length === 0) return [];
  const byKey = new Map(messages.map((one) => [keyOf(one.row), one]));
  const isReported = (row: Keyed) => byKey.get(keyOf(row))?.silent === false;
  const lanes = await queueInboundFiles(
    trx,
    added.filter(isReported).map((row) => row.id),
  );
  const rows = await readForEvents(trx, added);
  await updateConversations(trx, rows);
  await follow(trx, rows.filter(isReported));
  const events = rows
    .filter(isReported)
    .map((row) =>
      row.from_me ? sentEvent(row) : receivedEvent(row, { offline: byKey.get(keyOf(row))?.offline ?? false }),
    );
  return [...lanes, ...(await recordEvents(trx, events))];
}

/** Indexes the words of the messages and moves their chats to the top of the list. */
async function updateConversations(trx: Trx, rows: MessageRow[]): Promise<void> {
  const input = rows.map(({ id, instance_id, content }) => ({
    id,
    words: searchWords(instance_id, content),
  }));
  await sql`${PREPARED_STATEMENT}
    with received as (
      select m.*, x.words from (
        select * from jsonb_to_recordset(${JSON.stringify(input)}::jsonb) as x (id bigint, words text[]) ${rowCountHint(input)}
      ) x join message m on m.id = x.id
    ), indexed as (
      insert into message_search (account_id, instance_id, at, id, words)
      select account_id, instance_id, sent_at, id, array_to_tsvector(words) from received where words <> '{}'
      on conflict (instance_id, at, id) do update set words = excluded.words
    ), chatted as (
      select id from conversation where id in (select conversation_id from received) order by id for no key update
    )
    update conversation c set last_message_at = greatest(c.last_message_at, (
      select max(sent_at) from received where conversation_id = c.id))
    where id in (select id from chatted)`.execute(trx);
}

/** One statement cannot change a row twice: of two messages with one id, the readable one counts. */
function unique(messages: InboundMessage[]): InboundMessage[] {
  const byKey = new Map<string, InboundMessage>();
  for (const one of messages) {
    const key = keyOf(one.row);
    const before = byKey.get(key);
    if (!before || (before.row.type === UNDECRYPTED_TYPE && one.row.type !== UNDECRYPTED_TYPE))
      byKey.set(key, one);
  }
  return [...byKey.values()];
}

type Keyed = Pick<MessageTable, "instance_id" | "message_id" | "jid">;

/** Several instances in a group receive a message under the same id. */
function keyOf({ instance_id, message_id, jid }: Keyed): string {
  return `${instance_id} ${message_id} ${jid}`;
}
