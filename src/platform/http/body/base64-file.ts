import { GatewayError, invalidField } from "../../gateway-error.ts";

export interface Base64File {
  /** As declared in the data URI; not verified. */
  mime_type?: string;
  /** Decoded in pieces, because the text itself is already large. Can be read once. */
  pieces: Iterable<Buffer>;
}

/** A data URI declares its type within this many characters. */
const HEADER_CHARACTERS = 512;
/** Four characters encode three bytes. */
const PIECE_CHARACTERS = 4 * 65_536;

/** Reads a data URI or bare base64. Throws VALIDATION_ERROR for a text that is neither, PAYLOAD_TOO_LARGE. */
export function readBase64File(field: string, text: string, maxBytes: number): Base64File {
  const [header, type, parameters] =
    /^data:([^;,]*)((?:;[^;,]*)*),/.exec(text.slice(0, HEADER_CHARACTERS)) ?? [];
  if (header === undefined) return { pieces: decode(field, text, maxBytes) };
  if (!parameters?.split(";").includes("base64")) throw invalidField(field, "is a data URI without base64");
  return { mime_type: type, pieces: decode(field, text.slice(header.length), maxBytes) };
}

function decode(field: string, text: string, maxBytes: number): Iterable<Buffer> {
  const encoded = /\s/.test(text) ? text.replace(/\s/g, "") : text;
  const padding = encoded.endsWith("==") ? 2 : encoded.endsWith("=") ? 1 : 0;
  const dataLength = encoded.length - padding;
  if (Math.floor((dataLength * 3) / 4) > maxBytes) throw fileTooLarge(maxBytes);
  if (/[^A-Za-z0-9+/_-]/.test(encoded.slice(0, dataLength)) || dataLength % 4 === 1)
    throw invalidField(field, "is not base64");
  return pieces(encoded);
}

function* pieces(encoded: string): Generator<Buffer> {
  for (let at = 0; at < encoded.length; at += PIECE_CHARACTERS)
    yield Buffer.from(encoded.slice(at, at + PIECE_CHARACTERS), "base64");
}

export function fileTooLarge(maxBytes: number): GatewayError {
  return new GatewayError(
    "PAYLOAD_TOO_LARGE",
    `The file is larger than ${Math.floor(maxBytes / 1_048_576)} MiB.`,
    {
      details: { max_bytes: maxBytes },
    },
  );
}
