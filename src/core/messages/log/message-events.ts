import type { EventDraft, EventTag } from "../../events/events.ts";
import { type MessageRow, toConversationView, toMessageView } from "./message-view.ts";

/** The event of a message that the network has accepted, from the gateway or the phone. */
export function sentEvent(row: MessageRow): EventDraft {
  return draft("message.sent", row, { ...describe(row), ...jobOf(row) });
}

/** The event of a failed send whose caller no longer waits for a response. */
export function failedEvent(row: MessageRow): EventDraft {
  return draft("message.failed", row, { ...describe(row), ...jobOf(row), error: row.error });
}

export function receivedEvent(row: MessageRow, { offline = false }: { offline?: boolean } = {}): EventDraft {
  return draft("message.received", row, { ...describe(row), ...(offline && { offline: true }) });
}

/** An event about a message that is in the log, such as an edit or a reaction. */
export function messageEvent(
  event: EventDraft["event"],
  row: MessageRow,
  data: Record<string, unknown>,
): EventDraft {
  return draft(event, row, { ...data, ...describe(row) });
}

/** What somebody does with a message: a filter for its sender does not concern it. */
export function responseEvent(
  event: EventDraft["event"],
  row: MessageRow,
  data: Record<string, unknown>,
): EventDraft {
  return { ...messageEvent(event, row, data), tags: row.chat_type === "group" ? ["groups"] : [] };
}

function describe(row: MessageRow) {
  return { message: toMessageView(row), conversation: toConversationView(row) };
}

function jobOf(row: MessageRow) {
  return row.job_id === null ? {} : { jobId: row.job_id, pendingMessageId: row.message_id };
}

function draft(event: EventDraft["event"], row: MessageRow, data: Record<string, unknown>): EventDraft {
  const { instance_id, jid: chat, snapshot: instance } = row;
  return { event, instance_id, chat, tags: tagsOf(row), data, instance };
}

const AUTOMATIC = new Set<MessageRow["origin"]>(["api", "campaign", "chatbot"]);

/** The tags that a webhook's `exclude` filter compares. */
function tagsOf(row: MessageRow): EventTag[] {
  const tags: EventTag[] = [];
  if (row.from_me) tags.push("from_me");
  if (row.from_me && row.origin !== "phone") tags.push("sent_by_api");
  if (AUTOMATIC.has(row.origin)) tags.push("automatic");
  if (row.chat_type === "group") tags.push("groups");
  return tags;
}
