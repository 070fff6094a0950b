import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { useTranslations } from "use-intl";
import { CHAT_FILTERS } from "./conversation-queries.ts";
import { type ConversationSearch, readConversationSearch } from "./conversation-search.ts";

const TYPING_MS = 300;

/** Search and filters of the list; both stand in the address. */
export function ChatFilters() {
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
