import { readMedia, type StoredMedia } from "../../../../core/messages/messages.ts";
import type { MediaType } from "../../../../network/driver.ts";
import { GatewayError } from "../../../../platform/gateway-error.ts";
import type { MediaTypeRule } from "../../../../platform/media/detect-media-type.ts";
import { fileNameOfUrl } from "../../../../platform/text/file-names.ts";
import { chatwootConfigOf } from "../chatwoot-config.ts";
import type { ChatwootContext } from "../chatwoot-context.ts";
import type { Attachment } from "./chatwoot-webhook-body.ts";

/** An agent's file that cannot be sent; `isPassing`: a retry may succeed. */
export class AgentFileError extends Error {
  override readonly name = "AgentFileError";
  readonly isTransient: boolean;
  constructor(message: string, isPassing: boolean) {
    super(message);
    this.isTransient = isPassing;
  }
}

const PICTURE = /^image\/(jpeg|png)$/;
/** Recorded in a browser; some servers report the container as a video. */
const VOICE = /^\w+\/(ogg|opus|webm)\b/;
/**
 * Chatwoot's recorder names a file by a UUID, and makes MP3 for API inboxes, or WAV where the browser cannot.
 */
const RECORDED = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.(?:mp3|wav|webm|ogg)$/i;
const SOUND = /^(audio\/|video\/mp4$)/;

/** Fetches a file that an agent has attached, and stores it until its send. Throws AgentFileError. */
export async function fetchAgentFile(
  context: ChatwootContext,
  attachment: Attachment,
  caption: string | undefined,
): Promise<StoredMedia> {
  const { db, outgoing, maxBytes, converter } = context.deps;
  const url = addressOf(context, attachment);
  const file_name = fileNameOfUrl(attachment.data_url ?? "");
  const input = { url, ...(file_name && { file_name }), ...(caption && { caption }) };
  const { account_id } = context.integration;
  const options = { db, outgoing, maxBytes, converter, account_id };
  const read = (type: MediaType | MediaTypeRule) => readMedia({ ...input, type }, options);
  const isVoice = isRecording(context, attachment, file_name);
  try {
    return await read((mimeType) => kindOf(attachment, mimeType, isVoice)).catch((error: unknown) =>
      readAsOther(context, error, read),
    );
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    throw new AgentFileError(error.message, error.code === "MEDIA_DOWNLOAD_FAILED");
  }
}

/** A file that cannot go as its own kind goes as another: a voice note as audio, any file as a document. */
async function readAsOther(
  context: ChatwootContext,
  error: unknown,
  read: (type: MediaType) => Promise<StoredMedia>,
): Promise<StoredMedia> {
  if (isCode(error, "VALIDATION_ERROR")) return read("document");
  if (!isCode(error, "NOT_SUPPORTED")) throw error;
  await context.deps.health.warn(context.integration, WITHOUT_FFMPEG);
  return read("audio").catch((refused: unknown) => {
    if (!isCode(refused, "VALIDATION_ERROR")) throw refused;
    return read("document");
  });
}

const WITHOUT_FFMPEG =
  "A recording of an agent was sent as an audio file, not as a voice note: ffmpeg, which converts it, is not installed on " +
  "the gateway (WAYGATE_FFMPEG).";

function isCode(error: unknown, code: GatewayError["code"]): boolean {
  return error instanceof GatewayError && error.code === code;
}

function isRecording(
  { integration }: ChatwootContext,
  { file_type }: Attachment,
  name: string | undefined,
): boolean {
  if (file_type !== "audio") return false;
  return chatwootConfigOf(integration).all_audio_as_voice || (name !== undefined && RECORDED.test(name));
}

/** Some installations use a URL for themselves that only browsers reach. */
function addressOf({ integration }: ChatwootContext, { data_url }: Attachment): string {
  const { url: base, files_from_url } = chatwootConfigOf(integration);
  if (!data_url || !URL.canParse(data_url)) throw new AgentFileError("The attachment has no URL.", false);
  if (!files_from_url) return data_url;
  const { pathname, search } = new URL(data_url);
  return `${new URL(base).origin}${pathname}${search}`;
}

/**
 * Kinds that phones show keep their kind, the rest are documents. Versions before 4.14 report only the kind.
 */
function kindOf({ file_type }: Attachment, mimeType: string, isVoice: boolean): MediaType {
  if (file_type === "audio" && (VOICE.test(mimeType) || (isVoice && SOUND.test(mimeType)))) return "ptt";
  if (file_type === "audio" && SOUND.test(mimeType)) return "audio";
  if (file_type === "image" && PICTURE.test(mimeType)) return "image";
  return file_type === "video" && mimeType === "video/mp4" ? "video" : "document";
}
