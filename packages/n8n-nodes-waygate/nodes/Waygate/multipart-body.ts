import { createHash } from "node:crypto";

/** A file to send. */
export interface FilePart {
  bytes: Buffer;
  fileName?: string;
  mimeType?: string;
}

/** A form with a file. Its boundary follows from its content, so that a repeated request has the same body. */
export function toMultipart(
  fields: Readonly<Record<string, unknown>>,
  fileField: string,
  file: FilePart,
): { contentType: string; body: Buffer } {
  const parts = Object.entries(fields).map(
    ([name, value]) => [`name="${name}"`, "", toFormText(value)] as const,
  );
  const { bytes, fileName = "file", mimeType = "application/octet-stream" } = file;
  const digest = createHash("sha256").update(bytes).update(JSON.stringify(parts));
  const boundary = `waygate-${digest.digest("hex").slice(0, 40)}`;
  const head = (about: string, type: string) =>
    `--${boundary}\r\nContent-Disposition: form-data; ${about}\r\n${type}\r\n`;
  const texts = parts.map(([about, type, text]) => `${head(about, type)}${text}\r\n`);
  const about = `name="${fileField}"; filename="${inQuotes(fileName)}"`;
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    body: Buffer.concat([
      Buffer.from(texts.join("")),
      Buffer.from(head(about, `Content-Type: ${oneLine(mimeType)}\r\n`)),
      bytes,
      Buffer.from(`\r\n--${boundary}--\r\n`),
    ]),
  };
}

function toFormText(value: unknown): string {
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** As browsers write file names in forms. */
function inQuotes(name: string): string {
  return name.replaceAll('"', "%22").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function oneLine(text: string): string {
  return text.replaceAll(/[\r\n]/g, " ");
}
