import { proto } from "baileys";
import type { MessageRef } from "../../driver.ts";
import { isGroupJid } from "../../jid.ts";
import type { AppPatch } from "./change-app-state.ts";

/** What the devices of an account know of a message. */
export type MessageSetting = { starred: boolean } | { deletes_sent_at: Date };

/**
 * The target names people as the chat does. Baileys writes a star into another collection, and never the writer, so that
 * phones do not find the message of a group.
 */
export function messagePatch(target: MessageRef, setting: MessageSetting): AppPatch {
  const common = { type: "regular_high", operation: proto.SyncdMutation.SyncdOperation.SET } as const;
  if ("starred" in setting)
    return {
      ...common,
      index: ["star", ...indexOf(target)],
      syncAction: { starAction: { starred: setting.starred } },
      apiVersion: 2,
    };
  const messageTimestamp = Math.floor(setting.deletes_sent_at.getTime() / 1000);
  return {
    ...common,
    index: ["deleteMessageForMe", ...indexOf(target)],
    syncAction: { deleteMessageForMeAction: { deleteMedia: true, messageTimestamp } },
    apiVersion: 3,
  };
}

/** The writer is named only of another member's message in a group. */
function indexOf({ chat, id, from_me, sender }: MessageRef): string[] {
  const writer = isGroupJid(chat) && !from_me ? sender : undefined;
  return [chat, id, from_me ? "1" : "0", writer ?? "0"];
}
