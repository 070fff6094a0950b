import type { Db } from "../../../../platform/db/database.ts";
import { invalidField } from "../../../../platform/gateway-error.ts";
import { findQuickReply } from "../../../quick-replies/quick-replies.ts";
import type { ContentKind, SendInput } from "./read-content.ts";

const BARE_SHORTCUT = /^\s*\/[\p{L}\p{N}_-]{1,64}\s*$/u;

/**
 * A text send with its quick reply filled in: the named one, or the one whose `/shortcut` is the whole text.
 */
export async function useQuickReply(
  db: Db,
  accountId: number,
  kind: ContentKind,
  input: SendInput,
): Promise<{ kind: ContentKind; input: SendInput }> {
  const name = input.quick_reply ?? (BARE_SHORTCUT.test(input.text ?? "") ? input.text : undefined);
  if (kind !== "text" || name === undefined) return { kind, input };
  const reply = await findQuickReply(db, accountId, name);
  if (!reply && input.quick_reply !== undefined)
    throw invalidField("quick_reply", "is not the shortcut of a quick reply");
  if (!reply) return { kind, input };
  const { content, media_url } = reply;
  if (media_url === null) return { kind, input: { ...input, text: content } };
  return { kind: "media", input: { ...input, url: media_url, caption: content } };
}
