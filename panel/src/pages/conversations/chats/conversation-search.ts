import type { ChatFilter } from "../conversation-queries.ts";

const LONGEST = 200;
const FILTERS: readonly unknown[] = ["unread", "groups", "pinned", "archived"];

/** Search parameters of a conversation. */
export interface ConversationSearch {
  q?: string;
  show?: Exclude<ChatFilter, "all">;
  side?: "contact" | "sandbox";
  /** Shows the messages before this time. */
  at?: string;
}

export function readConversationSearch(search: Record<string, unknown>): ConversationSearch {
  const { q, show, side, at } = search;
  const text = q === undefined ? "" : String(q).slice(0, LONGEST);
  const isTime = typeof at === "string" && at.length <= 40 && !Number.isNaN(Date.parse(at));
  return {
    ...(text !== "" && { q: text }),
    ...(FILTERS.includes(show) && { show: show as Exclude<ChatFilter, "all"> }),
    ...((side === "contact" || side === "sandbox") && { side }),
    ...(isTime && { at }),
  };
}
