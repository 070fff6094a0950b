import { type RawBuilder, sql } from "kysely";
import type { MediaContent } from "../../network/driver.ts";
import type { Db, Trx } from "../../platform/db/database.ts";
import { PREPARED_STATEMENT, rowCountHint } from "../../platform/db/prepared-statement.ts";
import { GatewayError } from "../../platform/gateway-error.ts";

export { requireStorageQuota } from "./storage-quota.ts";

/** Of a media row that is joined as `f`; what `toMediaView` needs beside the message. */
export const MEDIA_COLUMNS = [
  "f.id as media_id",
  "f.status as media_status",
  "f.reason as media_reason",
  "f.sha256 as media_sha256",
  "f.size as media_size",
  "f.mime_type as media_mime_type",
] as const;

/** A message with its media row; all null where there is none. */
export interface MediaColumns {
  instance_id: number;
  media_id: string | null;
  media_status: "pending" | "ready" | "failed" | "expired" | null;
  media_reason: string | null;
  media_sha256: string | null;
  media_size: number | null;
  media_mime_type: string | null;
}

type Media = Omit<MediaContent, "bytes"> & { upload?: string; shared?: string };

/** The file of a message as events and responses show it. */
export function toMediaView(row: MediaColumns, media: Media) {
  return {
    id: row.media_id,
    status: row.media_status ?? statusWithoutRow(media),
    url: row.media_id && `/api/v1/instances/${row.instance_id}/media/${row.media_id}`,
    type: media.media_type,
    mime_type: row.media_mime_type ?? media.mime_type,
    file_name: media.file_name ?? null,
    size: row.media_size ?? media.size,
    sha256: row.media_sha256 ?? media.sha256 ?? null,
    seconds: media.seconds ?? null,
    ...toLook(media),
    reason: row.media_reason,
  };
}

/** How phones show the file, where they do so in another way than others of its type. */
function toLook({ view_once, gif_playback, ptv, is_animated, page_count }: Media) {
  return {
    ...(view_once && { view_once }),
    ...(gif_playback && { gif_playback }),
    ...(ptv && { ptv }),
    ...(is_animated && { is_animated }),
    ...(page_count !== undefined && { page_count }),
  };
}

/**
 * `remote`: only the network has it, such as the file of a message from before the pairing; a download
 * fetches it.
 */
function statusWithoutRow({ upload, shared, ref }: Media): "pending" | "remote" | "expired" {
  if ((upload ?? shared) !== undefined) return "pending";
  return ref === undefined ? "expired" : "remote";
}

/** Temporary URLs of files that need no key. */
export interface MediaUrls {
  /** The URL of a file, valid for this many seconds. */
  create(mediaId: string, ttlSeconds: number): string;
  /** Whether this gateway has signed it, and it has not expired. */
  isGood(mediaId: string, expires: string, signature: string): boolean;
}

/**
 * Requested files go before files that have just arrived. Arriving files share their priority with campaigns,
 * so that neither starves the other.
 */
const PRIO = { wanted: 1, arrived: 2 };
/** The most concurrent downloads of an instance; its other slots are for sends. */
const GROUPS = 2;
const REQUESTED_GROUP = "media:wanted";
/** In the order of their next attempts. */
export const MEDIA_RETRY_GROUP = "media:again";
/** All job groups of downloads; none of them waits for the instance's sends. */
export const MEDIA_GROUPS: readonly string[] = [
  ...Array.from({ length: GROUPS }, (_, n) => `media:${n}`),
  REQUESTED_GROUP,
  MEDIA_RETRY_GROUP,
];

/** The arguments of a file's job. */
export interface MediaJobRef {
  do: "media";
  media: string;
  /** The message has another file now; the stored one is dropped. */
  replaces?: true;
}

/** An inbound message, which may have a file. */
interface FileOfMessage {
  id: number;
  content: { kind: string; ref?: unknown };
}

/**
 * Records the files of inbound messages, and queues their download by the session that can fetch them.
 * Returns the lanes to wake after the commit.
 */
export async function queueInboundFiles(trx: Trx, messages: readonly FileOfMessage[]): Promise<number[]> {
  const withFile = messages.filter(({ content }) => content.kind === "media" && content.ref !== undefined);
  if (withFile.length === 0) return [];
  const ids = withFile.map(({ id }) => id);
  const { rows } = await sql<{ lane: number }>`${PREPARED_STATEMENT}
    with added as (
      insert into media (account_id, instance_id, message, status, mime_type, file_name, size)
      select account_id, instance_id, id, 'pending', content ->> 'mime_type', content ->> 'file_name',
        (content ->> 'size')::bigint
      from message where id in (select unnest(${ids}::bigint[]) ${rowCountHint(ids)})
      order by id on conflict (message) do nothing
      returning id, instance_id, message
    ), ${queued}
    select distinct lane from queued`.execute(trx);
  return rows.map((row) => row.lane);
}

/** Like `queueInboundFiles`, for files that were sent: they move from where they waited for their send into the store. */
export async function queueSentFiles(
  trx: Trx,
  sent: readonly { id: number; upload: string }[],
): Promise<number[]> {
  if (sent.length === 0) return [];
  const { rows } = await sql<{ lane: number }>`
    with added as (
      insert into media (account_id, instance_id, message, status, mime_type, file_name, size, sha256, upload)
      select m.account_id, m.instance_id, m.id, 'pending', m.content ->> 'mime_type', m.content ->> 'file_name',
        (m.content ->> 'size')::bigint, m.content ->> 'sha256', x.upload
      from unnest(${sent.map(({ id }) => id)}::bigint[], ${sent.map(({ upload }) => upload)}::text[]) as x (id, upload)
      join message m on m.id = x.id order by m.id on conflict (message) do nothing
      returning id, instance_id, message
    ), ${queued}
    select distinct lane from queued`.execute(trx);
  return rows.map((row) => row.lane);
}

/** Like `queueInboundFiles`, for a message whose content names another file than before. */
export async function queueReplacedFile(trx: Trx, message: number): Promise<number[]> {
  const { rows } = await sql<{ lane: number }>`
    with added as (
      select id, instance_id, message from media where message = ${message}
    ), ${queuedAs(sql`jsonb_build_object('do', 'media', 'media', a.id, 'replaces', true)`)}
    select distinct lane from queued`.execute(trx);
  return rows.map((row) => row.lane);
}

const queuedAs = (ref: RawBuilder<unknown>) => sql`queued as (
  insert into job (lane, prio, pos, grp, ref)
  select i.lane, ${sql.lit(PRIO.arrived)}, a.message, 'media:' || a.message % ${sql.lit(GROUPS)}, ${ref}
  from added a join instance i on i.id = a.instance_id order by a.message
  returning lane)`;

const queued = queuedAs(sql`jsonb_build_object('do', 'media', 'media', a.id)`);

/**
 * Requests a file that was not downloaded, such as one from before the pairing; returns the lanes to wake.
 */
export async function requestFile(db: Db, message: number): Promise<number[]> {
  const { rows } = await sql<{ lane: number }>`
    with added as (
      insert into media as m (account_id, instance_id, message, status, mime_type, file_name, size)
      select account_id, instance_id, id, 'pending', content ->> 'mime_type', content ->> 'file_name',
        (content ->> 'size')::bigint
      from message where id = ${message} and content ? 'ref'
      on conflict (message) do update set status = 'pending', reason = null where m.status = 'failed'
      returning id, instance_id, message
    )
    insert into job (lane, prio, pos, grp, ref)
    select i.lane, ${PRIO.wanted}, a.message, ${REQUESTED_GROUP}, jsonb_build_object('do', 'media', 'media', a.id)
    from added a join instance i on i.id = a.instance_id
    returning lane`.execute(db);
  return rows.map((row) => row.lane);
}

/** Marks the stored files that no message references for deletion; the sweep of their node deletes them. */
export async function markFilesForDeletion(trx: Trx, blobs: readonly number[]): Promise<void> {
  if (blobs.length === 0) return;
  const which = [...new Set(blobs)];
  await sql`
    select from blob where id = any(${which}::bigint[]) and status = 'stored' order by id for update`.execute(
    trx,
  );
  // A new reference locks the file's row, so this statement sees all references.
  await sql`
    update blob b set status = 'deleting' where id = any(${which}::bigint[]) and status = 'stored'
      and not exists (select from media where blob = b.id)`.execute(trx);
}

const PARTS_AT_ONCE = 8;

/** The parts of a pending file in order; none if it is deleted. */
export async function* readParts(db: Db, upload: string): AsyncGenerator<Buffer> {
  for (let from = 0; ; from += PARTS_AT_ONCE) {
    const parts = await db
      .selectFrom("outgoing_media")
      .select("bytes")
      .where("id", "=", upload)
      .where("part", ">=", from)
      .where("part", "<", from + PARTS_AT_ONCE)
      .orderBy("part")
      .execute();
    for (const { bytes } of parts) yield bytes;
    if (parts.length < PARTS_AT_ONCE) return;
  }
}

/** For a file that is not there, or not for this caller. */
export function noFile(): GatewayError {
  return new GatewayError("NOT_FOUND", "There is no such file.");
}
