import type { BaileysEventMap, ChatModification, WASocket } from "baileys";
import type { Label, LabelAssignment, LabelOperations } from "../../session-operations.ts";
import { changeAppState, resyncAppState } from "./change-app-state.ts";
import type { OperationContext } from "./operation-context.ts";

/** Labels are settings that all devices of the account share. */
export function createLabelOperations({ pending, sock, identities }: OperationContext): LabelOperations {
  const edit = (label: Label, deleted: boolean) =>
    pending.run(async () => {
      await changeAppState(sock, { addLabel: { ...label, deleted } }, "");
      return null;
    });
  return {
    list: () => pending.run(() => readLabels(sock)),
    save: (label) => edit(label, false),
    delete: (label) => edit(label, true),
    assign: (assignment) =>
      pending.run(async () => {
        const address = await identities.addressOf(assignment.chat);
        await changeAppState(sock, toModification(assignment), address);
        return null;
      }),
  };
}

/** Each label arrives as an event before the promise resolves. */
async function readLabels(sock: WASocket): Promise<Label[]> {
  const labels = new Map<string, Label>();
  const collect = ({ id, name, color, deleted }: BaileysEventMap["labels.edit"]) => {
    if (deleted) labels.delete(id);
    else labels.set(id, { id, name, color });
  };
  sock.ev.on("labels.edit", collect);
  try {
    await resyncAppState(sock, ["regular"]);
  } finally {
    sock.ev.off("labels.edit", collect);
  }
  return [...labels.values()];
}

function toModification({ label_id: labelId, message_id, labelled }: LabelAssignment): ChatModification {
  if (message_id === null) return labelled ? { addChatLabel: { labelId } } : { removeChatLabel: { labelId } };
  const message = { labelId, messageId: message_id };
  return labelled ? { addMessageLabel: message } : { removeMessageLabel: message };
}
