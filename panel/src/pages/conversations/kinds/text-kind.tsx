import { useTranslations } from "use-intl";
import { gateway } from "../../../gateway/gateway.ts";
import type { Message } from "../conversation-queries.ts";
import { stripFormatting } from "../formatting/strip-formatting.ts";
import { MessageText } from "../message-text.tsx";
import type { BodyProps, MessageKind, Outgoing } from "./message-kind.ts";

export const textKind: MessageKind = {
  types: ["text"],
  Body: TextBody,
  summarise: ({ text, group_invite }, t) =>
    group_invite ? t("kinds.invite", { name: group_invite.name ?? "" }) : stripFormatting(text ?? ""),
  resend: ({ text }) => postText(text ?? ""),
};

export function postText(text: string): Outgoing["post"] {
  return (target, call) => gateway.sendText({ ...target, text }, call);
}

function TextBody({ message }: BodyProps) {
  return (
    <>
      {message.text && <MessageText text={message.text} />}
      <Extras message={message} />
    </>
  );
}

/** A choice in a form, a group invitation, or the advertisement that started the chat. */
function Extras({ message: { choice, group_invite: invite, ad } }: { message: Message }) {
  const t = useTranslations("conversations.kinds");
  return (
    <>
      {choice && <p className="bubble-note">{t("choice", { id: choice.id ?? choice.name ?? "" })}</p>}
      {invite && <p className="bubble-note">{t("invite", { name: invite.name ?? invite.group })}</p>}
      {ad && <p className="bubble-note">{t("ad", { title: ad.title ?? ad.source_id ?? "" })}</p>}
    </>
  );
}
