import { sql } from "kysely";
import type { Engine } from "../../../engine/engine.ts";
import type { NetworkEvent } from "../../../network/driver.ts";
import type { Db } from "../../../platform/db/database.ts";
import { addressesOf } from "../../contacts/contacts.ts";
import { queueReplacedFile } from "../../media/media.ts";
import { type MessageRow, selectMessages } from "./message-view.ts";

/** A better copy of the file of a message. */
export type FileReplacement = Extract<NetworkEvent, { type: "message_file_replaced" }>;

/** Replaces the file of a logged message of the same person, and fetches it again; ignores all others. */
export async function replaceFile(
  db: Db,
  engine: Engine,
  instanceId: number,
  replacement: FileReplacement,
): Promise<void> {
  const lanes = await db.transaction().execute(async (trx) => {
    const row = await selectMessages(trx)
      .where("m.instance_id", "=", instanceId)
      .where("m.message_id", "=", replacement.id)
      .where("m.jid", "in", addressesOf(replacement.chat))
      .where("m.deleted_at", "is", null)
      .forUpdate("m")
      .executeTakeFirst();
    if (!row || !isReplaceable(row, replacement)) return [];
    const { mime_type, size, sha256, seconds, ref } = replacement.file;
    const content = JSON.stringify({ mime_type, size, sha256, seconds, ref });
    await trx
      .updateTable("message")
      .set({ content: sql<string>`content || ${content}::jsonb` })
      .where("id", "=", row.id)
      .execute();
    return queueReplacedFile(trx, row.id);
  });
  engine.wake(lanes);
}

function isReplaceable(
  { content, from_me, sender }: MessageRow,
  { by, file, ...other }: FileReplacement,
): boolean {
  if (content.kind !== "media" || content.media_type !== file.media_type) return false;
  if (content.sha256 === file.sha256 || from_me !== other.from_me) return false;
  return sender?.jid === by.jid || (by.lid !== null && sender?.lid === by.lid);
}
