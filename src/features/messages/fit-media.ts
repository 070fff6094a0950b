import type { MediaType } from "../../network/driver.ts";
import type { Db } from "../../platform/db.ts";
import { GatewayError } from "../../platform/errors.ts";
import { toSticker } from "../../platform/square-image.ts";
import { secondsOf, VOICE_NOTE_TYPE, type VoiceNoteMaker } from "../../platform/voice-note.ts";
import { readParts } from "../media/media.ts";
import { OutgoingFile } from "./outgoing-media.ts";

export interface FitOptions {
  db: Db;
  voiceNotes: VoiceNoteMaker;
}

/** A file that has arrived whole, and what it is. */
export interface ToldFile {
  file: OutgoingFile;
  /** Hex. */
  sha256: string;
  media_type: MediaType;
  mime_type: string;
  seconds?: number;
}

const STICKER_TYPE = "image/webp";
const STICKER_SOURCE_BYTES = 16 * 1024 * 1024;

/** Makes of a file what its kind must be: Ogg Opus for a voice note, WebP for a sticker; others stay as they are. */
export async function fitMedia(told: ToldFile, options: FitOptions): Promise<ToldFile> {
  if (told.media_type === "ptt") return fitVoiceNote(told, options);
  if (told.media_type === "sticker" && told.mime_type !== STICKER_TYPE) return fitSticker(told, options);
  return told;
}

async function fitVoiceNote(told: ToldFile, { db, voiceNotes }: FitOptions): Promise<ToldFile> {
  const parts = readParts(db, told.file.id);
  if (/^audio\/(ogg|opus)\b.*\bopus\b/.test(told.mime_type))
    return { ...told, seconds: secondsOf(await lastOf(parts)) };
  const { bytes, seconds } = await voiceNotes.make(parts, told.mime_type);
  return { ...(await replace(told, db, bytes)), mime_type: VOICE_NOTE_TYPE, seconds };
}

async function fitSticker(told: ToldFile, { db }: FitOptions): Promise<ToldFile> {
  if (told.file.size > STICKER_SOURCE_BYTES)
    throw new GatewayError("PAYLOAD_TOO_LARGE", "A picture for a sticker has 16 MiB at most.");
  const parts: Buffer[] = [];
  for await (const part of readParts(db, told.file.id)) parts.push(part);
  const bytes = await toSticker(Buffer.concat(parts), "file");
  return { ...(await replace(told, db, bytes)), mime_type: STICKER_TYPE };
}

async function lastOf(parts: AsyncIterable<Buffer>): Promise<Buffer> {
  let last = Buffer.alloc(0);
  for await (const part of parts) last = Buffer.concat([last.subarray(-65_536), part]);
  return last;
}

async function replace(told: ToldFile, db: Db, bytes: Buffer): Promise<ToldFile> {
  const file = new OutgoingFile(db);
  try {
    await file.write(bytes);
    const sha256 = await file.end();
    await told.file.drop();
    return { ...told, file, sha256 };
  } catch (error) {
    await file.drop().catch(() => {});
    throw error;
  }
}
