import { useQuery } from "@tanstack/react-query";
import { Link, useParams, useSearch } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { useTranslations } from "use-intl";
import { instanceQuery, stateQuery } from "../../api/queries.ts";
import { LinkButton } from "../../components/action-button.tsx";
import { FaultNotice } from "../../components/fault-notice.tsx";
import { formatPhone } from "../../components/format-phone.ts";
import { LoadingState } from "../../components/loading-state.tsx";
import { type Chat, chatQuery } from "./conversation-queries.ts";
import { initialsOf, titleOf } from "./person-name.ts";
import { Talk } from "./talk.tsx";

const Side = lazy(() => import("./side.tsx").then(({ Side }) => ({ default: Side })));

/** A chat: its messages, the field to write, and what is known of the contact. */
export function ConversationPage() {
  const { id, jid } = useParams({ from: "/shell/instances/$id/chats/$jid" });
  const { side, at = "" } = useSearch({ from: "/shell/instances/$id/chats/$jid" });
  const chat = useQuery(chatQuery(id, jid));
  const row = useQuery(instanceQuery(id));
  const state = useQuery(stateQuery(id));
  const error = chat.error ?? row.error ?? state.error;
  const isShown = chat.data !== undefined && row.data && state.data;
  if (error && !isShown) return <FaultNotice error={error} onRetry={() => void chat.refetch()} />;
  if (chat.data === undefined || !row.data || !state.data) return <LoadingState />;
  const shown = chat.data ?? unwritten(id, jid);
  const isSandbox = row.data.network === "sandbox";
  return (
    <>
      <section className="talk-main" data-beside={side ? "" : undefined} aria-label={titleOf(shown)}>
        <Head chat={shown} isSandbox={isSandbox} />
        <Talk key={`${shown.jid} ${at}`} chat={shown} until={at} isSandbox={isSandbox} state={state.data} />
      </section>
      {side && (
        <Suspense fallback={<LoadingState />}>
          <Side chat={shown} side={isSandbox ? side : "contact"} isConnected={state.data.connected} />
        </Suspense>
      )}
    </>
  );
}

/** A chat without a message: the gateway does not know it yet. */
function unwritten(instance_id: number, address: string): Chat {
  const jid = address.includes("@") ? address : `${address}@s.whatsapp.net`;
  const phone = /^(\d{7,15})@s\.whatsapp\.net$/.exec(jid)?.[1] ?? null;
  const is_group = jid.endsWith("@g.us");
  const off = { marked_unread: false, archived: false, pinned: false, muted: false };
  const never = { lid: null, title: null, muted_until: null, last_message_at: null, last_message: null };
  return {
    id: 0,
    instance_id,
    jid,
    phone,
    type: is_group ? "group" : "contact",
    is_group,
    unread_count: 0,
    ...off,
    ...never,
  };
}

function Head({ chat, isSandbox }: { chat: Chat; isSandbox: boolean }) {
  const t = useTranslations("conversations");
  const { side, at: _, ...search } = useSearch({ from: "/shell/instances/$id/chats/$jid" });
  const params = { id: chat.instance_id, jid: chat.jid };
  const title = titleOf(chat);
  const toggle = (to: "contact" | "sandbox") => (
    <LinkButton
      to="/instances/$id/chats/$jid"
      params={params}
      search={(now) => ({ ...now, side: side === to ? undefined : to })}
      data-on={side === to ? "" : undefined}
    >
      {t(`side.${to}`)}
    </LinkButton>
  );
  return (
    <header className="talk-head">
      <Link
        to="/instances/$id/chats"
        params={params}
        search={search}
        className="talk-back"
        aria-label={t("back")}
      >
        <svg width="22" height="22" viewBox="0 0 24 24" aria-hidden="true">
          <path
            d="M15 5l-7 7 7 7"
            fill="none"
            stroke="currentColor"
            strokeWidth="2.4"
            strokeLinecap="round"
          />
        </svg>
      </Link>
      <span className="avatar" aria-hidden="true" data-group={chat.is_group ? "" : undefined}>
        {initialsOf(title)}
      </span>
      <div className="talk-title">
        <h2>{title}</h2>
        <p className="hint">{chat.is_group ? t("group") : chat.phone ? formatPhone(chat.phone) : chat.lid}</p>
      </div>
      <div className="talk-tools">
        {toggle("contact")}
        {isSandbox && toggle("sandbox")}
      </div>
    </header>
  );
}
