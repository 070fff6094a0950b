import type { Chat } from "baileys";
import type { NetworkEvent } from "../../driver.ts";
import type { ChatState } from "../../session-operations.ts";
import type { IdentityStore } from "../keys/identity-store.ts";
import type { ItemCache } from "../keys/session-caches.ts";
import { fromMuteTime } from "./mute-time.ts";

type BaileysChatUpdate = Partial<Chat>;

/** Baileys' values for a chat that was marked on the phone; all others count messages. */
const READ = 0;
const UNREAD = -1;

/** The event of a changed chat state on the phone; undefined if there is none. */
export async function readChat(
  news: BaileysChatUpdate,
  people: IdentityStore,
  told: ItemCache<string>,
): Promise<NetworkEvent | undefined> {
  const { pinned, muteEndTime, unreadCount } = news;
  const archived = await archivedIn(news, people, told);
  return tell(news, people, {
    ...(archived !== undefined && { archived }),
    ...(pinned !== undefined && { pinned: (pinned ?? 0) > 0 }),
    ...(muteEndTime !== undefined && { muted_until: fromMuteTime(muteEndTime) }),
    ...((unreadCount === READ || unreadCount === UNREAD) && { unread: unreadCount === UNREAD }),
  });
}

/** With one account setting, every message unarchives its chat, even if the chat is not archived. */
async function archivedIn(
  { id, archived, messages }: BaileysChatUpdate,
  people: IdentityStore,
  told: ItemCache<string>,
): Promise<boolean | undefined> {
  const chat = id && archived != null ? await people.chatOf(id) : undefined;
  if (!chat || archived == null) return undefined;
  const isEcho = messages !== undefined && told.get(archivedKey(chat)) === String(archived);
  told.set(archivedKey(chat), String(archived));
  return isEcho ? undefined : archived;
}

/** Cache key of a chat's last reported archive state. */
export function archivedKey(chat: string): string {
  return `archived ${chat}`;
}

/** The event of a chat in the history; contains only values that differ from the defaults. */
export async function readHistoryChat(
  news: BaileysChatUpdate,
  people: IdentityStore,
): Promise<NetworkEvent | undefined> {
  const muted_until = news.muteEndTime == null ? null : fromMuteTime(news.muteEndTime);
  return tell(news, people, {
    ...(news.archived && { archived: true }),
    ...((news.pinned ?? 0) > 0 && { pinned: true }),
    ...(muted_until && muted_until > new Date() && { muted_until }),
    ...((news.markedAsUnread || news.unreadCount === UNREAD) && { unread: true }),
  });
}

async function tell(
  { id }: BaileysChatUpdate,
  people: IdentityStore,
  change: ChatState,
): Promise<NetworkEvent | undefined> {
  if (!id || Object.keys(change).length === 0) return undefined;
  const chat = await people.chatOf(id);
  return chat && { type: "chat_updated", chat, change };
}
