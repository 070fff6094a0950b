import type { ChatModification } from "baileys";
import type { Jid, MessageRef } from "../../driver.ts";
import { isGroupJid } from "../../jid.ts";
import type { ChatOperations, ChatState } from "../../session-operations.ts";
import { toMuteTime } from "../wire/mute-time.ts";
import { archivedKey } from "../wire/read-chat.ts";
import { changeAppState } from "./change-app-state.ts";
import type { OperationContext } from "./operation-context.ts";

type Last = MessageRef & { at: Date };

export function createChatOperations({
  pending,
  sock,
  identities,
  reported,
}: OperationContext): ChatOperations {
  return {
    setState: (chat, change, last) =>
      pending.run(async () => {
        const address = await identities.addressOf(chat);
        for (const modification of modificationsOf(change, address, last)) {
          await changeAppState(sock, modification, address);
        }
        if (change.archived !== undefined) reported.set(archivedKey(chat), String(change.archived));
        return null;
      }),
  };
}

function modificationsOf(change: ChatState, address: Jid, last: Last | undefined): ChatModification[] {
  const { archived, pinned, muted_until, unread } = change;
  const lastMessages = rangeOf(address, last);
  return [
    ...(archived === undefined ? [] : [{ archive: archived, lastMessages }]),
    ...(pinned === undefined ? [] : [{ pin: pinned }]),
    ...(muted_until === undefined ? [] : [{ mute: toMuteTime(muted_until) }]),
    ...(unread === undefined ? [] : [{ markRead: !unread, lastMessages }]),
  ];
}

/**
 * The last message to which the change applies. For groups only its time, because their writers have two
 * addresses.
 */
function rangeOf(address: Jid, last: Last | undefined) {
  if (!last) return [];
  const messageTimestamp = Math.floor(last.at.getTime() / 1000);
  if (isGroupJid(address)) return { lastMessageTimestamp: messageTimestamp };
  return [{ key: { remoteJid: address, id: last.id, fromMe: last.from_me }, messageTimestamp }];
}
