import { invalidField } from "../../../../platform/gateway-error.ts";
import { hasExtension } from "../../../../platform/media/clean-file-name.ts";
import { isRecognised } from "../../../../platform/media/detect-media-type.ts";

/** A file that an address returned, and what it was expected to be. */
export interface FetchedFile {
  /** The first bytes. */
  head: Buffer;
  /** Of the response. */
  content_type: string;
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
/** Files whose bytes are no text; a spreadsheet may be HTML. */
const BINARY_TYPE = /^\s*(?:image|audio|video)\/(?!svg)|\/(?:pdf|zip)\b|officedocument/i;
const BINARY_NAME =
  /\.(?:pdf|jpe?g|png|gif|webp|avif|heic|bmp|tiff?|mp[34]|m4[av]|mov|webm|3gp|avi|mkv|ogg|opus|wav|flac|aac|docx|xlsx|pptx|zip)$/i;
const READ_BYTES = 4096;
const TITLE_CHARACTERS = 100;

/**
 * Many hosts answer a missing file, a sign-in or a share link with a page. Throws VALIDATION_ERROR with its title, unless
 * the caller or the address names a page.
 */
export async function refusePage(field: string, file: FetchedFile): Promise<void> {
  if (isPageWanted(file) || !(await isPage(file))) return;
  const { readPageSummary } = await import("./read-page-summary.ts");
  const { title = "" } = readPageSummary(file.head, file.content_type);
  const shown = [...title.replace(/\p{Cf}/gu, "")].slice(0, TITLE_CHARACTERS).join("");
  throw invalidField(
    field,
    `returns ${shown ? `the page "${shown}"` : "a page"} instead of a file. A link for sharing opens a page: use the address of the file itself, or send mime_type text/html`,
    { code: "page_instead_of_file", params: { title: shown } },
  );
}

/** What the caller says comes before what the address says. */
function isPageWanted({ mime_type, file_name, address_name }: FetchedFile): boolean {
  if (mime_type !== undefined) return HTML_TYPE.test(mime_type);
  return HTML_NAME.test(file_name ?? address_name ?? "");
}

async function isPage(file: FetchedFile): Promise<boolean> {
  const start = file.head.toString("latin1", 0, READ_BYTES).replace("\u00ef\u00bb\u00bf", "").trimStart();
  const looksLikePage = start.startsWith("<") && HTML_TAG.test(start);
  if (looksLikePage) return HTML_TYPE.test(file.content_type) || isBinaryWanted(file);
  // An error in plain words; but some servers call any file a page.
  const isUnnamed = file.mime_type === undefined && !hasExtension(file.file_name ?? file.address_name ?? "");
  const isExpected = !isUnnamed && !isBinaryWanted(file);
  return HTML_TYPE.test(file.content_type) && !isExpected && !(await isRecognised(file.head));
}

function isBinaryWanted({ type, mime_type, file_name, content_type, address_name }: FetchedFile): boolean {
  if (typeof type === "string" && type !== "document") return true;
  return BINARY_TYPE.test(mime_type ?? content_type) || BINARY_NAME.test(file_name ?? address_name ?? "");
}
