import { type MessageRow, toStoredMessageView } from "../messages/messages.ts";

/** A message in a list, with its chat and instance. */
export function toListedMessage(row: MessageRow) {
  return { ...toStoredMessageView(row), instance_id: row.instance_id, conversation_id: row.conversation_id };
}
