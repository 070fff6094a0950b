import { useTranslations } from "use-intl";
import { stripFormatting } from "../formatting/strip-formatting.ts";
import { MessageText } from "../message-text.tsx";
import type { BodyProps, MessageKind } from "./message-kind.ts";

/** What cannot be read yet, and kinds that the panel does not know. */
export const unknownKind: MessageKind = {
  types: ["unreadable"],
  Body: UnknownBody,
  summarise: ({ type, text }, t) =>
    (text && stripFormatting(text)) ||
    t(type === "unreadable" ? "kinds.unreadable" : "kinds.unknown", { type }),
};

function UnknownBody({ message: { type, text } }: BodyProps) {
  const t = useTranslations("conversations.kinds");
  return (
    <>
      <p className="bubble-note">{t(type === "unreadable" ? "unreadableHelp" : "unknown", { type })}</p>
      {text && <MessageText text={text} />}
    </>
  );
}
