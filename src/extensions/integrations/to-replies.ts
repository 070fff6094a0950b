import { noFile } from "../../core/media/media.ts";
import {
  deleteOutgoing,
  readMedia,
  type StoredContent,
  type StoredMedia,
  showsCaption,
  toQuestion,
} from "../../core/messages/messages.ts";
import type { MediaType } from "../../network/driver.ts";
import type { Db } from "../../platform/db/database.ts";
import { GatewayError } from "../../platform/gateway-error.ts";
import type { SpooledUpload, UploadedFile } from "../../platform/http/route.ts";
import type { IntegrationDeps } from "./integration-provider.ts";
import type { OutgoingReply } from "./queue-replies.ts";

/** A link may end in a name, so that its path has an extension. */
const LINK = /\/media\/(med_\w{1,60})\/(\d{1,12})\/([\w-]{1,100})(?:\/[^/]{1,200})?$/;

/** For a link that is a path only. */
const ANY_BASE = "http://gateway.invalid";

const LONGEST_LINK = 2_000;

/** A provider's reply, before its files are fetched. */
export type ReplyPart = Pick<OutgoingReply, "delay_ms" | "run_at"> &
  (
    | { kind: "text"; text: string }
    /** Goes out as a poll if phones can show it so, else as a text with numbered options. */
    | { kind: "question"; text: string; options: { id: string; text: string }[] }
    | (MediaSource & { kind: "media"; type?: MediaType; caption?: string; file_name?: string })
  );

/** The URL of a file, or the file itself. */
type MediaSource = { url: string; file?: undefined } | { url?: undefined; file: UploadedFile };

type MediaPart = Extract<ReplyPart, { kind: "media" }>;

/** Time limit for all files of a reply together. */
const FILES_MS = 60_000;
const FILE_MS = 20_000;

/**
 * Fetches the files of a reply, each within 20 s. If a file is unavailable, only its caption is sent: its URL
 * may be internal or signed, and does not help a customer. `failures`: the reasons, as text.
 */
export async function toReplies(
  deps: IntegrationDeps,
  account_id: number,
  parts: readonly ReplyPart[],
): Promise<{ replies: OutgoingReply[]; failures: string[] }> {
  const replies: OutgoingReply[] = [];
  const failures: string[] = [];
  const giveUpAt = performance.now() + FILES_MS;
  for (const part of parts) {
    const { delay_ms, run_at } = part;
    const delay = { ...(delay_ms !== undefined && { delay_ms }), ...(run_at && { run_at }) };
    if (part.kind === "text") {
      replies.push({ content: { kind: "text", text: part.text }, ...delay });
      continue;
    }
    if (part.kind === "question") {
      replies.push({ content: toQuestion(part.text, part.options), ...delay });
      continue;
    }
    const file = await fetchPlayable({ ...deps, account_id }, part, giveUpAt).catch((error: unknown) => {
      if (!(error instanceof GatewayError)) throw error;
      failures.push(`The file ${nameOf(part)} of the reply was not sent. ${error.message}`);
      return undefined;
    });
    replies.push(...withCaption(file, part.caption).map((content) => ({ content, ...delay })));
  }
  return { replies, failures };
}

/** Words that phones do not show with the file go before it, as those of a file that is unavailable. */
function withCaption(file: StoredMedia | undefined, caption: string | undefined): StoredContent[] {
  if (!caption) return file ? [file] : [];
  if (file && showsCaption(file)) return [{ ...file, caption }];
  return [{ kind: "text", text: caption }, ...(file ? [file] : [])];
}

type FileDeps = IntegrationDeps & { account_id: number };

/** Audio that cannot be converted to a voice note here goes as audio. */
async function fetchPlayable(deps: FileDeps, part: MediaPart, giveUpAt: number): Promise<StoredMedia> {
  try {
    return await fetchFile(deps, part, giveUpAt);
  } catch (error) {
    const isNoVoiceNote = error instanceof GatewayError && error.code !== "MEDIA_DOWNLOAD_FAILED";
    if (part.type !== "ptt" || !isNoVoiceNote) throw error;
    return fetchFile(deps, { ...part, type: "audio" }, giveUpAt);
  }
}

async function fetchFile(deps: FileDeps, { url, file, type, file_name }: MediaPart, giveUpAt: number) {
  const { db, outgoing, maxBytes, converter, account_id } = deps;
  const leftMs = Math.min(FILE_MS, giveUpAt - performance.now());
  const own = url === undefined ? file : await openOwnFile(deps, url, account_id);
  const source = own ? { file: own } : { url };
  const named = {
    ...source,
    ...(type && { type }),
    ...(file_name && { file_name }),
  };
  if (leftMs <= 0)
    throw new GatewayError("MEDIA_DOWNLOAD_FAILED", "The files of the reply could not be fetched in time.");
  return readMedia(named, { db, outgoing, maxBytes, converter, account_id, downloadMs: leftMs });
}

const LONGEST_NAME = 200;
/** Longer path segments may be signatures or tokens. */
const LONG_PART = /[^/]{21,}/g;

/** The URL without parts that may be secret. */
function nameOf({ url }: MediaPart): string {
  if (url === undefined || !/^https?:/i.test(url) || !URL.canParse(url)) return "(no web address)";
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname.replace(LONG_PART, "...")}`.slice(0, LONGEST_NAME);
}

/** Deletes the files of replies that are not sent. */
export async function discardReplies(db: Db, replies: readonly OutgoingReply[]): Promise<void> {
  const uploads = replies.flatMap(({ content }) =>
    content.kind === "media" && content.upload ? [content.upload] : [],
  );
  if (uploads.length > 0) await deleteOutgoing(db, uploads).catch(() => {});
}

/** The file behind a link that this gateway has signed; undefined for every other URL. */
export async function openOwnFile(
  { db, mediaUrls, openFile }: Pick<IntegrationDeps, "db" | "mediaUrls" | "openFile">,
  url: string,
  account_id: number,
): Promise<SpooledUpload | undefined> {
  const named = readLink(url);
  if (!named || !mediaUrls.isGood(...named)) return undefined;
  const [mediaId] = named;
  if (!(await belongsTo(db, mediaId, account_id))) throw noFile();
  const { size, mime_type, file_name, read } = await openFile(mediaId);
  return {
    size,
    mime_type,
    sha256: "",
    ...(file_name !== null && { file_name }),
    async *read() {
      yield* await read();
    },
  };
}

/** A proxy may have given the gateway another host name, so only the path and its signature count. */
function readLink(url: string): [string, string, string] | undefined {
  if (url.length > LONGEST_LINK || !URL.canParse(url, ANY_BASE)) return undefined;
  const [, mediaId, expires, signature] = LINK.exec(new URL(url, ANY_BASE).pathname) ?? [];
  return mediaId && expires && signature ? [mediaId, expires, signature] : undefined;
}

async function belongsTo(db: Db, mediaId: string, account_id: number): Promise<boolean> {
  const found = await db
    .selectFrom("media as f")
    .innerJoin("message as m", "m.id", "f.message")
    .innerJoin("instance as i", "i.id", "m.instance_id")
    .select("f.id")
    .where("f.id", "=", mediaId)
    .where("i.account_id", "=", account_id)
    .executeTakeFirst();
  return found !== undefined;
}
