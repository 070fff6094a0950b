import { isUndecrypted } from "../../../network/network-message.ts";
import type { Trx } from "../../../platform/db/database.ts";
import { causedBy, type EventDraft } from "../../events/events.ts";
import { queueInboundFiles } from "../../media/media.ts";
import { receivedEvent, sentEvent } from "../log/message-events.ts";
import { type MessageRow, readForEvents } from "../log/message-view.ts";
import { answerByText } from "../polls/answer-by-text.ts";
import { applyVote } from "../polls/record-vote.ts";
import { type InboundMessage, type InboundRow, insertInboundMessages } from "./insert-inbound-messages.ts";

/** Handles new messages in the transaction that stores them. */
export type InboundFollower = (trx: Trx, rows: readonly InboundRow[]) => Promise<void>;

/** What a batch of inbound messages has changed. */
export interface AppliedMessages {
  events: InboundEvent[];
  /** Lanes to wake after the commit. */
  lanes: number[];
}

/** An event that an inbound message causes. */
export interface InboundEvent {
  /** Index of the message. */
  message: number;
  draft: EventDraft;
}

const NOTHING: AppliedMessages = { events: [], lanes: [] };

/**
 * Stores the messages without their events, which the result contains. Followers and webhooks get the messages,
 * except those from before the pairing, undecrypted ones, and those whose deletion arrived first.
 */
export async function applyInboundMessages(
  trx: Trx,
  all: readonly InboundMessage[],
  followers: readonly InboundFollower[],
): Promise<AppliedMessages> {
  if (all.length === 0) return NOTHING;
  const messages = unique(all);
  const counted = [...messages.values()].map(({ one }) => one);
  const stored = await insertInboundMessages(trx, counted);
  const votes = await applyEarlyVotes(trx, stored, messages);
  const reported = stored.filter((row) => {
    const message = messages.get(keyOf(row))?.one.message;
    return message && !message.history && !isUndecrypted(message) && row.deleted_at === null;
  });
  if (reported.length === 0) return NOTHING;
  const lanes = await queueInboundFiles(trx, reported);
  for (const follow of followers) await follow(trx, reported);
  const rows = lanes.length > 0 ? await readForEvents(trx, reported) : reported;
  const events = rows.map((row) => {
    const { index = 0, one } = messages.get(keyOf(row)) ?? {};
    const draft = row.from_me ? sentEvent(row) : receivedEvent(row, { offline: one?.message.offline });
    return { message: index, draft: causedBy(draft, one?.trace) };
  });
  return { events: [...events, ...votes, ...(await answerAsks(trx, reported, messages))], lanes };
}

/** Recognises the messages that answer a question of their chat. */
async function answerAsks(
  trx: Trx,
  reported: readonly InboundRow[],
  messages: ReadonlyMap<string, NumberedMessage>,
): Promise<InboundEvent[]> {
  const events: InboundEvent[] = [];
  for (const row of reported.filter(({ is_asked }) => is_asked)) {
    const draft = await answerByText(trx, row);
    if (draft) events.push({ message: messages.get(keyOf(row))?.index ?? 0, draft });
  }
  return events;
}

/** Stores the votes that arrived before their polls. */
async function applyEarlyVotes(
  trx: Trx,
  stored: readonly InboundRow[],
  messages: ReadonlyMap<string, NumberedMessage>,
): Promise<InboundEvent[]> {
  const events: InboundEvent[] = [];
  for (const row of stored) {
    const { index = 0, one } = messages.get(keyOf(row)) ?? {};
    for (const vote of one?.message.votes ?? []) {
      const recorded = await applyVote(trx, row, vote);
      if ("events" in recorded) events.push(...recorded.events.map((draft) => ({ message: index, draft })));
    }
  }
  return events;
}

interface NumberedMessage {
  /** Index of the message. */
  index: number;
  one: InboundMessage;
}

/** One statement cannot change a row twice: of two messages with one id, the readable one counts. */
function unique(messages: readonly InboundMessage[]): Map<string, NumberedMessage> {
  const byKey = new Map<string, NumberedMessage>();
  for (const [index, one] of messages.entries()) {
    const { message, instance_id } = one;
    const key = keyOf({ instance_id, message_id: message.id, jid: message.chat });
    const before = byKey.get(key)?.one.message;
    if (!before || (isUndecrypted(before) && !isUndecrypted(message))) byKey.set(key, { index, one });
  }
  return byKey;
}

/** Several instances in a group receive a message under the same id. */
function keyOf({
  instance_id,
  message_id,
  jid,
}: Pick<MessageRow, "instance_id" | "message_id" | "jid">): string {
  return `${instance_id} ${message_id} ${jid}`;
}
