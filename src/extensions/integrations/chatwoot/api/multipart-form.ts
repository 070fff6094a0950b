import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";

/** A file to be sent in a form. */
export interface FormFile {
  file_name: string;
  mime_type: string;
  size: number;
  read(): Promise<Readable>;
}

const CRLF = "\r\n";

/** A multipart/form-data body that is streamed; its length is known before. */
export async function createMultipartForm(fields: Record<string, string>, field: string, file: FormFile) {
  const boundary = `waygate-${randomBytes(12).toString("hex")}`;
  const texts = Object.entries(fields).map(
    ([name, value]) =>
      `--${boundary}${CRLF}Content-Disposition: form-data; name="${name}"${CRLF}${CRLF}${value}${CRLF}`,
  );
  const disposition = `Content-Disposition: form-data; name="${field}"; filename="${quoted(file.file_name)}"`;
  const type = `Content-Type: ${file.mime_type}`;
  const head = Buffer.from(`${texts.join("")}--${boundary}${CRLF}${disposition}${CRLF}${type}${CRLF}${CRLF}`);
  const tail = Buffer.from(`${CRLF}--${boundary}--${CRLF}`);
  return {
    headers: {
      "content-type": `multipart/form-data; boundary=${boundary}`,
      "content-length": String(head.length + file.size + tail.length),
    },
    body: Readable.from(pieces(head, await file.read(), tail), { objectMode: false }),
  };
}

async function* pieces(head: Buffer, file: Readable, tail: Buffer): AsyncGenerator<Buffer> {
  yield head;
  for await (const piece of file) yield piece as Buffer;
  yield tail;
}

function quoted(name: string): string {
  return name.replace(/["\r\n\\]/g, "_");
}
