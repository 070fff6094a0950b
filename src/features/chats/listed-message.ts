import { type MessageRow, toKeptMessage } from "../messages/messages.ts";

/** A message in a list, with where it belongs. */
export function toListedMessage(row: MessageRow) {
  return { ...toKeptMessage(row), instance_id: row.instance_id, conversation_id: row.conversation_id };
}
