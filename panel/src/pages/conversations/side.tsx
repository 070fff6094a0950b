import { Link, useSearch } from "@tanstack/react-router";
import { useTranslations } from "use-intl";
import { ChatActions } from "./chat-actions.tsx";
import { ConsentRecords } from "./consent-records.tsx";
import { ContactFacts } from "./contact-facts.tsx";
import type { Chat } from "./conversation-queries.ts";
import { LeadSide } from "./lead-side.tsx";
import { SandboxSide } from "./sandbox-side.tsx";
import "./side.css";

interface SideProps {
  chat: Chat;
  side: "contact" | "sandbox";
  isConnected: boolean;
}

/** Beside the thread: who the contact is, or what the sandbox lets the contact do. */
export function Side({ chat, side, isConnected }: SideProps) {
  const t = useTranslations("conversations");
  const { side: _, ...search } = useSearch({ from: "/shell/instances/$id/chats/$jid" });
  const params = { id: chat.instance_id, jid: chat.jid };
  return (
    <section className="talk-side" aria-label={t(`side.${side}`)}>
      <div className="talk-side-head">
        <h2>{t(`side.${side}`)}</h2>
        <Link
          to="/instances/$id/chats/$jid"
          params={params}
          search={search}
          className="button"
          data-kind="bare"
        >
          {t("side.close")}
        </Link>
      </div>
      {side === "sandbox" ? (
        <SandboxSide chat={chat} isConnected={isConnected} />
      ) : (
        <>
          <ContactFacts chat={chat} isConnected={isConnected} />
          <ChatActions chat={chat} />
          {chat.phone !== null && <LeadSide chat={chat} phone={chat.phone} />}
          {chat.phone !== null && <ConsentRecords phone={chat.phone} />}
        </>
      )}
    </section>
  );
}
