import { create as contentDisposition } from "content-disposition";
import { isKnownEtag } from "../../platform/http/cached/is-known-etag.ts";
import { RawResponse } from "../../platform/http/handler.ts";
import { cleanFileName, nameForType } from "../../platform/media/clean-file-name.ts";
import type { ByteRange } from "../../platform/media/media-store.ts";
import { mimeType } from "./contract.ts";
import type { OpenedFile } from "./open-file.ts";

/** Types that a browser can show safely; all others are offered as a download. */
const SAFE_INLINE = /^(image\/(png|jpeg|gif|webp)|video\/(mp4|webm)|audio\/(mpeg|ogg|mp4|aac|wav))\b/;

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** The file as a response: whole, the requested range, or "not modified". */
export async function toFileResponse(file: OpenedFile, requested: Headers = {}): Promise<RawResponse> {
  const type = contentTypeOf(file);
  const etag = file.sha256 === null ? undefined : `"${file.sha256}"`;
  const headers = { ...safeHeaders(file, type), ...(etag && { etag, "accept-ranges": "bytes" }) };
  if (etag && isKnownEtag(String(requested["if-none-match"] ?? ""), etag))
    return new RawResponse(type, "", 304, headers);
  const isSame = requested["if-range"] === undefined || requested["if-range"] === etag;
  const range = etag && isSame ? readRange(requested.range, file.size) : undefined;
  if (range === "none")
    return new RawResponse(type, "", 416, { ...headers, "content-range": `bytes */${file.size}` });
  if (!range)
    return new RawResponse(type, await file.read(), 200, { ...headers, "content-length": `${file.size}` });
  return new RawResponse(type, await file.read(range), 206, {
    ...headers,
    "content-length": `${range.end - range.start + 1}`,
    "content-range": `bytes ${range.start}-${range.end}/${file.size}`,
  });
}

/** Fit for a header. */
export function contentTypeOf({ mime_type }: OpenedFile): string {
  return mimeType.safeParse(mime_type).data ?? "application/octet-stream";
}

function safeHeaders({ file_name }: OpenedFile, type: string): Record<string, string> {
  const disposition = SAFE_INLINE.test(type) ? "inline" : "attachment";
  return {
    "content-disposition": contentDisposition(
      file_name === null ? nameForType(type) : cleanFileName(file_name),
      {
        type: disposition,
      },
    ),
    "x-content-type-options": "nosniff",
    "content-security-policy": "sandbox; default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
    "cache-control": "private, no-cache",
  };
}

/** One range of bytes; undefined for the whole file, `none` for a range outside the file. */
function readRange(range: string | string[] | undefined, size: number): ByteRange | "none" | undefined {
  const [, first = "", last = ""] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(String(range ?? "")) ?? [];
  if (first === "" && last === "") return undefined;
  const start = first === "" ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === "" || last === "" ? size - 1 : Math.min(Number(last), size - 1);
  if (start >= size || (first === "" && Number(last) === 0)) return "none";
  return start > end ? undefined : { start, end };
}
