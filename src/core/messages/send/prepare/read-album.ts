import { newMessageId } from "../../../../network/jid.ts";
import { GatewayError, invalidField, invalidFields } from "../../../../platform/gateway-error.ts";
import type { StoredMedia } from "../../log/message-view.ts";
import { deleteOutgoing } from "../outgoing-file.ts";
import { type MediaInput, type MediaOptions, readMedia, type StorageOwner } from "./read-media.ts";

/** Of a send with one file. */
const OF_ONE_FILE = [
  "url",
  "base64",
  "file",
  "type",
  "mime_type",
  "file_name",
  "caption",
  "ptt",
  "ptv",
  "gif_playback",
  "view_once",
] as const;

/** Stores the files of an album in their order. Removes all of them if one is refused. */
export async function readAlbum(
  input: Partial<Record<(typeof OF_ONE_FILE)[number], unknown>>,
  items: readonly MediaInput[],
  options: MediaOptions & StorageOwner,
): Promise<[StoredMedia, ...StoredMedia[]]> {
  const misplaced = OF_ONE_FILE.find((name) => input[name]);
  if (misplaced)
    throw invalidField(
      misplaced,
      "is not allowed beside items: write it into the items themselves",
      "not_allowed_here",
    );
  const files: StoredMedia[] = [];
  try {
    for (const item of items) files.push(await readItem(item, options));
  } catch (error) {
    await deleteOutgoing(options.db, uploadsOf(files)).catch(() => {});
    throw inItem(error, files.length);
  }
  const count = (type: StoredMedia["media_type"]) => files.filter((one) => one.media_type === type).length;
  const album = { id: newMessageId(), images: count("image"), videos: count("video") };
  const [first, ...others] = files.map((file, position) => ({ ...file, album: { ...album, position } }));
  if (!first) throw invalidField("items", "is empty", "empty");
  return [first, ...others];
}

async function readItem(item: MediaInput, options: MediaOptions & StorageOwner): Promise<StoredMedia> {
  const file = await readMedia(item, options);
  if ((file.media_type === "image" || file.media_type === "video") && !file.gif_playback) return file;
  await deleteOutgoing(options.db, uploadsOf([file])).catch(() => {});
  throw invalidField(
    "type",
    "is not a picture or a video that phones show in an album. Send this file by itself",
    "wrong_file_type",
    { expected: "image, video", found: file.mime_type },
  );
}

function uploadsOf(files: readonly StoredMedia[]): string[] {
  return files.flatMap(({ upload }) => upload ?? []);
}

/** The error of one item, which names it. */
function inItem(error: unknown, index: number): unknown {
  if (!(error instanceof GatewayError)) return error;
  const { code, message, details, retryAfterSeconds } = error;
  const [first, ...others] = (details?.fields ?? []).map((one) => ({
    ...one,
    field: `items.${index}.${one.field}`,
  }));
  if (first) return invalidFields([first, ...others]);
  return new GatewayError(code, `items.${index}: ${message}`, {
    cause: error,
    details: { ...details, item: index },
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  });
}
