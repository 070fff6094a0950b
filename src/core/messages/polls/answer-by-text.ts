import { sql } from "kysely";
import { pollOptionId } from "../../../network/content/poll.ts";
import type { Identity, PollVote } from "../../../network/driver.ts";
import type { Trx } from "../../../platform/db/database.ts";
import type { EventDraft } from "../../events/events.ts";
import { responseEvent } from "../log/message-events.ts";
import { type MessageRow, type StoredAsk, selectForEvents } from "../log/message-view.ts";

type AskOption = StoredAsk["options"][number];

/** For a message `m`: it asks, and has no answer yet; the index `message_ask` has these. */
export const IS_OPEN_ASK = sql<boolean>`(m.content ? 'ask' and not m.content -> 'ask' ? 'answered_at')`;

interface Answer {
  by: Identity;
  option: AskOption;
  at: Date;
  /** Null: a vote. */
  answer_message_id: string | null;
}

/** The event of an answer by a vote on a locked message; undefined if the message asks nothing, or not any more. */
export async function answerByVote(
  trx: Trx,
  row: MessageRow,
  { by, options, at }: PollVote,
): Promise<EventDraft | undefined> {
  const option = askOf(row)?.options.find(({ text }) => options.includes(pollOptionId(text)));
  return option && recordAnswer(trx, row, { by, option, at, answer_message_id: null });
}

/** Older questions than these are no longer answered by a number alone. */
const LATEST_ASKS = 5;

/**
 * The event of an answer by a text: the number of an option, or its words. It answers the question that it quotes, else
 * the latest one of the chat.
 */
export async function answerByText(trx: Trx, message: MessageRow): Promise<EventDraft | undefined> {
  const { content, sender, conversation_id, message_id } = message;
  if (message.from_me || content.kind !== "text" || content.poll || !sender) return undefined;
  const asks = await selectForEvents(trx)
    .clearOrderBy()
    .where("m.conversation_id", "=", conversation_id)
    .where(IS_OPEN_ASK)
    .where("m.status", "not in", ["scheduled", "failed", "cancelled"])
    .orderBy("m.id", "desc")
    .limit(LATEST_ASKS)
    .forUpdate("m")
    .execute();
  const ask = asks.find((one) => one.message_id === content.quoted?.id) ?? asks[0];
  const option = ask && findOption(askOf(ask)?.options ?? [], content.text);
  if (!option) return undefined;
  return recordAnswer(trx, ask, { by: sender, option, at: message.sent_at, answer_message_id: message_id });
}

/** Longer texts than any option are no answers. */
const LONGEST_ANSWER = 2_000;

function findOption(options: readonly AskOption[], answer: string): AskOption | undefined {
  if (answer.length > LONGEST_ANSWER) return undefined;
  const words = simplify(answer);
  const [, number] = /^(\d{1,2})[\ufe0f\u20e3]*[.)]?$/.exec(words) ?? [];
  const said = options.find(({ text }) => simplify(text) === words);
  return said ?? (number === undefined ? undefined : options[Number(number) - 1]);
}

function simplify(text: string): string {
  return text.normalize("NFKC").trim().replace(/\s+/g, " ").toLowerCase();
}

function askOf({ content }: Pick<MessageRow, "content">): StoredAsk | undefined {
  return content.kind === "text" ? content.ask : undefined;
}

/** The first answer counts, if it is in time. */
async function recordAnswer(
  trx: Trx,
  row: MessageRow,
  { by, option, at, answer_message_id }: Answer,
): Promise<EventDraft | undefined> {
  const { expires_at, answered_at } = askOf(row) ?? {};
  if (answered_at !== undefined || (expires_at !== undefined && at > new Date(expires_at))) return undefined;
  const answer = JSON.stringify({ answered_at: at.toISOString() });
  await trx
    .updateTable("message")
    .set({ content: sql<string>`jsonb_set(content, '{ask}', content -> 'ask' || ${answer}::jsonb)` })
    .where("id", "=", row.id)
    .execute();
  const { message_id, jid } = row;
  const about = { ask_id: askIdOf(row.id), option, message_id, jid, contact: by, answer_message_id };
  return responseEvent("answer.received", row, { ...about, at: at.toISOString() });
}

/** By the row number of the message that asks. */
export function askIdOf(row: number): string {
  return `ask_${row}`;
}
