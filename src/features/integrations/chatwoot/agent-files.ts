import type { MediaType } from "../../../network/driver.ts";
import { GatewayError } from "../../../platform/errors.ts";
import type { FetchOutcome } from "../../../platform/safe-fetch.ts";
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

const REDIRECTS = 5;
const LOOK_MS = 15_000;
const VOICE = /^audio\/(ogg|opus|webm)/;
const PICTURE = /^image\/(jpeg|png)/;
/** Older versions tell only how the file is called. */
const EXTENSION_TYPES: Record<string, string> = {
  ...{ jpg: "image/jpeg", jpeg: "image/jpeg", png: "image/png", mp4: "video/mp4" },
  ...{ ogg: "audio/ogg", oga: "audio/ogg", opus: "audio/opus", webm: "audio/webm" },
};

/** Fetches a file that an agent has attached, to where it waits for its send. Throws AgentFileError. */
export async function takeAgentFile(
  desk: Desk,
  attachment: Attachment,
  caption: string | undefined,
): Promise<StoredMedia> {
  const { db, outgoing, maxBytes, voiceNotes } = desk.deps;
  const url = await findFile(desk, addressOf(desk, attachment));
  const file_name = nameIn(attachment.data_url ?? "");
  const input = { url, ...(file_name && { file_name }), ...(caption && { caption }) };
  const { account_id } = desk.integration;
  const options = { db, outgoing, maxBytes, voiceNotes, account_id };
  const read = (type: MediaType) => readMedia({ ...input, type }, options);
  try {
    const type = kindOf(attachment);
    // What is not the picture or the sound that it is said to be can still be handed over.
    return await read(type).catch((error: unknown) => {
      if (type === "document" || !isAboutKind(error)) throw error;
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

/** The address leads on to where the file is stored; our token goes to neither of them. */
async function findFile({ deps: { outgoing }, integration }: Desk, first: string): Promise<string> {
  let url = first;
  for (let hop = 0; hop < REDIRECTS; hop++) {
    const outcome = await outgoing.fetch({
      url,
      method: "GET",
      totalMs: LOOK_MS,
      maxBytes: 1,
      tenant: { instance_id: integration.instance_id },
      isPaced: true,
    });
    const next = locationOf(outcome);
    if (!next) return url;
    url = new URL(next, url).href;
  }
  throw new AgentFileError("The attachment's address leads round in circles.", false);
}

/** Undefined where the file is. Right after it was attached Chatwoot may not have it yet. */
function locationOf(outcome: FetchOutcome): string | undefined {
  if (outcome.outcome === "failed") {
    const isForbidden = outcome.failure === "blocked" || outcome.failure === "invalid_url";
    throw new AgentFileError(`The attachment could not be fetched: ${outcome.error}`, !isForbidden);
  }
  const { status, headers } = outcome;
  if (status < 300) return undefined;
  if (status < 400 && headers.location) return headers.location;
  throw new AgentFileError(`The attachment could not be fetched: its address answered ${status}.`, true);
}

/** What phones show goes as what it is, the rest as a document. */
function kindOf({ file_type, content_type, extension }: Attachment): MediaType {
  const type = content_type ?? EXTENSION_TYPES[extension ?? ""] ?? "";
  if (file_type === "audio") return VOICE.test(type) ? "ptt" : "audio";
  if (file_type === "image" && PICTURE.test(type)) return "image";
  return file_type === "video" && type === "video/mp4" ? "video" : "document";
}

function nameIn(url: string): string | undefined {
  try {
    return decodeURIComponent(new URL(url).pathname.split("/").at(-1) ?? "") || undefined;
  } catch {
    return undefined;
  }
}
