import { Outlet, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useTranslations } from "use-intl";
import { ChatList } from "./chats/chat-list.tsx";
import "./conversations.css";
import { useInfiniteQuery, useMutation, useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { FormDialog } from "../../components/dialogs/form-dialog.tsx";
import { Notice } from "../../components/error-notice.tsx";
import { PhoneField } from "../../components/fields/form-field.tsx";
import { showToast } from "../../components/toasts.tsx";
import { gateway } from "../../gateway/gateway.ts";
import { instanceQuery } from "../../gateway/queries.ts";
import { useShortcuts } from "../../shell/shortcuts.tsx";
import { type ConversationSearch, readConversationSearch } from "./chats/conversation-search.ts";
import { SearchResults } from "./chats/search-results.tsx";
import { CHAT_FILTERS, CHATS_PER_PAGE, chatQuery, chatsQuery, findUnread } from "./conversation-queries.ts";
import { flatten } from "./cursor-pages.ts";
import { titleOf } from "./person-name.ts";
import { useLiveConversations } from "./use-live-conversations.ts";

/** The chats with the open one beside them. A phone shows one of both. */
export function ConversationsPage() {
  const t = useTranslations("conversations");
  const { id } = useParams({ from: "/shell/instances/$id" });
  const { jid } = useParams({ strict: false });
  const { q = "", show = "all" } = useSearch({ from: "/shell/instances/$id/chats" });
  useLiveConversations(id);
  useUnreadKeys(id, jid);
  useTabTitle(id, jid);
  return (
    <div className="conversation" data-open={jid === undefined ? undefined : ""}>
      <section className="conversation-list" aria-label={t("title")}>
        <div className="conversation-list-head">
          <h2>{t("title")}</h2>
          <NewChat id={id} />
        </div>
        <ChatFilters />
        {q === "" ? (
          <ChatList key={show} id={id} filter={show} chosen={jid} />
        ) : (
          <SearchResults id={id} q={q} chosen={jid} />
        )}
      </section>
      <Outlet />
    </div>
  );
}

/** The browser tab shows the open chat and the unread count. */
function useTabTitle(id: number, jid: string | undefined): void {
  const unread = useInfiniteQuery(chatsQuery(id, "unread", ""));
  const open = useQuery({ ...chatQuery(id, jid ?? ""), enabled: jid !== undefined }).data;
  const row = useQuery(instanceQuery(id)).data;
  const { length } = flatten(unread.data?.pages);
  const count = length >= CHATS_PER_PAGE ? `${CHATS_PER_PAGE}+` : length;
  const name = jid !== undefined && open ? titleOf(open) : (row?.name ?? "");
  useEffect(() => {
    const before = document.title;
    document.title = `${length === 0 ? "" : `(${count}) `}${name} · Waygate`;
    return () => {
      document.title = before;
    };
  }, [length, count, name]);
}

/** Alt with an arrow key opens the next unread chat. */
function useUnreadKeys(id: number, jid: string | undefined): void {
  const t = useTranslations("conversations");
  const navigate = useNavigate();
  const go = async (step: 1 | -1) => {
    const next = await findUnread(id, jid, step);
    if (next === undefined) return showToast(t("noUnread"), "info");
    const search = ({ at: _, ...now }: ConversationSearch) => now;
    await navigate({ to: "/instances/$id/chats/$jid", params: { id, jid: next.jid }, search });
  };
  useShortcuts({
    "Alt+ArrowDown": () => void go(1),
    "Alt+ArrowUp": () => void go(-1),
  });
}

/** Opens a chat by number if the number is on WhatsApp. */
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
        <Notice tone="info" isUrgent>
          <p>{t("unknown")}</p>
        </Notice>
      )}
      <PhoneField name="number" label={t("number")} hint={t("hint")} autoComplete="off" />
    </FormDialog>
  );
}

const TYPING_MS = 300;

/** The URL holds search and filters. */
function ChatFilters() {
  const t = useTranslations("conversations");
  const { q = "", show = "all" } = useSearch({ from: "/shell/instances/$id/chats" });
  const change = useSearchChange();
  return (
    <div className="chat-filters">
      <SearchField q={q} onChange={(text) => change({ q: text || undefined })} />
      {q === "" && (
        <fieldset className="pills" aria-label={t("filter.label")}>
          {CHAT_FILTERS.map((filter) => (
            <Pill
              key={filter}
              label={t(`filter.${filter}`)}
              isOn={show === filter}
              onPress={() => change({ show: filter === "all" ? undefined : filter })}
            />
          ))}
        </fieldset>
      )}
    </div>
  );
}

/** Changes the search parameters and keeps the open chat. */
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
