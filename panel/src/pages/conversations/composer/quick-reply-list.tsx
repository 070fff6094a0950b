import { useQuery } from "@tanstack/react-query";
import { type KeyboardEvent, useId, useState } from "react";
import { useTranslations } from "use-intl";
import { fillKnown } from "../../../../../src/platform/text/render-template.ts";
import { visibleName } from "../../../components/formats.tsx";
import { type Chat, leadQuery, type QuickReply, quickRepliesQuery } from "../conversation-queries.ts";

const SHOWN = 8;

/** Quick replies whose shortcut starts with the typed `/...`. */
export function useQuickReplies(chat: Chat, text: string, write: (text: string) => void) {
  const id = useId();
  const typed = /^\/([\p{L}\p{N}_-]*)$/u.exec(text)?.[1]?.toLowerCase();
  const { data } = useQuery({ ...quickRepliesQuery, enabled: typed !== undefined });
  const fill = useFilled(chat, typed !== undefined);
  const [at, setAt] = useState(0);
  const [closedFor, setClosedFor] = useState<string>();
  const isOpen = typed !== undefined && closedFor !== text;
  const found = isOpen ? (data ?? []).filter((one) => one.shortcut.startsWith(typed)).slice(0, SHOWN) : [];
  const active = Math.min(at, found.length - 1);
  // A reply with a file is sent by its shortcut, so that the gateway attaches the file.
  const choose = ({ shortcut, content, media_url }: QuickReply) => {
    write(media_url === null ? fill(content) : `/${shortcut}`);
    setClosedFor(media_url === null ? undefined : `/${shortcut}`);
    setAt(0);
  };
  /** Expands a text that is only the shortcut of a reply without a file. */
  const read = (typed: string): string => {
    const named = data?.find((one) => typed.toLowerCase() === `/${one.shortcut}` && one.media_url === null);
    return named ? fill(named.content) : typed;
  };
  const press = (event: KeyboardEvent): boolean => {
    const chosen = found[active];
    if (chosen === undefined || event.nativeEvent.isComposing) return false;
    if (event.key === "ArrowDown") setAt((active + 1) % found.length);
    else if (event.key === "ArrowUp") setAt((active + found.length - 1) % found.length);
    else if (event.key === "Enter" || event.key === "Tab") choose(chosen);
    else if (event.key === "Escape") setClosedFor(text);
    else return false;
    event.preventDefault();
    return true;
  };
  const fieldProps =
    found.length === 0
      ? {}
      : ({
          "aria-haspopup": "listbox",
          "aria-controls": id,
          "aria-autocomplete": "list",
          "aria-activedescendant": `${id}-${active}`,
        } as const);
  return { id, found, active, choose, read, press, fieldProps };
}

/** Fills in known values. Unknown variables stay visible to the writer. */
function useFilled({ phone, title }: Chat, isOpen: boolean): (content: string) => string {
  const { data: lead = null } = useQuery({ ...leadQuery(phone ?? ""), enabled: isOpen && phone !== null });
  return (content) => {
    const contact_name = visibleName(title) ?? null;
    return fillKnown(content, { phone: phone ?? "", variables: {}, lead, contact_name });
  };
}

export function QuickReplyList({ replies }: { replies: ReturnType<typeof useQuickReplies> }) {
  const t = useTranslations("conversations.compose");
  const { id, found, active, choose } = replies;
  if (found.length === 0) return null;
  return (
    <div className="quick-replies" role="listbox" id={id} aria-label={t("quickReplies")} tabIndex={-1}>
      {found.map((reply, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the keys go to the text field
        // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the text field
        <div
          key={reply.id}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === active}
          onClick={() => choose(reply)}
        >
          <strong>/{reply.shortcut}</strong> {(reply.title ?? reply.content).slice(0, 100)}
          {reply.media_url !== null && ` · ${t("withFile")}`}
        </div>
      ))}
    </div>
  );
}
