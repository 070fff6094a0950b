import { fileTypeFromBuffer } from "file-type";
import { invalidField } from "../gateway-error.ts";

/** What a file goes as. */
export type SendMediaType = "image" | "video" | "audio" | "document" | "sticker" | "ptt";

/** Chooses what a file goes as by the type that it was found to have. */
export type MediaTypeRule = (mimeType: string) => SendMediaType;

/** What is said of a file; the caller's own words weigh more than those of where it came from. */
export interface DeclaredMedia {
  type?: SendMediaType | MediaTypeRule;
  /** A voice note, whatever `type` says. */
  ptt?: boolean;
  mime_type?: string;
  /** From the form, the data URI or the server that gave it out. */
  source_mime_type?: string;
  /** What the ending of its name stands for. */
  name_mime_type?: string;
}

/** The type of a file that has come in: what was declared, where the content does not say otherwise. */
export async function detectReceivedType(head: Buffer, declared: string): Promise<string> {
  const found = (await fileTypeFromBuffer(head))?.mime;
  if (found === undefined) return familyOf(declared) ? ANYTHING : declared;
  return isRefinedBy(found, declared) ? declared : found;
}

/** The type of a file by its first bytes. Throws VALIDATION_ERROR for a file that is not what it is said to be. */
export async function detectMediaType(
  head: Buffer,
  { type, ptt, mime_type, source_mime_type, name_mime_type }: DeclaredMedia,
): Promise<{ media_type: SendMediaType; mime_type: string }> {
  const found = (await fileTypeFromBuffer(head))?.mime;
  const claimed = [mime_type, source_mime_type, name_mime_type].find((claim) => claim && claim !== ANYTHING);
  const mime = found && !isRefinedBy(found, claimed) ? found : (claimed ?? found ?? ANYTHING);
  if (found && mime_type && mime_type !== ANYTHING) requireHonest(mime_type, mime);
  const chosen = typeof type === "function" ? type(mime) : type;
  const media_type = ptt ? "ptt" : (chosen ?? kindOf(mime));
  requireFitting(media_type, mime, found !== undefined);
  return { media_type, mime_type: isSound(media_type) ? asSound(mime) : mime };
}

const ANYTHING = "application/octet-stream";

/** Containers look alike: an office document is a zip, a picture of vectors is XML, and sound may come in an mp4. */
function isRefinedBy(found: string, claimed: string | undefined): boolean {
  // Content that names its codec is exact already.
  if (claimed === undefined || found.includes("codecs=")) return false;
  if (found === "application/zip" || found === "application/x-cfb") return claimed.startsWith("application/");
  if (found === "application/xml") return claimed.endsWith("xml");
  const container = containerOf(found);
  return container !== undefined && container === containerOf(claimed);
}

function containerOf(mime: string): string | undefined {
  return /^(?:audio|video|application)\/(?:x-)?(mp4|ogg|webm|matroska|3gpp)\b/.exec(mime)?.[1];
}

function requireHonest(claimed: string, mime: string): void {
  const isSameContainer = containerOf(mime) !== undefined && containerOf(claimed) === containerOf(mime);
  if (!isSameContainer && familyOf(claimed) !== familyOf(mime))
    throw invalidField("mime_type", `the file is ${mime}, not ${claimed}`);
}

function familyOf(mime: string): "image" | "video" | "audio" | undefined {
  const [family] = mime.split("/");
  return family === "image" || family === "video" || family === "audio" ? family : undefined;
}

function kindOf(mime: string): SendMediaType {
  return isDrawing(mime) ? "document" : (familyOf(mime) ?? "document");
}

/** A picture must be a picture; anything may go as a document. */
function requireFitting(kind: SendMediaType, mime: string, isRecognised: boolean): void {
  if (kind === "document") return;
  if (!isRecognised || !FITS[kind](mime)) throw invalidField("type", `the file is not ${WORDS[kind]}`);
}

const FITS: Record<Exclude<SendMediaType, "document">, (mime: string) => boolean> = {
  image: (mime) => familyOf(mime) === "image" && !isDrawing(mime),
  video: (mime) => familyOf(mime) === "video",
  audio: (mime) => familyOf(mime) === "audio" || containerOf(mime) !== undefined,
  ptt: (mime) => FITS.audio(mime),
  sticker: (mime) => /^image\/(webp|png|jpeg)$/.test(mime),
};

const WORDS: Record<Exclude<SendMediaType, "document">, string> = {
  image: "an image",
  video: "a video",
  audio: "audio",
  ptt: "audio",
  sticker: "a WebP, PNG or JPEG picture, of which a sticker is made",
};

/** Shown by browsers only, and a program as much as a picture. */
function isDrawing(mime: string): boolean {
  return mime.startsWith("image/svg");
}

function isSound(kind: SendMediaType): boolean {
  return kind === "audio" || kind === "ptt";
}

function asSound(mime: string): string {
  return mime.replace(/^(video|application)\//, "audio/");
}
