import type { z } from "zod";
import { contract } from "../contract.ts";
import type { Contract, Route, UploadedFile } from "../platform/http/route.ts";

export {
  type VerifyWebhookOptions,
  verifyWebhook,
  type WebhookEvent,
  type WebhookMessage,
  type WebhookRequest,
  WebhookVerificationError,
} from "./verify-webhook.ts";

export interface ClientOptions {
  /** URL of the gateway, such as `http://127.0.0.1:3000`. */
  baseUrl: string;
  /** API key of an instance, for its routes. */
  apiKey?: string;
  /** JWT of a sign-in, for the routes of the account. */
  token?: string;
  /** `WAYGATE_ADMIN_TOKEN`, for the operator's routes. */
  adminToken?: string;
  fetch?: typeof globalThis.fetch;
}

export interface CallOptions {
  idempotencyKey?: string;
  signal?: AbortSignal;
  headers?: Record<string, string>;
}

/** A response without the envelope. */
export interface RawBody {
  type: string;
  bytes: Uint8Array;
}

/** A response of any length, read as it arrives. */
export interface StreamBody {
  type: string;
  stream: ReadableStream<Uint8Array>;
}

/** A JSON document of any length: read `stream`, or all of it into memory with `json()`. */
export interface JsonStream<Document> extends StreamBody {
  json(): Promise<Document>;
}

type Shape = { readonly output: z.ZodType; readonly beside?: z.ZodObject };
type Data<S extends Shape> = z.output<S["output"]>;
type ExtraFields<S extends Shape> = S extends { readonly beside: infer B extends z.ZodType }
  ? z.output<B>
  : unknown;
type Envelope<S extends Shape> = { success: true; message: string; data: Data<S> } & ExtraFields<S>;
type Absent<Names extends PropertyKey> = { [Name in Names]?: undefined };

/**
 * The fields that only the other response has, so that code can read both before it knows which one arrived.
 */
type Without<Other, Own> = Absent<Exclude<keyof Other, keyof Own>>;
type EnvelopeBut<S extends Shape, Other extends Shape> = Envelope<S> & {
  data: Without<Data<Other>, Data<S>>;
} & Without<ExtraFields<Other>, ExtraFields<S>>;

type JsonResponse<R extends Route> = R extends { readonly bare: true }
  ? Data<R>
  : R extends { readonly accepted: infer Later extends Shape }
    ? EnvelopeBut<R, Later> | EnvelopeBut<Later, R>
    : Envelope<R>;
type StreamOf<R extends Route> = R extends { readonly bare: true } ? JsonStream<Data<R>> : StreamBody;

/** The whole response body of a route. Of two possible kinds of body, the other kind's fields are undefined. */
export type AnswerOf<R extends Route> = R extends { readonly streamed: true }
  ? StreamOf<R>
  : R extends { readonly raw: string }
    ? R["output"] extends z.ZodNever
      ? RawBody
      : (JsonResponse<R> & Absent<"type" | "bytes">) | (RawBody & Absent<"success" | "message" | "data">)
    : JsonResponse<R>;

type Input<R extends Route> = z.input<R["input"]>;

/** One method per route of the contract. */
export type ClientOf<C extends Contract> = {
  readonly [Name in keyof C]: Record<never, never> extends Input<C[Name]>
    ? (input?: Input<C[Name]>, options?: CallOptions) => Promise<AnswerOf<C[Name]>>
    : (input: Input<C[Name]>, options?: CallOptions) => Promise<AnswerOf<C[Name]>>;
};

export type Client = ClientOf<typeof contract>;

/** An error of the gateway, or a response that is not from it (`code` is then `HTTP_<status>`). */
export class WaygateError extends Error {
  override readonly name = "WaygateError";
  readonly code: string;
  readonly status: number;
  readonly details: Record<string, unknown> | undefined;
  readonly request_id: string | undefined;
  /** Seconds to wait before a retry. */
  readonly retryAfterSeconds: number | undefined;
  /** The response body as received. */
  readonly body: unknown;

  constructor(status: number, headers: Headers, body: unknown) {
    const { code, message, details } = (
      typeof body === "object" && body !== null ? body : {}
    ) as Partial<WaygateError>;
    super(message ?? `The gateway responded with status ${status}.`);
    this.code = code ?? `HTTP_${status}`;
    this.status = status;
    this.details = details;
    this.request_id = headers.get("x-request-id") ?? undefined;
    const seconds = Number(headers.get("retry-after") ?? Number.NaN);
    this.retryAfterSeconds = Number.isFinite(seconds) ? seconds : undefined;
    this.body = body;
  }
}

/** A typed client of the gateway, for Node and browsers. Throws WaygateError for errors of the gateway. */
export function createClient(options: ClientOptions): Client {
  return createClientOf(contract, options);
}

/** A client of any contract. */
export function createClientOf<C extends Contract>(routes: C, options: ClientOptions): ClientOf<C> {
  const methods = Object.entries(routes).map(([name, route]) => [
    name,
    (input: Record<string, unknown> = {}, callOptions: CallOptions = {}) =>
      sendRequest(route, input, callOptions, options),
  ]);
  return Object.fromEntries(methods) as ClientOf<C>;
}

async function sendRequest(
  route: Route,
  input: Record<string, unknown>,
  callOptions: CallOptions,
  options: ClientOptions,
) {
  const { method, path, rest } = addressOf(route, input);
  const hasBody = method === "POST" || method === "PUT" || method === "PATCH";
  const url = `${options.baseUrl.replace(/(?<!\/)\/+$/, "")}${path}${hasBody ? "" : toQuery(rest)}`;
  const headers = new Headers(credentialOf(route, options));
  const body = hasBody ? toBody(route, rest) : null;
  if (typeof body === "string") headers.set("content-type", "application/json");
  if (callOptions.idempotencyKey !== undefined) headers.set("idempotency-key", callOptions.idempotencyKey);
  for (const [name, value] of Object.entries(callOptions.headers ?? {})) headers.set(name, value);
  const send = options.fetch ?? globalThis.fetch;
  const response = await send(url, {
    method,
    headers,
    body,
    signal: callOptions.signal ?? null,
  });
  return readResponse(route, response);
}

function addressOf({ http }: Route, input: Record<string, unknown>) {
  const [method = "", pattern = ""] = http.split(" ");
  const rest = { ...input };
  const path = pattern.replace(/:(\w+)/g, (_, name: string) => {
    const value = rest[name];
    delete rest[name];
    if (value === undefined || value === null || value === "")
      throw new TypeError(`${http} needs "${name}".`);
    return encodeURIComponent(String(value));
  });
  return { method, path, rest };
}

/** JSON, or a form if it includes a file. */
function toBody({ upload = "" }: Route, fields: Record<string, unknown>): string | FormData {
  const file = fields[upload] as UploadedFile | string | null | undefined;
  if (typeof file !== "object" || file === null) return JSON.stringify(fields);
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    if (name === upload || value === undefined || value === null) continue;
    form.append(name, typeof value === "object" ? JSON.stringify(value) : String(value));
  }
  form.append(
    upload,
    new Blob([Uint8Array.from(file.bytes)], { type: file.mime_type ?? "" }),
    file.file_name ?? "file",
  );
  return form;
}

function toQuery(fields: Record<string, unknown>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item !== undefined && item !== null)
        query.append(name, item instanceof Date ? item.toISOString() : String(item));
    }
  }
  return query.size === 0 ? "" : `?${query}`;
}

/** One credential per request, because the gateway rejects two different ones. */
function credentialOf(
  { access }: Route,
  { apiKey, token, adminToken }: ClientOptions,
): Record<string, string> {
  const key = apiKey === undefined ? undefined : { "x-api-key": apiKey };
  const jwt = token === undefined ? undefined : { authorization: `Bearer ${token}` };
  const admin = adminToken === undefined ? undefined : { admintoken: adminToken };
  if (access === "instance" || access === "key") return key ?? jwt ?? {};
  if (access === "key_or_admin") return key ?? admin ?? jwt ?? {};
  if (access === "account") return jwt ?? {};
  if (access === "owner" || access === "manager") return jwt ?? admin ?? {};
  return admin ?? {};
}

async function readResponse(route: Route, response: Response) {
  const type = response.headers.get("content-type") ?? "";
  const isOk = response.ok || route.statuses?.includes(response.status);
  if (isOk && route.streamed) return { type, stream: response.body, json: () => response.json() };
  const isJson = /^application\/(\w+\+)?json\b/.test(type);
  const isAlwaysRaw = route.raw !== undefined && route.output.def.type === "never";
  // A downloaded file may itself be JSON, but only files have a Content-Disposition header.
  const isFile = route.raw !== undefined && (!isJson || response.headers.has("content-disposition"));
  if (isOk && (isAlwaysRaw || isFile)) {
    return { type, bytes: new Uint8Array(await response.arrayBuffer()) };
  }
  const text = await response.text();
  const body = isJson ? parseJson(text) : text;
  if (!isOk || !isJson) throw new WaygateError(response.status, response.headers, body);
  return body;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
