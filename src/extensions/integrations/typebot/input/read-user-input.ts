import type { EventWork, IntegrationDeps } from "../../integration-provider.ts";

/** A user's input, as a bot can accept it. */
export type UserInput =
  | { kind: "text"; text: string }
  /** One file or an album, with the caption; no file if it is unavailable. */
  | { kind: "file"; files: UserInputFile[]; text: string };

export interface UserInputFile {
  media_type: string;
  /** Ends in the extension, from which bots derive the type. */
  url: string;
}

/** A voice note or other audio. */
export function isClip({ media_type }: UserInputFile): boolean {
  return media_type === "ptt" || media_type === "audio";
}

const LINK_SECONDS = 7 * 86_400;

/** Undefined for messages that are no answer to a bot, such as a sticker. */
export function readUserInput(
  { mediaUrls }: Pick<IntegrationDeps, "mediaUrls">,
  message: EventWork["event"]["data"],
): UserInput | undefined {
  if (message.location) {
    const { latitude, longitude } = message.location;
    return { kind: "text", text: `${latitude}, ${longitude}` };
  }
  if (message.contacts?.[0]) return { kind: "text", text: message.contacts[0].phone };
  if (message.media) return readFile(mediaUrls, message);
  const text = (message.text ?? message.caption ?? "").trim();
  return text === "" ? undefined : { kind: "text", text };
}

/** Several messages of one kind, as one. */
export function joinUserInput(first: UserInput, others: readonly UserInput[]): UserInput {
  const text = [first, ...others]
    .map((one) => one.text)
    .filter((words) => words !== "")
    .join("\n");
  if (first.kind === "text") return { kind: "text", text };
  const files = [first, ...others].flatMap((one) => (one.kind === "file" ? one.files : []));
  return { kind: "file", files, text };
}

function readFile(
  mediaUrls: IntegrationDeps["mediaUrls"],
  { media, caption }: EventWork["event"]["data"],
): UserInput | undefined {
  if (media.type === "sticker") return undefined;
  const text = (caption ?? "").trim();
  if (media.id === null) return { kind: "file", files: [], text };
  const url = `${mediaUrls.create(media.id, LINK_SECONDS)}/file.${extensionOf(media)}`;
  return { kind: "file", files: [{ media_type: media.type, url }], text };
}

const EXTENSIONS: Readonly<Record<string, string>> = {
  "image/jpeg": "jpg",
  "image/png": "png",
  "image/webp": "webp",
  "image/gif": "gif",
  "video/mp4": "mp4",
  "video/3gpp": "3gp",
  "audio/ogg": "ogg",
  "audio/mpeg": "mp3",
  "audio/mp4": "m4a",
  "audio/aac": "aac",
  "application/pdf": "pdf",
  "text/plain": "txt",
};

function extensionOf({ file_name, mime_type }: { file_name: string | null; mime_type: string }): string {
  const own = /\.([A-Za-z0-9]{1,8})$/.exec(file_name ?? "")?.[1];
  return own?.toLowerCase() ?? EXTENSIONS[mime_type.split(";")[0]?.trim() ?? ""] ?? "bin";
}
