import { useTranslations } from "use-intl";
import type { Message } from "./conversation-queries.ts";
import { isSamePerson, nameOf } from "./person-name.ts";

interface ReactionListProps {
  reactions: Message["reactions"];
  ownJid: string | null;
}

/** Each emoji once, with who has chosen it. */
export function ReactionList({ reactions, ownJid }: ReactionListProps) {
  const t = useTranslations("conversations.thread");
  if (reactions.length === 0) return null;
  const emojis = [...new Set(reactions.map(({ reaction }) => reaction))];
  return (
    <ul className="reactions" aria-label={t("reactions")}>
      {emojis.map((emoji) => {
        const all = reactions.filter(({ reaction }) => reaction === emoji);
        const names = all.map(({ sender }) => (isSamePerson(sender, ownJid) ? t("you") : nameOf(sender)));
        return (
          <li key={emoji} title={names.join(", ")}>
            <span aria-hidden="true">
              {emoji} {all.length > 1 && all.length}
            </span>
            <span className="unseen">{`${emoji}: ${names.slice(0, 10).join(", ")}`}</span>
          </li>
        );
      })}
    </ul>
  );
}
