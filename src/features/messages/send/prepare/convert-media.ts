import type { MediaType } from "../../../../network/driver.ts";
import type { Db } from "../../../../platform/db/database.ts";
import { GatewayError } from "../../../../platform/gateway-error.ts";
import { type MediaConverter, OGG_OPUS_TYPE } from "../../../../platform/media/media-converter.ts";
import { readMp4Metadata } from "../../../../platform/media/read-mp4-metadata.ts";
import { readOggOpus } from "../../../../platform/media/read-ogg-opus.ts";
import { readWebpMetadata } from "../../../../platform/media/read-webp-metadata.ts";
import { isAnimated, toSticker } from "../../../../platform/media/to-square-image.ts";
import { readParts } from "../../../media/media.ts";
import { OutgoingFile, readOutgoingRange } from "../outgoing-file.ts";

export interface ConvertMediaOptions {
  db: Db;
  converter: MediaConverter;
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
}

const OGG_OPUS = /^audio\/(ogg|opus)\b.*\bopus\b/;
const STICKER_TYPE = "image/webp";
/** Decoded pictures are completely in memory. */
const PICTURE_BYTES = 16 * 1024 * 1024;

/** Converts a file to the format that its kind requires, and adds what phones show before the download. */
export async function convertMedia(told: ReceivedFile, options: ConvertMediaOptions): Promise<ReceivedFile> {
  switch (told.media_type) {
    case "ptt":
      return fitVoiceNote(told, options);
    case "sticker":
      return fitSticker(told, options);
    case "image":
      return told.mime_type === "image/gif" ? fitGif(told, options) : told;
    case "video":
      return describeVideo(told, options);
    case "audio":
      return describeAudio(told, options);
    default:
      return told;
  }
}

async function fitVoiceNote(
  told: ReceivedFile,
  { db, converter }: ConvertMediaOptions,
): Promise<ReceivedFile> {
  const open = () => readParts(db, told.file.id);
  if (OGG_OPUS.test(told.mime_type)) return { ...told, ...(await converter.measureOggOpus(open)) };
  const { bytes, ...facts } = await converter.toOggOpus(open(), told.mime_type);
  return { ...(await replace(told, db, bytes)), mime_type: OGG_OPUS_TYPE, ...facts };
}

async function fitSticker(told: ReceivedFile, { db }: ConvertMediaOptions): Promise<ReceivedFile> {
  if (told.mime_type === STICKER_TYPE) return { ...told, ...readWebpMetadata(told.file.head) };
  if (told.file.size > PICTURE_BYTES)
    throw new GatewayError("PAYLOAD_TOO_LARGE", "A picture for a sticker may have at most 16 MiB.");
  const bytes = await toSticker(await readWhole(told, db), "file");
  return { ...(await replace(told, db, bytes)), mime_type: STICKER_TYPE, ...readWebpMetadata(bytes) };
}

/** Sends an animated GIF as a video, like phones do: they show GIF files as still pictures. */
async function fitGif(told: ReceivedFile, options: ConvertMediaOptions): Promise<ReceivedFile> {
  const { db, converter } = options;
  if (told.file.size > PICTURE_BYTES || !(await isAnimated(await readWhole(told, db)))) return told;
  const bytes = await converter.toGifVideo(readParts(db, told.file.id));
  if (!bytes) return told;
  const video = { ...(await replace(told, db, bytes)), media_type: "video", mime_type: "video/mp4" } as const;
  return { ...(await describeVideo(video, options)), gif_playback: true };
}

async function describeVideo(
  told: ReceivedFile,
  { db, converter }: ConvertMediaOptions,
): Promise<ReceivedFile> {
  const { id, size } = told.file;
  const facts = await readMp4Metadata(
    (position, length) => readOutgoingRange(db, id, position, length),
    size,
  );
  const thumbnail = await converter.toThumbnail(readParts(db, id), told.mime_type);
  return { ...told, ...facts, ...(thumbnail && { thumbnail: thumbnail.toString("base64") }) };
}

/** Adds only the length, since only voice notes have a waveform. */
async function describeAudio(told: ReceivedFile, { db }: ConvertMediaOptions): Promise<ReceivedFile> {
  const { id, size } = told.file;
  const { seconds } = OGG_OPUS.test(told.mime_type)
    ? await readOggOpus(readParts(db, id))
    : await readMp4Metadata((position, length) => readOutgoingRange(db, id, position, length), size);
  return { ...told, ...(seconds !== undefined && { seconds }) };
}

async function readWhole({ file }: ReceivedFile, db: Db): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of readParts(db, file.id)) parts.push(part);
  return Buffer.concat(parts);
}

async function replace(told: ReceivedFile, db: Db, bytes: Buffer): Promise<ReceivedFile> {
  const file = new OutgoingFile(db, told.file.account_id);
  try {
    await file.write(bytes);
    const sha256 = await file.end();
    await told.file.discard();
    return { ...told, file, sha256 };
  } catch (error) {
    await file.discard().catch(() => {});
    throw error;
  }
}
