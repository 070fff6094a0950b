import type { Readable } from "node:stream";
import { GatewayError } from "../../../../platform/gateway-error.ts";
import {
  type LoggedContent,
  type MessageRow,
  type StoredContent,
  type StoredMedia,
  selectMessages,
} from "../../log/message-view.ts";
import { OutgoingFile } from "../outgoing-file.ts";
import type { MediaOptions } from "./read-media.ts";

export interface ForwardOptions extends Pick<MediaOptions, "db"> {
  instance_id: number;
  account_id: number;
  /** The stored file of a message, by the message's row. */
  openFile(message: number): Promise<{ read(): Promise<Readable> }>;
}

/** The content of a message of the log as another chat gets it. Throws what stands against that. */
export async function readForwarded(options: ForwardOptions, message_id: string): Promise<StoredContent> {
  const row = await selectMessages(options.db)
    .where("m.instance_id", "=", options.instance_id)
    .where("m.message_id", "=", message_id)
    .executeTakeFirstOrThrow(
      () =>
        new GatewayError("MESSAGE_NOT_FOUND", "The message to forward is not in the log of this instance."),
    );
  const content = await readBare(options, row);
  return { ...content, forwarded: { score: (row.content.forwarded?.score ?? 0) + 1 } };
}

/** Without what belongs to its first chat: its quote, mentions, reactions. */
async function readBare(options: ForwardOptions, row: MessageRow): Promise<StoredContent> {
  if (row.deleted_at) throw conflict("deleted", "The message has been deleted.");
  if (["scheduled", "pending", "failed", "cancelled"].includes(row.status))
    throw conflict("not_sent", "The message has not been sent.");
  const content = withoutContext(row.content);
  switch (content.kind) {
    case "text":
      if (content.poll) throw notForwardable();
      return {
        kind: "text",
        text: content.text,
        ...(content.preview && { link_preview: true, preview: content.preview }),
      };
    case "media":
      return readFile(options, row, content);
    case "unsupported":
      throw notForwardable();
    default:
      return content;
  }
}

function withoutContext(content: LoggedContent): LoggedContent {
  const {
    quoted: _1,
    mentions: _2,
    mentioned: _3,
    ad: _4,
    reactions: _5,
    pin: _6,
    starred: _7,
    ...bare
  } = content;
  return bare;
}

/** The network has the file already if its reference is known; otherwise it is sent again from the store. */
async function readFile(
  { db, account_id, openFile }: ForwardOptions,
  { id }: MessageRow,
  { upload: _1, shared: _2, converted: _3, album: _4, ref, ...content }: StoredMedia,
): Promise<StoredMedia> {
  if (ref !== undefined) return { ...content, ref: withoutSource(ref) };
  const opened = await openFile(id);
  const file = new OutgoingFile(db, account_id);
  try {
    for await (const piece of await opened.read()) await file.write(piece as Buffer);
    const sha256 = await file.end();
    return { ...content, size: file.size, sha256, upload: file.id };
  } catch (error) {
    await file.discard().catch(() => {});
    throw error;
  }
}

/** A driver asks for a file that is gone under the key of its message, which is another one now. */
function withoutSource(ref: unknown): unknown {
  const { message: _, ...bare } = ref as { message?: unknown };
  return bare;
}

function notForwardable(): GatewayError {
  return conflict("not_forwardable", "A message of this kind cannot be forwarded.");
}

function conflict(reason: string, message: string): GatewayError {
  return new GatewayError("CONFLICT", message, { details: { reason } });
}
