import { type GatewayError, invalidField } from "../../../../platform/gateway-error.ts";
import { hasExtension, typeByExtension } from "../../../../platform/media/clean-file-name.ts";
import { isRecognised } from "../../../../platform/media/detect-media-type.ts";
import { decodeText, decodeUtf16 } from "../../../../platform/text/decode-text.ts";

/** A file, and what it was expected to be. */
export interface ExpectedFile {
  /** The first bytes. */
  head: Buffer;
  /** Of the response of an address. */
  content_type?: string;
  /** What the caller said. */
  type?: unknown;
  mime_type?: string | undefined;
  file_name?: string | undefined;
  /** From the response or the address. */
  address_name?: string | undefined;
}

const HTML_TYPE = /^\s*(text\/html|application\/xhtml\+xml)\b/i;
const HTML_NAME = /\.x?html?$/i;
const HTML_TAG = /<(?:!doctype html|html|head|body)[\s>]/i;
const TEXT_TYPE = /^\s*text\/|[/+](?:json|xml)\b/i;
/** How XML and JSON begin. */
const DATA = /^(?:<[?!a-z]|\{\s*["}]|\[\s*[[{"\]])/i;
const DRAWING = /<svg[\s>]/i;
/** Files whose bytes are no text; a spreadsheet may be HTML. */
const BINARY_TYPE = /^\s*(?:image|audio|video)\/(?!svg)|\/(?:pdf|zip)\b|officedocument/i;
const BINARY_NAME =
  /\.(?:pdf|jpe?g|png|gif|webp|avif|heic|bmp|tiff?|mp[34]|m4[av]|mov|webm|3gp|avi|mkv|ogg|opus|wav|flac|aac|docx|xlsx|pptx|zip)$/i;
const READ_BYTES = 4096;
const SHOWN_CHARACTERS = 100;

/**
 * Many hosts answer 200 for a missing file, a sign-in or a share link: with a page, or with XML, JSON or words. Programs
 * also send such a page in base64. Throws VALIDATION_ERROR with what it says, unless the caller or the address names such a
 * document.
 */
export async function refuseErrorDocument(field: string, file: ExpectedFile): Promise<void> {
  if (isGzip(file.head)) return refuseGzip(field, file);
  if (isPageWanted(file)) return;
  const head = file.head.subarray(0, READ_BYTES);
  const wide = decodeUtf16(head);
  const start = (wide ?? head.toString("latin1").replace("\u00ef\u00bb\u00bf", "")).trimStart();
  const isHtml = start.startsWith("<") && HTML_TAG.test(start);
  const isFetched = file.content_type !== undefined;
  const isText = isFetched && !isHtml && (await isErrorText(file, start));
  if (!isText && !(await isPage(file, isHtml))) return;
  const { readPageSummary, toLine } = await import("./read-page-summary.ts");
  const said = isText
    ? toLine((wide ?? decodeText(head, undefined, true)).replace(/<[^<>]*>/g, " "))
    : (readPageSummary(file.head, file.content_type).title ?? "");
  const shown = [...said.replace(/\p{Cf}/gu, "")].slice(0, SHOWN_CHARACTERS).join("");
  throw isText ? textRefusal(field, shown) : pageRefusal(field, shown, isFetched);
}

function isGzip([first, second]: Buffer): boolean {
  return first === 0x1f && second === 0x8b;
}

/** Of a drawing too: in this format it is compressed. */
const GZIP_NAME = /\.(?:t?gz|gzip|svgz)$/i;

/** Some hosts store files compressed and do not say so: nobody can open them under their name. */
function refuseGzip(field: string, file: ExpectedFile): void {
  const { mime_type, file_name, address_name, content_type } = file;
  if (GZIP_NAME.test(file_name ?? address_name ?? "")) return;
  if (!isBinaryWanted(file) && !isTextWanted(file) && !TEXT_TYPE.test(mime_type ?? content_type ?? ""))
    return;
  throw invalidField(
    field,
    "is compressed with gzip, but its name or its type says otherwise. Send the unpacked file, or a name that ends in .gz",
    "compressed_file",
  );
}

function pageRefusal(field: string, title: string, isFetched: boolean): GatewayError {
  const page = title ? `the page "${title}"` : "a page";
  return invalidField(
    field,
    isFetched
      ? `returns ${page} instead of a file. A link for sharing opens a page: use the address of the file itself, or send mime_type text/html`
      : `is ${page} instead of a file. Send the file itself, or mime_type text/html`,
    "page_instead_of_file",
    { title },
  );
}

function textRefusal(field: string, text: string): GatewayError {
  return invalidField(
    field,
    `returns the text "${text}" instead of a file. Check whether the link has expired or needs a sign-in, or send the mime_type of the text`,
    "text_instead_of_file",
    { text },
  );
}

/** What the caller says comes before what the address says. */
function isPageWanted({ mime_type, file_name, address_name }: ExpectedFile): boolean {
  if (mime_type !== undefined) return HTML_TYPE.test(mime_type);
  return HTML_NAME.test(file_name ?? address_name ?? "");
}

async function isPage(file: ExpectedFile, isHtml: boolean): Promise<boolean> {
  const { content_type = "", mime_type, file_name, address_name } = file;
  if (isHtml) return HTML_TYPE.test(content_type) || isBinaryWanted(file);
  // An error in plain words; but some servers call any file a page.
  const isUnnamed = mime_type === undefined && !hasExtension(file_name ?? address_name ?? "");
  return HTML_TYPE.test(content_type) && isUnnamed && !(await isRecognised(file.head));
}

/** Text in place of a file whose bytes are none. */
async function isErrorText(file: ExpectedFile, start: string): Promise<boolean> {
  if (isTextWanted(file) || !isBinaryWanted(file) || DRAWING.test(start)) return false;
  // The declaration of XML is recognised as a type too.
  return DATA.test(start) || (TEXT_TYPE.test(file.content_type ?? "") && !(await isRecognised(file.head)));
}

function isTextWanted({ mime_type, file_name, address_name }: ExpectedFile): boolean {
  return TEXT_TYPE.test(mime_type ?? typeByExtension(file_name ?? address_name ?? "") ?? "");
}

function isBinaryWanted({ type, mime_type, file_name, content_type, address_name }: ExpectedFile): boolean {
  if (typeof type === "string" && type !== "document") return true;
  return (
    BINARY_TYPE.test(mime_type ?? content_type ?? "") || BINARY_NAME.test(file_name ?? address_name ?? "")
  );
}
