import { sql } from "kysely";
import type { Jid, MediaContent } from "../../network/driver.ts";
import { isGroupJid } from "../../network/jid.ts";
import type { Db, Trx } from "../../platform/db/database.ts";
import { type EventTag, recordEvents } from "../events/events.ts";
import { MEDIA_COLUMNS, type MediaColumns, markFilesForDeletion, toMediaView } from "./media.ts";
import { isOverStorageQuota } from "./storage-quota.ts";

export interface ReadyFile {
  id: string;
  blob: number;
  sha256: string;
  size: number;
  mime_type: string;
}

class NoStorageLeft extends Error {}

/**
 * Records that a file is in the store, and ends its job. Returns the lanes to wake; `over_quota`, without
 * changes, if the account's storage quota is used up; undefined if the stored file is being deleted and must
 * be stored again.
 */
export async function recordReadyFile(
  db: Db,
  job: number,
  file: ReadyFile,
): Promise<number[] | "over_quota" | undefined> {
  const recorded = db.transaction().execute(async (trx) => {
    // From here on the file cannot be deleted.
    const { rows: locked } = await sql`
      select from blob where id = ${file.blob} and status = 'stored' for key share`.execute(trx);
    if (locked.length === 0) return undefined;
    const upload = await claimUpload(trx, file.id);
    const { blob, sha256, size, mime_type } = file;
    await trx
      .updateTable("media")
      .set({ status: "ready", reason: null, upload: null, ready_at: sql<Date>`now()` })
      .set({ blob, sha256, size, mime_type })
      .where("id", "=", file.id)
      .where("status", "=", "pending")
      .execute();
    if (upload !== null) await dropWaiting(trx, file.id, upload);
    if (await isOverStorageQuota(trx, file.id)) throw new NoStorageLeft();
    const { numDeletedRows } = await trx.deleteFrom("job").where("id", "=", job).executeTakeFirstOrThrow();
    // An earlier try, whose response was lost, has ended the job.
    const isFirst = numDeletedRows > 0n;
    return isFirst && upload === null ? recordReadyEvent(trx, file.id) : [];
  });
  return recorded.catch((error: unknown) => {
    if (error instanceof NoStorageLeft) return "over_quota";
    throw error;
  });
}

/** Prepares the download of the file that the message has now, unless that one is stored already. */
export async function dropReplacedFile(db: Db, id: string): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const { rows } = await sql<{ blob: number | null }>`
      with old as (
        select f.id, f.blob, m.content from media f join message m on m.id = f.message
        where f.id = ${id} and f.status <> 'pending' and f.sha256 is distinct from m.content ->> 'sha256'
        for update of f
      )
      update media f set status = 'pending', reason = null, blob = null, ready_at = null, sha256 = null,
        size = (old.content ->> 'size')::bigint, mime_type = old.content ->> 'mime_type'
      from old where f.id = old.id returning old.blob`.execute(trx);
    await markFilesForDeletion(
      trx,
      rows.flatMap(({ blob }) => blob ?? []),
    );
  });
}

/** Other messages may need the file of a campaign: it is deleted with the orphans. */
async function dropWaiting(trx: Trx, id: string, upload: string): Promise<void> {
  await sql`
    delete from outgoing_media where id = ${upload} and not exists (
      select from media f join message m on m.id = f.message where f.id = ${id} and m.origin = 'campaign')`.execute(
    trx,
  );
}

/** Null for an inbound file. */
async function claimUpload(trx: Trx, id: string): Promise<string | null> {
  const row = await trx
    .selectFrom("media")
    .select("upload")
    .where("id", "=", id)
    .forUpdate()
    .executeTakeFirst();
  return row?.upload ?? null;
}

type ReadyRow = MediaColumns & {
  id: number;
  jid: Jid;
  message_id: string;
  from_me: boolean;
  content: MediaContent;
};

/** Reports inbound files; the sender of an outbound file has it already. */
async function recordReadyEvent(trx: Trx, id: string): Promise<number[]> {
  const row = await trx
    .selectFrom("media as f")
    .innerJoin("message as m", "m.id", "f.message")
    .select(MEDIA_COLUMNS)
    .select(["m.id", "m.instance_id", "m.message_id", "m.jid", "m.from_me", "m.content"])
    .where("f.id", "=", id)
    .where("f.status", "=", "ready")
    .$castTo<ReadyRow>()
    .executeTakeFirst();
  if (!row) return [];
  const { instance_id, message_id, jid, from_me } = row;
  const data = { id: row.id, message_id, jid, from_me, media: toMediaView(row, row.content) };
  return recordEvents(trx, [{ event: "media.ready", instance_id, chat: jid, tags: tagsOf(row), data }]);
}

function tagsOf({ from_me, jid }: ReadyRow): EventTag[] {
  return [...(from_me ? (["from_me"] as const) : []), ...(isGroupJid(jid) ? (["groups"] as const) : [])];
}

/** Records that the file will not arrive: the network no longer has it, or it is unavailable. */
export async function failFile(db: Db, job: number, id: string, reason: string): Promise<void> {
  const status = reason === "gone" ? "expired" : "failed";
  await sql`
    with ended as (
      update media set status = ${status}, reason = ${reason}, upload = null where id = ${id} and status = 'pending'
    )
    delete from job where id = ${job}`.execute(db);
}
