import type { Db } from "../../../../platform/db/database.ts";
import { GatewayError, invalidField } from "../../../../platform/gateway-error.ts";
import { fileTooLarge, readBase64File } from "../../../../platform/http/body/base64-file.ts";
import type { SpooledUpload, UploadedFile } from "../../../../platform/http/route.ts";
import {
  cleanFileName,
  hasExtension,
  nameForType,
  typeByExtension,
  withExtension,
  withTypeOf,
} from "../../../../platform/media/clean-file-name.ts";
import {
  type DeclaredMedia,
  detectMediaType,
  type SendMediaType,
} from "../../../../platform/media/detect-media-type.ts";
import type { SharedMediaConverter } from "../../../../platform/media/media-converter.ts";
import type {
  DownloadOutcome,
  OutgoingRequest,
  SafeFetch,
} from "../../../../platform/outgoing/safe-fetch.ts";
import { fileNameInDisposition, fileNameOfUrl } from "../../../../platform/text/file-names.ts";
import { mimeType } from "../../../media/contract.ts";
import { requireStorageQuota } from "../../../media/media.ts";
import type { StoredMedia } from "../../log/message-view.ts";
import { OutgoingFile } from "../outgoing-file.ts";
import { convertMedia, packOf, type ReceivedFile } from "./convert-media.ts";
import { refuseErrorDocument } from "./refuse-error-document.ts";

/** A file in a request: an upload, a URL, or base64. */
export interface MediaInput extends Omit<DeclaredMedia, "source_mime_type"> {
  url?: string;
  base64?: string;
  file?: SpooledUpload | UploadedFile | string;
  file_name?: string;
  caption?: string;
  /** The address and the caption are those of a quick reply. */
  is_quick_reply?: boolean;
  /** For a video: plays as a GIF. */
  gif_playback?: boolean;
  /** A video note. */
  ptv?: boolean;
  view_once?: boolean;
  /** Of a sticker. */
  pack_name?: string;
  pack_publisher?: string;
  emojis?: string[];
}

export interface MediaOptions extends FetchMediaOptions {
  db: Db;
  converter: SharedMediaConverter;
}

/** The account whose storage a file uses. */
export interface StorageOwner {
  account_id: number;
}

export interface FetchMediaOptions {
  outgoing: SafeFetch;
  maxBytes: number;
  /** Timeout of a download; default: 60 s. */
  downloadMs?: number;
  tenant?: OutgoingRequest["tenant"];
  /** The field name of the file in errors; default: the field that contained it. */
  field?: string;
}

const DOWNLOAD_MS = 60_000;
/** Kinds of files that phones show without words. */
const WITHOUT_CAPTION: Partial<Record<SendMediaType, string>> = {
  audio: "audio",
  ptt: "a voice note",
  sticker: "a sticker",
};

/** Whether phones show words with a file of this kind. */
export function showsCaption({ media_type }: Pick<StoredMedia, "media_type">): boolean {
  return WITHOUT_CAPTION[media_type] === undefined;
}

/**
 * Stores the file until its send. Detects the type from the content and ignores the declared one. Removes
 * every part of a rejected file.
 */
export async function readMedia(
  input: MediaInput,
  options: MediaOptions & StorageOwner,
): Promise<StoredMedia> {
  const { db, account_id } = options;
  let file = new OutgoingFile(db, account_id);
  try {
    await requireStorageQuota(db, account_id, 1);
    const source = await storeMediaInput(file, input, { ...options, tenant: { account_id } });
    const sha256 = await file.end();
    if (file.size === 0) throw invalidField(source.field, "is empty", "empty");
    await refuseErrorDocument(source.field, { ...expectedFile(input, source), head: file.head });
    const detected = await detectMediaType(file.head, {
      ...input,
      ...(input.ptv && { type: "video" }),
      source_mime_type: source.mime_type,
      name_mime_type: typeByExtension(input.file_name ?? source.file_name ?? source.address_name ?? ""),
    });
    await requireStorageQuota(db, account_id, file.size, file.size);
    const bare = input.ptv ? "a video note" : WITHOUT_CAPTION[detected.media_type];
    if (bare && input.caption)
      throw input.is_quick_reply
        ? invalidField(
            "quick_reply",
            `has a text, which is not shown with ${bare}: make it a quick reply of its own`,
            "not_allowed_here",
          )
        : invalidField("caption", `is not shown with ${bare}: send it as a text`, "not_allowed_here");
    requireShownOnce(input, detected);
    const pack = packOf(input, detected);
    const isGif = input.gif_playback === true;
    if (isGif && detected.media_type !== "video" && detected.mime_type !== "image/gif")
      throw invalidField(
        "gif_playback",
        "is allowed only for videos, and the file is not one",
        "wrong_file_type",
        { expected: "video" },
      );
    const gif = isGif && detected.media_type === "video" && { gif_playback: true };
    const fitted = await convertMedia(
      { file, sha256, ...detected, ...gif, ...(input.ptv && { ptv: true }), ...(pack && { pack }) },
      { db, converter: options.converter.forAccount(account_id), field: source.field },
    );
    file = fitted.file;
    requireShownOnce(input, fitted);
    return toStored(fitted, input, source);
  } catch (error) {
    await file.discard().catch(() => {});
    throw error;
  }
}

/** What phones show or play once. */
export const SHOWN_ONCE =
  "phones show only an image, a video or a voice note once, and no GIF and no round video";

/** A conversion may make a GIF or a document of it. */
function requireShownOnce(
  { view_once, gif_playback, ptv }: MediaInput,
  file: Pick<ReceivedFile, "media_type" | "gif_playback">,
): void {
  const isLoop = gif_playback || file.gif_playback || ptv;
  if (view_once && (isLoop || !["image", "video", "ptt"].includes(file.media_type)))
    throw invalidField("view_once", `is not allowed here: ${SHOWN_ONCE}`, "wrong_file_type", {
      expected: "image, video, ptt",
    });
}

/** What a file must be. What its form or data URI says counts as said by the caller. */
function expectedFile(
  { type, mime_type, file_name }: MediaInput,
  { content_type, address_name, ...source }: Source,
) {
  if (content_type !== undefined) return { type, mime_type, file_name, content_type, address_name };
  return { type, mime_type: mime_type ?? source.mime_type, file_name: file_name ?? source.file_name };
}

function toStored({ file, pack: _, ...facts }: ReceivedFile, input: MediaInput, source: Source): StoredMedia {
  const file_name = nameOf(facts, input, source);
  return {
    kind: "media",
    ...facts,
    size: file.size,
    ...(file_name && { file_name }),
    ...(input.caption && showsCaption(facts) && { caption: input.caption }),
    ...(input.view_once && { view_once: true }),
    upload: file.id,
  };
}

/**
 * The sender's file name stays unchanged, except for the extension of a converted picture. A name from a URL gets the
 * extension of the type, and a document always gets a name.
 */
function nameOf(
  { mime_type, media_type, converted }: Pick<ReceivedFile, "mime_type" | "media_type" | "converted">,
  input: MediaInput,
  source: Source,
): string | undefined {
  const declared = input.file_name ?? source.file_name;
  if (declared && converted?.to === mime_type) return withTypeOf(cleanFileName(declared), mime_type);
  if (declared) return cleanFileName(declared);
  if (source.address_name) return withExtension(cleanFileName(source.address_name), mime_type);
  return media_type === "document" ? nameForType(mime_type) : undefined;
}

/** The source of a file, and the source's declarations about it. */
interface Source {
  field: string;
  mime_type?: string;
  file_name?: string;
  /** From the server's response or its URL. */
  address_name?: string;
  /** Of the server's response; empty if it has none. */
  content_type?: string;
}

/** A picture as a URL, base64, a data URI, or an uploaded form file. */
export type PictureInput = string | UploadedFile;

export interface PictureSource {
  outgoing: SafeFetch;
}

const MAX_PICTURE_BYTES = 16 * 1024 * 1024;

/** Reads a picture into memory. Throws the errors of `readMedia`, which name `field`. */
export async function readPicture(
  { outgoing }: PictureSource,
  tenant: OutgoingRequest["tenant"],
  field: string,
  picture: PictureInput,
): Promise<Buffer> {
  const pieces: Buffer[] = [];
  const input = typeof picture === "string" ? { base64: picture } : { file: picture };
  await storeMediaInput(
    {
      async write(piece) {
        pieces.push(piece);
      },
    },
    input,
    { outgoing, tenant, field, maxBytes: MAX_PICTURE_BYTES },
  );
  return Buffer.concat(pieces);
}

/** Stores a file. `url` contains a URL or a data URI; the other fields may also contain bare base64. */
export async function storeMediaInput(
  file: Pick<OutgoingFile, "write">,
  input: MediaInput,
  options: FetchMediaOptions,
): Promise<Source> {
  if (typeof input.file === "object") return takeUpload(file, input.file, options);
  const source = (["url", "base64", "file"] as const).find((name) => input[name] !== undefined);
  if (!source)
    throw invalidField("url", "one of url, base64 and file is required", "one_of_required", {
      fields: "url, base64, file",
    });
  const field = options.field ?? source;
  const text = String(input[source]);
  if (/^\s*https?:\/\//i.test(text)) return { field, ...(await download(file, text.trim(), field, options)) };
  if (source === "url" && !/^\s*data:/i.test(text))
    throw invalidField(field, "must be an http or https address", "not_a_url");
  const { pieces, mime_type } = readBase64File(field, text, options.maxBytes);
  for (const piece of pieces) await file.write(piece);
  return { field, mime_type: toMimeType(mime_type) };
}

async function takeUpload(
  file: Pick<OutgoingFile, "write">,
  upload: SpooledUpload | UploadedFile,
  { maxBytes }: FetchMediaOptions,
): Promise<Source> {
  const { file_name, mime_type } = upload;
  const size = "read" in upload ? upload.size : upload.bytes.byteLength;
  if (size > maxBytes) throw fileTooLarge(maxBytes);
  const pieces = "read" in upload ? upload.read() : [upload.bytes];
  for await (const piece of pieces)
    await file.write(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength));
  return { field: "file", file_name, mime_type: toMimeType(mime_type) };
}

async function download(
  file: Pick<OutgoingFile, "write">,
  url: string,
  field: string,
  { outgoing, maxBytes, tenant, downloadMs = DOWNLOAD_MS }: FetchMediaOptions,
): Promise<Omit<Source, "field">> {
  const onChunk = (piece: Buffer) => file.write(piece);
  const outcome = await outgoing.download({ url, totalMs: downloadMs, maxBytes, tenant, onChunk });
  if (outcome.outcome === "failed") throw downloadRefusal(outcome, field, maxBytes);
  if (outcome.status !== 200) throw downloadFailed(`the address responded with ${outcome.status}.`);
  const { headers } = outcome;
  return {
    content_type: headers["content-type"] ?? "",
    mime_type: toMimeType(headers["content-type"]),
    address_name: fileNameInDisposition(headers["content-disposition"]) ?? nameOfAddress(url, outcome.url),
  };
}

/** After a redirect, uses the first of the two names that has an extension. */
function nameOfAddress(requested: string, last: string): string | undefined {
  const names = [requested, last].map(fileNameOfUrl);
  return names.find((name) => name !== undefined && hasExtension(name)) ?? names[0];
}

function downloadRefusal(
  { failure, error }: Extract<DownloadOutcome, { outcome: "failed" }>,
  field: string,
  maxBytes: number,
): GatewayError {
  if (failure === "too_large") return fileTooLarge(maxBytes);
  return failure === "blocked" || failure === "invalid_url"
    ? invalidField(field, error, failure === "blocked" ? "blocked_address" : "not_a_url")
    : downloadFailed(error);
}

function downloadFailed(reason: string): GatewayError {
  return new GatewayError("MEDIA_DOWNLOAD_FAILED", `The file could not be fetched: ${reason}`);
}

/** Undefined for text that is not a MIME type. */
function toMimeType(text: string | undefined): string | undefined {
  return mimeType.safeParse(text).data;
}
