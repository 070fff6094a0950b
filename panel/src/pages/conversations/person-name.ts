import { formatPhone, visibleName } from "../../components/formats.tsx";
import type { Chat, Message } from "./conversation-queries.ts";

interface Person {
  jid: string;
  phone: string | null;
  push_name?: string | null;
}

export function nameOf({ push_name, phone, jid }: Person): string {
  return visibleName(push_name) || (phone ? formatPhone(phone) : (jid.split("@", 1)[0] ?? jid));
}

export function titleOf({ title, phone, jid }: Pick<Chat, "title" | "phone" | "jid">): string {
  return visibleName(title) || nameOf({ jid, phone });
}

/** Two initials for an avatar. */
export function initialsOf(title: string): string {
  const words = title.split(/\s+/).filter((word) => /^\p{L}/u.test(word));
  return words.length === 0
    ? "#"
    : words
        .slice(0, 2)
        .map((word) => [...word][0]?.toUpperCase())
        .join("");
}

/** Whether two addresses belong to one person. */
export function isSamePerson(sender: Message["reactions"][number]["sender"], jid: string | null): boolean {
  return jid !== null && (sender.jid === jid || sender.lid === jid);
}
