import { Readable } from "node:stream";
import type { Db } from "../../platform/db/database.ts";
import { GatewayError } from "../../platform/gateway-error.ts";
import { type Handlers, RawResponse } from "../../platform/http/handler.ts";
import { cleanFileName } from "../../platform/media/clean-file-name.ts";
import { mediaContract } from "./contract.ts";
import { type MediaUrls, noFile } from "./media.ts";
import { type OpenedFile, type OpenFileDeps, openFile } from "./open-file.ts";
import { contentTypeOf, toFileResponse } from "./to-file-response.ts";

const { message, output } = mediaContract.downloadMedia;

/** The text after the base64, which is the last field of the envelope. */
const TAIL = '"}}';

export interface MediaDeps extends OpenFileDeps {
  mediaUrls: MediaUrls;
}

type Linked = Pick<
  Parameters<Handlers<typeof mediaContract>["getLinkedMedia"]>[0],
  "input" | "headers" | "signal"
>;

export function mediaHandlers(deps: MediaDeps): Handlers<typeof mediaContract> {
  async function serveLink({ input: { mediaId, expires, signature }, headers, signal }: Linked) {
    if (!deps.mediaUrls.isGood(mediaId, expires, signature)) throw noFile();
    return toFileResponse(await openFile(deps, { media: mediaId }, signal), headers);
  }

  return {
    async downloadMedia({ input: { id, message_id, return_base64 }, headers, signal }) {
      const message = await findMessage(deps.db, id, message_id);
      const file = await openFile(deps, { message }, signal);
      return return_base64 ? toBase64Response(file) : toFileResponse(file, headers);
    },

    async getMedia({ input: { id, mediaId }, headers, signal }) {
      return toFileResponse(await openFile(deps, { media: mediaId, instance: id }, signal), headers);
    },

    getLinkedMedia: serveLink,
    getNamedMedia: serveLink,
  };
}

async function findMessage(db: Db, instanceId: number, messageId: string): Promise<number> {
  const { id } = await db
    .selectFrom("message")
    .select("id")
    .where("instance_id", "=", instanceId)
    .where("message_id", "=", messageId)
    .executeTakeFirstOrThrow(() => new GatewayError("MESSAGE_NOT_FOUND", "There is no such message."));
  return id;
}

/** The file in the envelope, encoded while it is read: only a few pieces are in memory at a time. */
async function toBase64Response(file: OpenedFile): Promise<RawResponse> {
  const { message_id, file_name, size } = file;
  const described = {
    message_id,
    mime_type: contentTypeOf(file),
    file_name: file_name === null ? null : cleanFileName(file_name),
    size,
  };
  const data = output.parse({ ...described, base64: "" });
  const head = JSON.stringify({ success: true, message, data }).slice(0, -TAIL.length);
  const length = Buffer.byteLength(head) + 4 * Math.ceil(size / 3) + TAIL.length;
  const pieces = write(head, await file.read());
  return new RawResponse(
    "application/json; charset=utf-8",
    Readable.from(pieces, { objectMode: false }),
    200,
    {
      "content-length": String(length),
    },
  );
}

async function* write(head: string, file: AsyncIterable<Buffer>): AsyncGenerator<string> {
  yield head;
  let rest: Buffer = Buffer.alloc(0);
  for await (const piece of file) {
    const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    // Three bytes are four base64 characters.
    const whole = bytes.length - (bytes.length % 3);
    rest = bytes.subarray(whole);
    if (whole > 0) yield bytes.toString("base64", 0, whole);
  }
  yield rest.toString("base64") + TAIL;
}
