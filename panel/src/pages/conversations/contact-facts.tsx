import { useQuery } from "@tanstack/react-query";
import { useTranslations } from "use-intl";
import { Facts } from "../../components/facts.tsx";
import { formatPhone } from "../../components/format-phone.ts";
import { type Chat, contactQuery } from "./conversation-queries.ts";
import { titleOf } from "./person-name.ts";

/** What the network and the address book say of the contact. */
export function ContactFacts({ chat, isConnected }: { chat: Chat; isConnected: boolean }) {
  const t = useTranslations("conversations.contact");
  const isAsked = isConnected && !chat.is_group;
  const { data } = useQuery({ ...contactQuery(chat.instance_id, chat.jid), enabled: isAsked });
  const facts = [
    { name: t("name"), value: data?.name ?? titleOf(chat) },
    { name: t("number"), value: chat.phone === null ? t("hidden") : formatPhone(chat.phone) },
    { name: "LID", value: chat.lid && <span className="code">{chat.lid}</span> },
    { name: t("pushName"), value: data?.push_name },
    { name: t("verifiedName"), value: data?.verified_name },
    { name: t("about"), value: data?.about },
    { name: t("blocked"), value: data?.is_blocked ? t("isBlocked") : null },
  ];
  return (
    <div className="side-part">
      {data?.picture_url?.startsWith(location.origin) && (
        <img className="contact-picture" src={data.picture_url} alt={t("picture")} />
      )}
      <Facts facts={facts.filter(({ value }) => value)} />
    </div>
  );
}
