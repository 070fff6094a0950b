import type { Message } from "../conversation-queries.ts";
import { audioKind } from "./audio-kind.tsx";
import { contactKind } from "./contact-kind.tsx";
import { documentKind } from "./document-kind.tsx";
import { imageKind } from "./image-kind.tsx";
import { locationKind } from "./location-kind.tsx";
import type { MessageKind, Texts } from "./message-kind.ts";
import { textKind } from "./text-kind.tsx";
import { unknownKind } from "./unknown-kind.tsx";
import { videoKind } from "./video-kind.tsx";

/** Every kind of message that the panel knows, in the order in which it offers to write them. */
export const KINDS: readonly MessageKind[] = [
  textKind,
  imageKind,
  audioKind,
  locationKind,
  contactKind,
  documentKind,
  videoKind,
];

const byType = new Map(KINDS.flatMap((kind) => kind.types.map((type) => [type, kind] as const)));

/** The kind of a message; one that the panel does not know yet is shown as such. */
export function kindOf({ type }: Pick<Message, "type">): MessageKind {
  return byType.get(type) ?? unknownKind;
}

export function summarise(message: Message, t: Texts): string {
  return message.deleted_at === null ? kindOf(message).summarise(message, t) : t("thread.deleted");
}
