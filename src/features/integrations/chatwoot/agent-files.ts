import type { MediaType } from "../../../network/driver.ts";
import { GatewayError } from "../../../platform/errors.ts";
import type { MediaTypeRule } from "../../../platform/media-type.ts";
import { readMedia, type StoredMedia } from "../../messages/messages.ts";
import { configOf } from "./config.ts";
import type { Desk } from "./desk.ts";
import type { Attachment } from "./webhook-body.ts";

/** A file of an agent that cannot be sent; `isPassing`: not yet. */
export class AgentFileError extends Error {
  override readonly name = "AgentFileError";
  readonly isPassing: boolean;
  constructor(message: string, isPassing: boolean) {
    super(message);
    this.isPassing = isPassing;
  }
}

const PICTURE = /^image\/(jpeg|png)$/;
/** Recorded in a browser; some servers call the container a video. */
const VOICE = /^\w+\/(ogg|opus|webm)\b/;
const SOUND = /^(audio\/|video\/mp4$)/;

/** Fetches a file that an agent has attached, to where it waits for its send. Throws AgentFileError. */
export async function takeAgentFile(
  desk: Desk,
  attachment: Attachment,
  caption: string | undefined,
): Promise<StoredMedia> {
  const { db, outgoing, maxBytes, converter } = desk.deps;
  const url = addressOf(desk, attachment);
  const file_name = nameIn(attachment.data_url ?? "");
  const input = { url, ...(file_name && { file_name }), ...(caption && { caption }) };
  const { account_id } = desk.integration;
  const options = { db, outgoing, maxBytes, converter, account_id };
  const read = (type: MediaType | MediaTypeRule) => readMedia({ ...input, type }, options);
  try {
    // A sound that cannot become a voice note here can still be handed over.
    return await read((mimeType) => kindOf(attachment, mimeType)).catch((error: unknown) => {
      if (!isAboutKind(error)) throw error;
      return read("document");
    });
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    throw new AgentFileError(error.message, error.code === "MEDIA_DOWNLOAD_FAILED");
  }
}

function isAboutKind(error: unknown): boolean {
  return (
    error instanceof GatewayError && (error.code === "VALIDATION_ERROR" || error.code === "NOT_SUPPORTED")
  );
}

/** Some installations name themselves by an address that only browsers reach. */
function addressOf({ integration }: Desk, { data_url }: Attachment): string {
  const { url: base, files_from_url } = configOf(integration);
  if (!data_url || !URL.canParse(data_url)) throw new AgentFileError("The attachment has no address.", false);
  if (!files_from_url) return data_url;
  const { pathname, search } = new URL(data_url);
  return `${new URL(base).origin}${pathname}${search}`;
}

/** What phones show goes as what it is, the rest as a document. Versions before 4.14 tell nothing but the kind. */
function kindOf({ file_type }: Attachment, mimeType: string): MediaType {
  if (file_type === "audio" && VOICE.test(mimeType)) return "ptt";
  if (file_type === "audio" && SOUND.test(mimeType)) return "audio";
  if (file_type === "image" && PICTURE.test(mimeType)) return "image";
  return file_type === "video" && mimeType === "video/mp4" ? "video" : "document";
}

function nameIn(url: string): string | undefined {
  try {
    return decodeURIComponent(new URL(url).pathname.split("/").at(-1) ?? "") || undefined;
  } catch {
    return undefined;
  }
}
