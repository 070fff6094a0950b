import { z } from "zod";
import { refuseAll, route } from "../../platform/http/route.ts";
import { named } from "../../platform/http/schema-name.ts";
import { boundedText, trimmedText } from "../../platform/text/bounded-text.ts";
import { instanceId } from "../events/contract.ts";

/** With its parameters, such as `audio/ogg; codecs=opus`; safe to stand in a header. */
export const mimeType = trimmedText(127).regex(
  /^[\w.+-]+\/[\w.+-]+(\s*;\s*[\w.+-]+=("[\w., +-]*"|[\w.+-]+))*$/,
  "is not a media type",
);

const mediaId = boundedText(64).describe("`media.id` of a message.");

const ERRORS = ["INSTANCE_NOT_CONNECTED", "MEDIA_EXPIRED", "NOT_SUPPORTED", "MEDIA_DOWNLOAD_FAILED"] as const;

const file = {
  tag: "Messages",
  errors: ERRORS,
  output: z.never(),
  raw: "*/*",
  statuses: [206, 304, 416],
} as const;

const signedLink = z.object({ mediaId, expires: boundedText(16), signature: boundedText(64) });

export const mediaContract = {
  downloadMedia: route({
    http: "POST /api/v1/instances/:id/messages/download",
    errors: ERRORS,
    access: "instance",
    tag: "Messages",
    summary: "Get the file of a message: its bytes, or with `return_base64` as JSON",
    message: "File",
    aliases: { message_id: ["id", "messageId", "key.id", "message.key.id"], return_base64: ["returnBase64"] },
    refuses: refuseAll(
      "is not supported: the response is the file of the named message as it was received",
      "convertToMp4",
      "generate_mp3",
      "transcribe",
      "download_quoted",
      "return_link",
    ),
    input: z.object({
      id: instanceId,
      message_id: trimmedText(128).min(1),
      return_base64: z.boolean().default(false),
    }),
    output: z.object({
      message_id: z.string(),
      mime_type: z.string(),
      file_name: z.string().nullable(),
      size: z.number().int(),
      base64: z.string(),
    }),
    raw: "*/*",
  }),
  getMedia: route({
    http: "GET /api/v1/instances/:id/media/:mediaId",
    access: "instance",
    summary: "Get a file by its media id; supports `Range` and `If-None-Match`",
    ...file,
    input: z.object({ id: instanceId, mediaId }),
  }),
  getLinkedMedia: route({
    http: "GET /media/:mediaId/:expires/:signature",
    access: "public",
    summary: "Get a file by a signed link, which the gateway passes to services such as integrations",
    ...file,
    input: signedLink,
  }),
  getNamedMedia: route({
    http: "GET /media/:mediaId/:expires/:signature/:name",
    access: "public",
    summary:
      "Get a file by a signed link with any name at the end, for services that read the file type from it",
    ...file,
    input: signedLink.extend({ name: boundedText(255) }),
  }),
};

/** The file of a message, as messages show it. */
export const media = named(
  "MessageFile",
  z.object({
    id: z.string().nullable(),
    status: z
      .enum(["pending", "ready", "failed", "expired", "remote"])
      .describe("`remote`: only the network has the file; a download fetches it."),
    url: z
      .string()
      .nullable()
      .describe("Path below the gateway's address; needs a credential of the instance."),
    type: z.string(),
    mime_type: z.string(),
    file_name: z.string().nullable(),
    // The sender states it, so it may be larger than an exact integer.
    size: z.number().meta({ type: "integer" }).describe("Bytes."),
    sha256: z.string().nullable(),
    seconds: z.number().nullable(),
    view_once: z.boolean().optional().describe("true: phones show or play the file only once."),
    gif_playback: z.boolean().optional().describe("true: a video that plays in a loop without sound."),
    ptv: z.boolean().optional().describe("true: a round video note."),
    is_animated: z.boolean().optional().describe("true: a sticker that moves."),
    page_count: z.number().optional().describe("Of a PDF, as its sender says."),
    reason: z.string().nullable().describe("Why a file is `failed` or `expired`."),
  }),
);
