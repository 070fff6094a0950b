import { invalidField } from "../gateway-error.ts";
import { decodeStart } from "../text/decode-text.ts";

/** The kind of message that carries a file. */
export type SendMediaType = "image" | "video" | "audio" | "document" | "sticker" | "ptt";

/** Chooses the kind of message by the detected type of the file. */
export type MediaTypeRule = (mimeType: string) => SendMediaType;

/** Declared properties of a file; the caller's override those of the source. */
export interface DeclaredMedia {
  type?: SendMediaType | MediaTypeRule;
  /** Audio of the kind `ptt`, regardless of `type`. */
  ptt?: boolean;
  mime_type?: string;
  /** Declared by the form, the data URI or the server of the file. */
  source_mime_type?: string;
  /** The type for the extension of its name. */
  name_mime_type?: string;
}

/** The type of a received file: the declared one, unless the content contradicts it. */
export async function detectReceivedType(head: Buffer, declared: string): Promise<string> {
  const found = await findReceivedType(head);
  if (found === undefined) return familyOf(declared) ? ANYTHING : declared;
  return isRefinedBy(found, declared) ? declared : found;
}

/** Browsers too take a text that begins like a picture for one, so a received file stays one. */
async function findReceivedType(head: Buffer): Promise<string | undefined> {
  const found = await findMimeType(head);
  return found === undefined || familyOf(found) === "image" ? found : findMeantType(head);
}

/** Detects a file's type from its first bytes. Throws VALIDATION_ERROR if it differs from the declared type. */
export async function detectMediaType(
  head: Buffer,
  { type, ptt, mime_type, source_mime_type, name_mime_type }: DeclaredMedia,
): Promise<{ media_type: SendMediaType; mime_type: string }> {
  const found = await findMeantType(head);
  const claimed = [mime_type, source_mime_type, name_mime_type].find((claim) => claim && claim !== ANYTHING);
  const mime = found && !isRefinedBy(found, claimed) ? found : (claimed ?? found ?? ANYTHING);
  if (found && mime_type && mime_type !== ANYTHING) requireHonest(mime_type, mime);
  const chosen = typeof type === "function" ? type(mime) : type;
  const media_type = ptt ? "ptt" : (chosen ?? kindOf(mime));
  requireFitting(media_type, mime, found !== undefined);
  return { media_type, mime_type: isSound(media_type) ? asSound(mime) : mime };
}

/** Whether the first bytes of a file say its type; those of a text do not. */
export async function isRecognised(head: Buffer): Promise<boolean> {
  return (await findMeantType(head)) !== undefined;
}

/** The library takes a text that begins like a picture or a sound for one. */
async function findMeantType(head: Buffer): Promise<string | undefined> {
  const text = decodeStart(head);
  if (text === undefined) return findMimeType(head);
  const found = await findMimeType(Buffer.from(text));
  return found && TEXTS.test(found) ? found : undefined;
}

/** Loads the library with the first file. It calls every container a video. */
async function findMimeType(head: Buffer): Promise<string | undefined> {
  const { fileTypeFromBuffer } = await import("file-type");
  const mime = (await fileTypeFromBuffer(head))?.mime;
  return mime && hasOnlySound(head, mime) ? asSound(mime) : mime;
}

/** Types of files that can be text alone. */
const TEXTS = /^text\/|\/(?:pdf|rtf|postscript|eps|pgp-encrypted)$|[/+]xml$/;

const BOXES = {
  picture: Buffer.from("hdlr\0\0\0\0\0\0\0\0vide"),
  sound: Buffer.from("hdlr\0\0\0\0\0\0\0\0soun"),
};
const ELEMENTS = { picture: Buffer.from("838101", "hex"), sound: Buffer.from("838102", "hex") };
/** How containers name the kind of a track. */
const TRACKS: Readonly<Record<string, typeof BOXES>> = {
  mp4: BOXES,
  "3gpp": BOXES,
  webm: ELEMENTS,
  matroska: ELEMENTS,
};
/** In WebM and Matroska, the content of the tracks begins here. */
const CLUSTER = Buffer.from("1f43b675", "hex");

function hasOnlySound(head: Buffer, mime: string): boolean {
  const kinds = TRACKS[containerOf(mime) ?? ""];
  if (!kinds) return false;
  const content = head.indexOf(CLUSTER);
  const tracks = content < 0 ? head : head.subarray(0, content);
  return tracks.includes(kinds.sound) && !tracks.includes(kinds.picture);
}

const ANYTHING = "application/octet-stream";

/** Containers are ambiguous: an office document is a zip, an SVG is XML, and an mp4 may be called audio or video. */
function isRefinedBy(found: string, claimed: string | undefined): boolean {
  // Content that names its codec is already specific.
  if (claimed === undefined || found.includes("codecs=")) return false;
  if (found === "application/zip" || found === "application/x-cfb") return claimed.startsWith("application/");
  if (found === "application/xml") return claimed.endsWith("xml");
  if (familyOf(found) === "audio" && familyOf(claimed) === "video") return false;
  const container = containerOf(found);
  return container !== undefined && container === containerOf(claimed);
}

function containerOf(mime: string): string | undefined {
  return /^(?:audio|video|application)\/(?:x-)?(mp4|ogg|webm|matroska|3gpp)\b/.exec(mime)?.[1];
}

function requireHonest(claimed: string, mime: string): void {
  const isSameContainer = containerOf(mime) !== undefined && containerOf(claimed) === containerOf(mime);
  if (!isSameContainer && familyOf(claimed) !== familyOf(mime))
    throw invalidField("mime_type", `the file is ${mime}, not ${claimed}`, "wrong_file_type", {
      expected: claimed,
      found: mime,
    });
}

function familyOf(mime: string): "image" | "video" | "audio" | undefined {
  const [family] = mime.split("/");
  return family === "image" || family === "video" || family === "audio" ? family : undefined;
}

function kindOf(mime: string): SendMediaType {
  return isDrawing(mime) ? "document" : (familyOf(mime) ?? "document");
}

/** An image must be an image; any file may be a document. */
function requireFitting(kind: SendMediaType, mime: string, isFound: boolean): void {
  if (kind === "document") return;
  if (!isFound || !FITS[kind](mime))
    throw invalidField("type", `the file is not ${NAMES[kind]}`, "wrong_file_type", { expected: kind });
}

const FITS: Record<Exclude<SendMediaType, "document">, (mime: string) => boolean> = {
  image: (mime) => familyOf(mime) === "image" && !isDrawing(mime),
  video: (mime) => familyOf(mime) === "video",
  audio: (mime) => familyOf(mime) === "audio" || containerOf(mime) !== undefined,
  ptt: (mime) => FITS.audio(mime),
  sticker: (mime) => FITS.image(mime),
};

const NAMES: Record<Exclude<SendMediaType, "document">, string> = {
  image: "an image",
  video: "a video",
  audio: "audio",
  ptt: "audio",
  sticker: "a picture or a GIF for a sticker",
};

/** An SVG: only browsers display it, and it can contain scripts. */
function isDrawing(mime: string): boolean {
  return mime.startsWith("image/svg");
}

function isSound(kind: SendMediaType): boolean {
  return kind === "audio" || kind === "ptt";
}

function asSound(mime: string): string {
  return mime.replace(/^(video|application)\//, "audio/");
}
