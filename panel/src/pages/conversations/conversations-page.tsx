import { Link, Outlet, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useTranslations } from "use-intl";
import { ChatList } from "./chat-list.tsx";
import "./conversations.css";
import { useInfiniteQuery, useMutation } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { gateway } from "../../api/gateway.ts";
import { FaultNotice, Notice } from "../../components/fault-notice.tsx";
import { FormDialog } from "../../components/form-dialog.tsx";
import { PhoneField } from "../../components/form-field.tsx";
import { RelativeTime } from "../../components/formats.tsx";
import { Blank, LoadingState, LoadMore } from "../../components/page-head.tsx";
import { CHAT_FILTERS, type Message, messageSearchQuery } from "./conversation-queries.ts";
import { type ConversationSearch, readConversationSearch } from "./conversation-search.ts";
import { flatten } from "./cursor-pages.ts";
import { summarise } from "./kinds/kinds.tsx";
import { nameOf } from "./person-name.ts";
import { useLiveConversations } from "./use-live-conversations.ts";

/** The chats of an instance, with the chosen one beside them. On a phone one of both is shown. */
export function ConversationsPage() {
  const t = useTranslations("conversations");
  const { id } = useParams({ from: "/shell/instances/$id" });
  const { jid } = useParams({ strict: false });
  const { q = "", show = "all", in: where } = useSearch({ from: "/shell/instances/$id/chats" });
  useLiveConversations(id);
  return (
    <div className="talk" data-open={jid === undefined ? undefined : ""}>
      <section className="talk-list" aria-label={t("title")}>
        <div className="talk-list-head">
          <h2>{t("title")}</h2>
          <NewChat id={id} />
        </div>
        <ChatFilters />
        {where === "messages" && q !== "" ? (
          <MessageResults id={id} q={q} />
        ) : (
          <ChatList key={`${show} ${q}`} id={id} filter={show} q={q} chosen={jid} />
        )}
      </section>
      <Outlet />
    </div>
  );
}

/** Opens a chat by a number, after a check that the network knows it. */
function NewChat({ id }: { id: number }) {
  const t = useTranslations("conversations.newChat");
  const navigate = useNavigate();
  const check = useMutation({
    mutationFn: async (number: string) => (await gateway.checkContacts({ id, number })).data[0] ?? null,
  });
  const isUnknown = check.isSuccess && !check.data?.exists;
  const open = async ({ number = "" }: Partial<Record<string, string>>) => {
    const found = await check.mutateAsync(number);
    if (!found?.exists || found.jid === null) throw new Error("The number is not on the network.");
    await navigate({ to: "/instances/$id/chats/$jid", params: { id, jid: found.jid }, search: {} });
  };
  return (
    <FormDialog
      label={t("open")}
      title={t("title")}
      submitLabel={t("submit")}
      onSubmit={open}
      mutation={check}
    >
      {isUnknown && (
        <Notice tone="note" isUrgent>
          <p>{t("unknown")}</p>
        </Notice>
      )}
      <PhoneField name="number" label={t("number")} hint={t("hint")} maxLength={40} autoComplete="off" />
    </FormDialog>
  );
}

/** Messages that contain the words, newest first; each leads to its place in its chat. */
function MessageResults({ id, q }: { id: number; q: string }) {
  const t = useTranslations("conversations");
  const query = useInfiniteQuery(messageSearchQuery(id, q));
  const found = flatten(query.data?.pages);
  if (query.error) return <FaultNotice error={query.error} onRetry={() => void query.refetch()} />;
  if (!query.data) return <LoadingState />;
  if (found.length === 0) return <Blank title={t("nothingTitle")} help={t("nothingHelp")} />;
  return (
    <div className="chat-scroll">
      <ul aria-label={t("filter.messages")}>
        {found.map((message) => (
          <li key={message.id}>
            <Result id={id} message={message} />
          </li>
        ))}
      </ul>
      <LoadMore query={query} />
    </div>
  );
}

function Result({ id, message }: { id: number; message: Message }) {
  const t = useTranslations("conversations");
  // The list of a chat ends before this time.
  const at = new Date(Date.parse(message.timestamp) + 1).toISOString();
  const writer = message.from_me ? t("thread.you") : nameOf(message.sender ?? message);
  return (
    <Link
      to="/instances/$id/chats/$jid"
      params={{ id, jid: message.jid }}
      search={(now) => ({ ...now, at })}
      className="result-row"
      preload={false}
    >
      <span>
        <strong>{writer}</strong> <RelativeTime at={message.timestamp} />
      </span>
      <span className="result-text">{summarise(message, t).slice(0, 240)}</span>
    </Link>
  );
}

const TYPING_MS = 300;

/** Search and filters of the list; both stand in the address. */
function ChatFilters() {
  const t = useTranslations("conversations");
  const { q = "", show = "all", in: where } = useSearch({ from: "/shell/instances/$id/chats" });
  const change = useSearchChange();
  return (
    <div className="chat-filters">
      <SearchField
        q={q}
        onChange={(text) => change({ q: text || undefined, ...(text === "" && { in: undefined }) })}
      />
      <fieldset className="pills" aria-label={t("filter.label")}>
        {q === ""
          ? CHAT_FILTERS.map((filter) => (
              <Pill
                key={filter}
                label={t(`filter.${filter}`)}
                isOn={show === filter}
                onPress={() => change({ show: filter === "all" ? undefined : filter })}
              />
            ))
          : (["chats", "messages"] as const).map((place) => (
              <Pill
                key={place}
                label={t(`filter.${place}`)}
                isOn={(where ?? "chats") === place}
                onPress={() => change({ in: place === "messages" ? place : undefined })}
              />
            ))}
      </fieldset>
    </div>
  );
}

/** Changes the search of the address, and leaves the chosen chat open. */
function useSearchChange(): (next: Partial<Record<keyof ConversationSearch, string | undefined>>) => void {
  const { id } = useParams({ from: "/shell/instances/$id" });
  const { jid } = useParams({ strict: false });
  const navigate = useNavigate();
  return (next) => {
    const search = (now: object) => readConversationSearch({ ...now, ...next });
    if (jid === undefined)
      void navigate({ to: "/instances/$id/chats", params: { id }, search, replace: true });
    else void navigate({ to: "/instances/$id/chats/$jid", params: { id, jid }, search, replace: true });
  };
}

function Pill({ label, isOn, onPress }: { label: string; isOn: boolean; onPress(): void }) {
  return (
    <button type="button" className="filter-pill" aria-pressed={isOn} onClick={onPress}>
      {label}
    </button>
  );
}

function SearchField({ q, onChange }: { q: string; onChange(text: string): void }) {
  const t = useTranslations("conversations");
  const [text, setText] = useState(q);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const type = (next: string) => {
    setText(next);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => onChange(next.trim()), TYPING_MS);
  };
  return (
    <input
      type="search"
      className="search-field"
      aria-label={t("search")}
      placeholder={t("search")}
      value={text}
      maxLength={200}
      onChange={(event) => type(event.target.value)}
    />
  );
}
