import { createHash } from "node:crypto";
import { pollOptionId, toPollMessage } from "../../network/content/poll.ts";
import type { InboundContent, MediaContent, MediaType } from "../../network/driver.ts";
import { invalidField } from "../../platform/gateway-error.ts";
import { readBase64File } from "../../platform/http/body/base64-file.ts";
import type { InputOf } from "../../platform/http/route.ts";
import type { sandboxContract } from "./contract.ts";

/** Fetches a file by its URL and counts its bytes as they arrive. Throws MEDIA_DOWNLOAD_FAILED. */
export type FetchMedia = (
  url: string,
  reserveBytes: ReserveBytes,
) => Promise<{ bytes: Uint8Array; mime_type?: string }>;

type ReserveBytes = (bytes: number) => void;

/** The largest file that a body of this route can contain. */
const MAX_BYTES = 1_048_576;

type ReceiveInput = InputOf<typeof sandboxContract.sandboxReceive>;
type MediaInput = NonNullable<ReceiveInput["media"]>;

/** Converts a sandbox message to the network's content. */
export async function toContent(
  input: Partial<ReceiveInput>,
  fetchMedia: (url: string) => ReturnType<FetchMedia>,
): Promise<InboundContent> {
  if (input.text !== undefined) return { kind: "text", text: input.text };
  if (input.location) return { kind: "location", ...input.location };
  if (input.contact) return { kind: "contact", ...input.contact };
  if (input.media) return toMedia(input.media, fetchMedia);
  if (input.poll) return toPoll(input.poll);
  if (input.unsupported)
    return { kind: "unsupported", name: input.unsupported.kind, reason: input.unsupported.reason };
  throw invalidField(
    "text",
    "one of text, media, location, contact, poll and unsupported is required",
    "one_of_required",
    { fields: "text, media, location, contact, poll, unsupported" },
  );
}

function toPoll({ options, ...poll }: NonNullable<ReceiveInput["poll"]>): InboundContent {
  return toPollMessage({ ...poll, options: options.map((text) => ({ id: pollOptionId(text), text })) });
}

async function toMedia(
  media: MediaInput,
  fetchMedia: Parameters<typeof toContent>[1],
): Promise<MediaContent> {
  const { bytes, mime_type: found } = await readFile(media, fetchMedia);
  if (bytes.byteLength === 0) throw invalidField("media", "the file is empty", "empty");
  const mime_type = media.mime_type ?? found ?? "application/octet-stream";
  return {
    kind: "media",
    media_type: media.type ?? mediaTypeOf(mime_type),
    mime_type,
    file_name: media.file_name,
    caption: media.caption,
    size: bytes.byteLength,
    sha256: createHash("sha256").update(bytes).digest("hex"),
    bytes,
  };
}

async function readFile({ url, base64 }: MediaInput, fetchMedia: Parameters<typeof toContent>[1]) {
  if (url !== undefined) return fetchMedia(url);
  const { pieces, mime_type } = readBase64File("media.base64", base64 ?? "", MAX_BYTES);
  return { bytes: Buffer.concat([...pieces]), mime_type };
}

function mediaTypeOf(mime: string): MediaType {
  const family = mime.split("/")[0];
  return family === "image" || family === "video" || family === "audio" ? family : "document";
}
