import { GatewayError } from "../../platform/gateway-error.ts";
import type { SafeFetch } from "../../platform/outgoing/safe-fetch.ts";
import type { FetchMedia } from "./to-content.ts";

const LONGEST_MS = 30_000;

/** Fetches the files that phones of the sandbox send, by URL. */
export function createMediaFetcher(outgoing: Pick<SafeFetch, "download">, maxBytes: number): FetchMedia {
  return async (url, reserveBytes) => {
    const pieces: Buffer[] = [];
    const onChunk = (piece: Buffer) => {
      // Counted twice: as a piece, and in the joined buffer.
      reserveBytes(2 * piece.length);
      pieces.push(piece);
    };
    const outcome = await outgoing.download({ url, totalMs: LONGEST_MS, maxBytes, onChunk });
    if (outcome.outcome === "response" && outcome.status === 200) {
      return { bytes: Buffer.concat(pieces), mime_type: outcome.headers["content-type"]?.split(";")[0] };
    }
    const reason =
      outcome.outcome === "failed" ? outcome.error : `the address responded with ${outcome.status}.`;
    throw new GatewayError("MEDIA_DOWNLOAD_FAILED", `The file could not be fetched: ${reason}`);
  };
}
