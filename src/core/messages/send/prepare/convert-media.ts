import type { MediaType } from "../../../../network/driver.ts";
import type { Db } from "../../../../platform/db/database.ts";
import { GatewayError, invalidField } from "../../../../platform/gateway-error.ts";
import { countPdfPages } from "../../../../platform/media/count-pdf-pages.ts";
import { decodeHeic } from "../../../../platform/media/decode-heic.ts";
import {
  type Conversion,
  type MediaConverter,
  OGG_OPUS_TYPE,
} from "../../../../platform/media/media-converter.ts";
import { readMp4Metadata } from "../../../../platform/media/read-mp4-metadata.ts";
import { readOggOpus } from "../../../../platform/media/read-ogg-opus.ts";
import { readPicture } from "../../../../platform/media/read-picture.ts";
import { isSticker, toPicture, toSticker } from "../../../../platform/media/to-square-image.ts";
import { type StickerPack, writeStickerPack } from "../../../../platform/media/write-sticker-pack.ts";
import { readParts } from "../../../media/media.ts";
import type { MediaConversion } from "../../log/message-view.ts";
import { OutgoingFile, readOutgoingRange } from "../outgoing-file.ts";

export interface ConvertMediaOptions {
  db: Db;
  converter: MediaConverter;
  /** Names the file in errors. */
  field: string;
}

/** A completely received file, with its type. */
export interface ReceivedFile {
  file: OutgoingFile;
  /** Hex. */
  sha256: string;
  media_type: MediaType;
  mime_type: string;
  seconds?: number;
  waveform?: number[];
  width?: number;
  height?: number;
  thumbnail?: string;
  is_animated?: boolean;
  gif_playback?: boolean;
  ptv?: boolean;
  page_count?: number;
  /** To be written into a sticker. */
  pack?: StickerPack;
  converted?: MediaConversion;
}

/** What a request says of the pack of a sticker. Throws VALIDATION_ERROR for any other file. */
export function packOf(
  { pack_name, pack_publisher, emojis }: StickerPack,
  { media_type }: Pick<ReceivedFile, "media_type">,
): StickerPack | undefined {
  const pack = { pack_name, pack_publisher, emojis };
  const given = Object.entries(pack).find(([, value]) => value !== undefined)?.[0];
  if (given === undefined) return undefined;
  if (media_type === "sticker") return pack;
  throw invalidField(given, "is allowed only for a sticker. Send type sticker", "wrong_file_type", {
    expected: "sticker",
  });
}

const OGG_OPUS = /^audio\/(ogg|opus)\b.*\bopus\b/;
const STICKER_TYPE = "image/webp";
/** Pictures, and PDF files whose pages are counted, are completely in memory. */
const PICTURE_BYTES = 16 * 1024 * 1024;

/** Converts a file to the format that its kind requires, and adds what phones show before the download. */
export async function convertMedia(file: ReceivedFile, options: ConvertMediaOptions): Promise<ReceivedFile> {
  switch (file.media_type) {
    case "ptt":
      return fitVoiceNote(file, options);
    case "sticker":
      return withPack(await fitSticker(file, options), options);
    case "image":
      return file.mime_type === "image/gif" ? fitGif(file, options) : fitPicture(file, options);
    case "video":
      return fitVideo(file, options);
    case "audio":
      return fitAudio(file, options);
    case "document":
      return file.mime_type === "application/pdf" ? describePdf(file, options) : file;
  }
}

async function fitVoiceNote(
  file: ReceivedFile,
  { db, converter, field }: ConvertMediaOptions,
): Promise<ReceivedFile> {
  const open = () => readParts(db, file.file.id);
  if (OGG_OPUS.test(file.mime_type)) return { ...file, ...(await converter.measureOggOpus(open)) };
  const { bytes, ...facts } = await converter.toOggOpus(open(), file.mime_type, field);
  return { ...(await replace(file, db, bytes)), mime_type: OGG_OPUS_TYPE, ...facts };
}

async function fitSticker(file: ReceivedFile, options: ConvertMediaOptions): Promise<ReceivedFile> {
  if (file.file.size > PICTURE_BYTES)
    throw new GatewayError("PAYLOAD_TOO_LARGE", "A picture for a sticker may have at most 16 MiB.");
  const { db, field } = options;
  if (file.mime_type === STICKER_TYPE) {
    const facts = await readPicture(await readWhole(file, db));
    if (!facts || isSticker(facts, file.file.size)) return { ...file, ...facts };
  }
  const bytes = await decodePicture(file, options, async (decoded) =>
    toSticker(decoded ?? (await readWhole(file, db)), field, file.file.account_id),
  );
  return { ...(await replaceAs(file, db, bytes, STICKER_TYPE)), ...(await readPicture(bytes)) };
}

/** A file that the image library cannot read goes as it is. */
async function withPack(file: ReceivedFile, { db }: ConvertMediaOptions): Promise<ReceivedFile> {
  const { pack, width, height } = file;
  if (!pack || !width || !height) return file;
  return replace(file, db, writeStickerPack(await readWhole(file, db), pack, { width, height }));
}

const HEIC = /^image\/hei[cf]\b/;
/** Phones show no other pictures. */
const SHOWN_PICTURES = ["image/jpeg", "image/png"];

/** Converts a picture that phones would not show; one that cannot be converted goes as a document. */
async function fitPicture(file: ReceivedFile, options: ConvertMediaOptions): Promise<ReceivedFile> {
  const { db } = options;
  const { mime_type: from } = file;
  if (SHOWN_PICTURES.includes(from)) return file;
  const isTooLarge = file.file.size > PICTURE_BYTES;
  const picture = isTooLarge
    ? undefined
    : await decodePicture(file, options, async (decoded) =>
        toPicture(decoded ?? (await readWhole(file, db)), file.file.account_id),
      );
  if (!picture) return { ...file, media_type: "document", converted: { from, to: "document" } };
  return replaceAs(file, db, picture.bytes, picture.mime_type);
}

/** Uses the picture in a format that the image library reads; undefined if it may read this one itself. */
async function decodePicture<T>(
  file: ReceivedFile,
  { db, converter }: ConvertMediaOptions,
  use: (decoded: Buffer | undefined) => Promise<T>,
): Promise<T> {
  if (HEIC.test(file.mime_type)) return decodeHeic(() => readWhole(file, db), file.file.account_id, use);
  return use(await converter.toJpeg(readParts(db, file.file.id), file.mime_type));
}

async function describePdf(file: ReceivedFile, { db }: ConvertMediaOptions): Promise<ReceivedFile> {
  if (file.file.size > PICTURE_BYTES) return file;
  const page_count = await countPdfPages(await readWhole(file, db));
  return { ...file, ...(page_count !== undefined && { page_count }) };
}

/** Sends an animated GIF as a video, like phones do: they show GIF files as still pictures. */
async function fitGif(file: ReceivedFile, options: ConvertMediaOptions): Promise<ReceivedFile> {
  const { db, converter } = options;
  const isSmall = file.file.size <= PICTURE_BYTES;
  const picture = isSmall ? await readPicture(await readWhole(file, db)) : undefined;
  if (!picture?.is_animated) return fitPicture(file, options);
  const video = await converter.toGifVideo(readParts(db, file.file.id));
  if (typeof video === "string") return withReason(await fitPicture(file, options), video);
  const sent = { ...(await replaceAs(file, db, video, VIDEO_TYPE)), media_type: "video" } as const;
  return { ...(await describeVideo(sent, options)), gif_playback: true };
}

const VIDEO_TYPE = "video/mp4";
/** Phones may play a QuickTime file too, if it cannot be converted. */
const PLAYED_VIDEOS = [VIDEO_TYPE, "video/3gpp", "video/x-m4v"];
const QUICKTIME = "video/quicktime";
const AUDIO_TYPE = "audio/mp4";
const PLAYED_AUDIO = /^audio\/(?:aac|amr|mp4|mpeg|mp3|x-m4a)\b/;

/** Converts a video that phones would not play; one that cannot be converted goes as a document. */
async function fitVideo(file: ReceivedFile, options: ConvertMediaOptions): Promise<ReceivedFile> {
  const { db, converter } = options;
  if (PLAYED_VIDEOS.includes(file.mime_type)) return describeVideo(file, options);
  const video = await converter.toMp4(readParts(db, file.file.id), file.mime_type);
  if (typeof video !== "string") return describeVideo(await replaceAs(file, db, video, VIDEO_TYPE), options);
  return file.mime_type === QUICKTIME ? describeVideo(file, options) : asDocument(file, video);
}

/** As `fitVideo`, for audio. */
async function fitAudio(file: ReceivedFile, options: ConvertMediaOptions): Promise<ReceivedFile> {
  const { db, converter } = options;
  const { mime_type } = file;
  if (PLAYED_AUDIO.test(mime_type) || OGG_OPUS.test(mime_type)) return describeAudio(file, options);
  const opus = await converter.toOgg(readParts(db, file.file.id), mime_type);
  if (typeof opus !== "string") return describeAudio(await replaceAs(file, db, opus, OGG_OPUS_TYPE), options);
  const audio = await converter.toM4a(readParts(db, file.file.id), mime_type);
  return typeof audio === "string"
    ? asDocument(file, audio)
    : describeAudio(await replaceAs(file, db, audio, AUDIO_TYPE), options);
}

function asDocument(
  { gif_playback, ptv, ...file }: ReceivedFile,
  failure: Exclude<Conversion, Buffer>,
): ReceivedFile {
  const converted = { from: file.mime_type, to: "document" };
  return withReason({ ...file, media_type: "document", converted }, failure);
}

function withReason(file: ReceivedFile, failure: Exclude<Conversion, Buffer>): ReceivedFile {
  if (failure !== "missing" || !file.converted) return file;
  return { ...file, converted: { ...file.converted, reason: "no_ffmpeg" } };
}

async function describeVideo(
  file: ReceivedFile,
  { db, converter }: ConvertMediaOptions,
): Promise<ReceivedFile> {
  const { id, size } = file.file;
  const facts = await readMp4Metadata(
    (position, length) => readOutgoingRange(db, id, position, length),
    size,
  );
  const thumbnail = await converter.toThumbnail(readParts(db, id), file.mime_type);
  return { ...file, ...facts, ...(thumbnail && { thumbnail: thumbnail.toString("base64") }) };
}

/** Adds only the length, since only voice notes have a waveform. */
async function describeAudio(file: ReceivedFile, { db }: ConvertMediaOptions): Promise<ReceivedFile> {
  const { id, size } = file.file;
  const { seconds } = OGG_OPUS.test(file.mime_type)
    ? await readOggOpus(readParts(db, id))
    : await readMp4Metadata((position, length) => readOutgoingRange(db, id, position, length), size);
  return { ...file, ...(seconds !== undefined && { seconds }) };
}

async function readWhole({ file }: ReceivedFile, db: Db): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of readParts(db, file.id)) parts.push(part);
  return Buffer.concat(parts);
}

/** Replaces the file by the converted one, and says so. */
async function replaceAs(
  file: ReceivedFile,
  db: Db,
  bytes: Buffer,
  mime_type: string,
): Promise<ReceivedFile> {
  const converted = { from: file.mime_type, to: mime_type };
  return { ...(await replace(file, db, bytes)), mime_type, converted };
}

async function replace(file: ReceivedFile, db: Db, bytes: Buffer): Promise<ReceivedFile> {
  const replacement = new OutgoingFile(db, file.file.account_id);
  try {
    await replacement.write(bytes);
    const sha256 = await replacement.end();
    await file.file.discard();
    return { ...file, file: replacement, sha256 };
  } catch (error) {
    await replacement.discard().catch(() => {});
    throw error;
  }
}
