import type { BaileysEventMap } from "baileys";
import type { MessageId, NetworkEvent } from "../../driver.ts";
import type { IdentityStore } from "../keys/identity-store.ts";

/** The event of a label that the phone or another device has changed; undefined without an id. */
export function readLabel({
  id,
  name,
  color,
  deleted,
}: BaileysEventMap["labels.edit"]): NetworkEvent | undefined {
  if (!id) return undefined;
  return { type: "label_changed", label: { id, name: name ?? "", color: color ?? 0 }, is_deleted: deleted };
}

/** The event of a chat or a message that gets or loses a label; undefined for no chat. */
export async function readLabelAssignment(
  { association, type }: BaileysEventMap["labels.association"],
  identities: IdentityStore,
): Promise<NetworkEvent | undefined> {
  const chat = association.chatId ? await identities.chatOf(association.chatId) : undefined;
  if (!chat || !association.labelId) return undefined;
  const message_id = "messageId" in association ? (association.messageId as MessageId) : null;
  return {
    type: "label_assigned",
    label_id: association.labelId,
    chat,
    message_id,
    labelled: type === "add",
  };
}
