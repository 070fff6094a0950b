import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { type HandlerRequest, RawResponse } from "../handler.ts";
import type { Route } from "../route.ts";
import { chooseEncoding, type Encoding } from "./choose-encoding.ts";
import { isKnownEtag } from "./is-known-etag.ts";

/** Smaller bodies do not become faster. */
const LEAST_BYTES = 1024;
/** The best of brotli takes seconds for the description of the API, and saves a tenth. */
const BROTLI_QUALITY = 6;

type Headers = HandlerRequest<Route>["headers"];
type Copies = Map<Encoding, Promise<Buffer>>;

/**
 * Gives texts that rarely change an ETag, and compresses each of their versions once. A response to a client that has
 * the version is 304. The names must be few: the last version of each stays in memory.
 */
export class CompressedCopies {
  readonly #versions = new Map<string, { digest: string; copies: Copies }>();

  async respond(name: string, response: RawResponse, requested: Headers): Promise<RawResponse> {
    const { type, body, status, headers } = response;
    if (body instanceof Readable) return response;
    const bytes = Buffer.from(body);
    const digest = createHash("sha256").update(bytes).digest("base64url").slice(0, 22);
    const accepted = String(requested["accept-encoding"] ?? "");
    const encoding = bytes.length < LEAST_BYTES ? "identity" : chooseEncoding(accepted);
    const etag = `"${digest}-${encoding}"`;
    const vary = [headers.vary, "accept-encoding"].filter(Boolean).join(", ");
    const common = { ...headers, etag, vary };
    if (isKnownEtag(String(requested["if-none-match"] ?? ""), etag))
      return new RawResponse(type, "", 304, common);
    if (encoding === "identity") return new RawResponse(type, bytes, status, common);
    const copy = await this.#copy(name, digest, encoding, bytes);
    return new RawResponse(type, copy, status, { ...common, "content-encoding": encoding });
  }

  #copy(name: string, digest: string, encoding: Encoding, bytes: Buffer): Promise<Buffer> {
    let version = this.#versions.get(name);
    if (version?.digest !== digest) {
      version = { digest, copies: new Map() };
      this.#versions.set(name, version);
    }
    const copy = version.copies.get(encoding) ?? compress(bytes, encoding);
    version.copies.set(encoding, copy);
    return copy;
  }
}

function compress(bytes: Buffer, encoding: Encoding): Promise<Buffer> {
  if (encoding === "gzip") return promisify(gzip)(bytes);
  return promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } });
}
