import { Mime } from "mime";
import otherTypes from "mime/types/other.js";
import standardTypes from "mime/types/standard.js";

const MAX_LENGTH = 200;
const MAX_EXTENSION = 10;

/** Types with several extensions: the most common one. */
const ENDINGS = {
  "audio/aac": ["aac"],
  "audio/mpeg": ["mp3"],
  "audio/ogg": ["ogg"],
  "audio/webm": ["*webm"],
  "video/ogg": ["ogv"],
  "video/quicktime": ["mov"],
};
const types = new Mime(standardTypes, otherTypes).define(ENDINGS, true);

/** A bare name, without path or invisible characters; truncated between characters. */
export function cleanFileName(name: string): string {
  const last = (name.split(/[\\/]/).at(-1) ?? "").replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, "");
  const cut = [...last].slice(0, MAX_LENGTH).join("");
  return /^\.*$/.test(cut) ? "file" : cut;
}

/** A name for a file that has none: `file` plus the extension of its type. */
export function nameForType(mimeType: string): string {
  return withExtension("file", mimeType);
}

/** Appends the type's extension to a name without one. */
export function withExtension(name: string, mimeType: string): string {
  const extension = types.getExtension(mimeType);
  const isPlain = extension === null || extension === "bin" || hasExtension(name);
  return isPlain ? name : `${name}.${extension}`;
}

/** Replaces the extension of a name by that of the type. */
export function withTypeOf(name: string, mimeType: string): string {
  return withExtension(hasExtension(name) ? name.slice(0, name.lastIndexOf(".")) : name, mimeType);
}

export function hasExtension(name: string): boolean {
  const at = name.lastIndexOf(".");
  return at > 0 && at < name.length - 1 && name.length - at - 1 <= MAX_EXTENSION;
}

/**
 * The type for a file name's extension. None for images, audio and video, whose content must show the type,
 * and for types that a browser would execute.
 */
export function typeByExtension(name: string): string | undefined {
  const found = hasExtension(name) ? types.getType(name) : null;
  return found === null || /^(image|audio|video)\/|html|javascript|\bsvg\b/.test(found) ? undefined : found;
}
