import { proto } from "baileys";
import type { MessageRef } from "../../driver.ts";
import { isGroupJid } from "../../jid.ts";
import type { AppPatch } from "./change-app-state.ts";

/** What the devices of an account know of a message. */
export type MessageSetting = { starred: boolean };

/**
 * The target names people as the chat does. Baileys writes a star into another collection, and never the writer, so that
 * phones do not find the message of a group.
 */
export function messagePatch(target: MessageRef, { starred }: MessageSetting): AppPatch {
  return {
    type: "regular_high",
    index: ["star", ...indexOf(target)],
    syncAction: { starAction: { starred } },
    apiVersion: 2,
    operation: proto.SyncdMutation.SyncdOperation.SET,
  };
}

/** The writer is named only of another member's message in a group. */
function indexOf({ chat, id, from_me, sender }: MessageRef): string[] {
  const writer = isGroupJid(chat) && !from_me ? sender : undefined;
  return [chat, id, from_me ? "1" : "0", writer ?? "0"];
}
