import { Readable } from "node:stream";
import { RawResponse } from "../../platform/http/handler.ts";
import { cleanFileName } from "../../platform/media/clean-file-name.ts";
import { mediaContract } from "./contract.ts";
import type { OpenedFile } from "./open-file.ts";
import { contentTypeOf } from "./to-file-response.ts";

const { message, output } = mediaContract.downloadMedia;
/** The text after the base64, which is the last field of the envelope. */
const TAIL = '"}}';

/** The file in the envelope, encoded while it is read: only a few pieces are in memory at a time. */
export async function toBase64Response(file: OpenedFile): Promise<RawResponse> {
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
