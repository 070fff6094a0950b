import type { Insertable } from "kysely";
import type { Engine } from "../../engine/engine.ts";
import { createWriter } from "../../engine/writer.ts";
import type { NetworkMessage } from "../../network/driver.ts";
import { phoneOfJid } from "../../network/ids.ts";
import { cleanJson } from "../../platform/clean-text.ts";
import type { Db, Trx } from "../../platform/db.ts";
import type { MessageTable } from "../../tables.ts";
import { recordEvents } from "../events/events.ts";
import type { Conversations } from "./conversations.ts";
import { receivedEvent, sentEvent } from "./message-events.ts";
import { selectMessages } from "./message-view.ts";

export interface InboundRecorder {
  /** Resolves once the message and its event are stored; only then may the network be told that we have it. */
  record(instance: { id: number; account_id: number }, message: NetworkMessage): Promise<void>;
}

interface Arrival {
  row: Insertable<MessageTable>;
  offline: boolean;
  /** Kept without an event. */
  silent: boolean;
}

/** The type of a message that could not be read yet. */
const UNREADABLE = "unreadable";

export function createInboundRecorder(db: Db, engine: Engine, conversations: Conversations): InboundRecorder {
  const writer = createWriter<Arrival, void>({
    async write(arrivals) {
      engine.wake(await db.transaction().execute((trx) => recordArrivals(trx, arrivals)));
      return arrivals.map(() => undefined);
    },
  });

  return {
    async record(instance, told) {
      const message = cleanJson(told);
      const conversation_id = await conversations.idOf({
        account_id: instance.account_id,
        instance_id: instance.id,
        jid: message.chat,
        type: message.chat_type,
        ...chatIdentity(message),
      });
      const row = toRow(instance, message, conversation_id);
      const { offline = false, history = false, unreadable = false } = message;
      await writer.write({ row, offline, silent: history || unreadable });
    },
  };
}

/** In a chat with one person the sender is the chat, unless we wrote the message ourselves. */
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
    type: message.unreadable ? UNREADABLE : content.kind === "media" ? content.media_type : content.kind,
    content: JSON.stringify(content),
    status: message.from_me ? "sent" : "received",
    outcome_at: message.from_me ? message.at : null,
    sent_at: message.at,
  };
}

/**
 * A message that is in the log already, such as the echo of our own send, changes nothing; only one that could not be
 * read gives way to what it says.
 */
async function recordArrivals(trx: Trx, all: Arrival[]): Promise<number[]> {
  const arrivals = unique(all);
  const added = await trx
    .insertInto("message")
    .values(arrivals.map(({ row }) => row))
    .onConflict((conflict) =>
      conflict
        .columns(["instance_id", "message_id", "jid"])
        .doUpdateSet((eb) => ({ type: eb.ref("excluded.type"), content: eb.ref("excluded.content") }))
        .where("message.type", "=", UNREADABLE)
        .where((eb) => eb("excluded.type", "<>", UNREADABLE)),
    )
    .returning("id")
    .execute();
  if (added.length === 0) return [];
  const rows = await selectMessages(trx)
    .where(
      "m.id",
      "in",
      added.map((row) => row.id),
    )
    .orderBy("m.id")
    .execute();
  const told = new Map(arrivals.map((one) => [keyOf(one.row), one]));
  const news = rows.filter((row) => told.get(keyOf(row))?.silent === false);
  return recordEvents(
    trx,
    news.map((row) =>
      row.from_me ? sentEvent(row) : receivedEvent(row, { offline: told.get(keyOf(row))?.offline ?? false }),
    ),
  );
}

/** One statement cannot change a row twice: of two with one id the one that can be read counts, else the first. */
function unique(arrivals: Arrival[]): Arrival[] {
  const byKey = new Map<string, Arrival>();
  for (const one of arrivals) {
    const key = keyOf(one.row);
    const before = byKey.get(key);
    if (!before || (before.row.type === UNREADABLE && one.row.type !== UNREADABLE)) byKey.set(key, one);
  }
  return [...byKey.values()];
}

/** A message of a group has one id for all who are in it. */
function keyOf({
  instance_id,
  message_id,
  jid,
}: Pick<MessageTable, "instance_id" | "message_id" | "jid">): string {
  return `${instance_id} ${message_id} ${jid}`;
}
