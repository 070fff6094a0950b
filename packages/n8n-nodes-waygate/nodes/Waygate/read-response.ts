/** A response as n8n passes it on. */
export interface HttpResponse {
  statusCode: number;
  headers: Readonly<Record<string, unknown>>;
  body: unknown;
}

/** What a successful response has. */
export type GatewayResponse =
  | { kind: "json"; data: unknown; nextCursor: string | undefined }
  | { kind: "file"; bytes: Buffer; mimeType: string; fileName: string | undefined };

/** The gateway has refused the request, or something else has answered. */
export class GatewayRefusal extends Error {
  override readonly name = "GatewayRefusal";
  readonly statusCode: number;
  /** Of the gateway; empty if something else has answered. */
  readonly code: string;
  /** The code of the gateway and its details, for people. */
  readonly description: string;

  constructor(message: string, statusCode: number, code: string, description: string) {
    super(message);
    this.statusCode = statusCode;
    this.code = code;
    this.description = description;
  }
}

const NOT_A_GATEWAY = "Check the base URL of the credential: the response is not from a Waygate gateway.";

/** Reads a response of the gateway. Throws GatewayRefusal for an error. */
export function readResponse({ statusCode, headers, body }: HttpResponse): GatewayResponse {
  const bytes = toBuffer(body);
  const type = textOf(headers["content-type"]);
  const isOk = statusCode >= 200 && statusCode < 300;
  const isJson = /^application\/json\b/i.test(type);
  const disposition = textOf(headers["content-disposition"]);
  // A downloaded file may itself be JSON, but only files have a Content-Disposition header.
  if (isOk && type !== "" && (!isJson || disposition !== "") && !/^text\/html\b/i.test(type)) {
    return { kind: "file", bytes, mimeType: type, fileName: fileNameOf(disposition) };
  }
  const envelope = isJson ? parseObject(bytes) : undefined;
  if (isOk && envelope?.success === true) {
    return { kind: "json", data: envelope.data, nextCursor: nextCursorOf(envelope.pagination) };
  }
  throw toRefusal(statusCode, headers, envelope);
}

function toRefusal(
  statusCode: number,
  headers: HttpResponse["headers"],
  envelope: Readonly<Record<string, unknown>> | undefined,
): GatewayRefusal {
  const message = textOf(envelope?.message);
  if (message === "") {
    return new GatewayRefusal(`The response has the status ${statusCode}.`, statusCode, "", NOT_A_GATEWAY);
  }
  const retryAfter = textOf(headers["retry-after"]);
  const code = textOf(envelope?.code);
  const about = [
    code,
    retryAfter === "" ? "" : `Try again after ${retryAfter} s.`,
    envelope?.details === undefined ? "" : JSON.stringify(envelope.details),
    textOf(envelope?.request_id),
  ];
  return new GatewayRefusal(message, statusCode, code, about.filter((one) => one !== "").join(" · "));
}

function nextCursorOf(pagination: unknown): string | undefined {
  const { has_more, next_cursor } = (pagination ?? {}) as { has_more?: unknown; next_cursor?: unknown };
  return has_more === true && typeof next_cursor === "string" ? next_cursor : undefined;
}

function parseObject(bytes: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8"));
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function toBuffer(body: unknown): Buffer {
  if (Buffer.isBuffer(body)) return body;
  if (body instanceof ArrayBuffer) return Buffer.from(body);
  return Buffer.from(typeof body === "string" ? body : (JSON.stringify(body) ?? ""));
}

function textOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

/** The longest name that is read. */
const MAX_DISPOSITION_LENGTH = 4096;

function fileNameOf(disposition: string): string | undefined {
  if (disposition.length > MAX_DISPOSITION_LENGTH) return undefined;
  const [, encoded] = /;\s*filename\*=UTF-8''([^;\s]+)/i.exec(disposition) ?? [];
  const [, quoted] = /;\s*filename="((?:[^"\\]|\\.)*)"/i.exec(disposition) ?? [];
  const [, plain] = /;\s*filename=([^;"\s]+)/i.exec(disposition) ?? [];
  return decode(encoded) ?? quoted?.replaceAll(/\\(.)/g, "$1") ?? plain;
}

function decode(text: string | undefined): string | undefined {
  try {
    return text === undefined ? undefined : decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
