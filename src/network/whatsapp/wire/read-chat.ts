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
  update: BaileysChatUpdate,
  identities: IdentityStore,
  reported: ItemCache<string>,
): Promise<NetworkEvent | undefined> {
  const { pinned, muteEndTime, unreadCount } = update;
  const archived = await archivedIn(update, identities, reported);
  return report(update, identities, {
    ...(archived !== undefined && { archived }),
    ...(pinned !== undefined && { pinned: (pinned ?? 0) > 0 }),
    ...(muteEndTime !== undefined && { muted_until: fromMuteTime(muteEndTime) }),
    ...((unreadCount === READ || unreadCount === UNREAD) && { unread: unreadCount === UNREAD }),
  });
}

/** With one account setting, every message unarchives its chat, even if the chat is not archived. */
async function archivedIn(
  { id, archived, messages }: BaileysChatUpdate,
  identities: IdentityStore,
  reported: ItemCache<string>,
): Promise<boolean | undefined> {
  const chat = id && archived != null ? await identities.chatOf(id) : undefined;
  if (!chat || archived == null) return undefined;
  const isEcho = messages !== undefined && reported.get(archivedKey(chat)) === String(archived);
  reported.set(archivedKey(chat), String(archived));
  return isEcho ? undefined : archived;
}

/** Cache key of a chat's last reported archive state. */
export function archivedKey(chat: string): string {
  return `archived ${chat}`;
}

/** The event of a chat in the history; contains only values that differ from the defaults. */
export async function readHistoryChat(
  update: BaileysChatUpdate,
  identities: IdentityStore,
): Promise<NetworkEvent | undefined> {
  const muted_until = update.muteEndTime == null ? null : fromMuteTime(update.muteEndTime);
  return report(update, identities, {
    ...(update.archived && { archived: true }),
    ...((update.pinned ?? 0) > 0 && { pinned: true }),
    ...(muted_until && muted_until > new Date() && { muted_until }),
    ...((update.markedAsUnread || update.unreadCount === UNREAD) && { unread: true }),
  });
}

async function report(
  { id }: BaileysChatUpdate,
  identities: IdentityStore,
  change: ChatState,
): Promise<NetworkEvent | undefined> {
  if (!id || Object.keys(change).length === 0) return undefined;
  const chat = await identities.chatOf(id);
  return chat && { type: "chat_updated", chat, change };
}
