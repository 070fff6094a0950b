import type { FileUpload } from "./request-body.ts";
import { WaygateError } from "./waygate-error.ts";

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

/** What a client needs to know about a route to call it. */
export interface ClientRoute {
  /** Method and path: `POST /api/v1/instances/:id/send-text`. */
  readonly http: string;
  /** The kind of credential that the route accepts. */
  readonly access: string;
  /** The field for the file of a form. */
  readonly upload?: string;
  /** Content type of a response that is not JSON. */
  readonly raw?: string;
  /** Every successful response is a file, also one of the type JSON. */
  readonly isAlwaysRaw?: boolean;
  /** The response may exceed memory: it is returned as a stream. */
  readonly streamed?: boolean;
  /** Statuses other than 200 with the same body. */
  readonly statuses?: readonly number[];
}

type Method = (input?: Record<string, unknown>, callOptions?: CallOptions) => Promise<unknown>;

/** One method per route. It throws WaygateError for errors of the gateway, and retries nothing. */
export function createMethods(
  routes: Readonly<Record<string, ClientRoute>>,
  options: ClientOptions,
): Record<string, Method> {
  const methods = Object.entries(routes).map(([name, route]): [string, Method] => [
    name,
    (input = {}, callOptions = {}) => sendRequest(route, input, callOptions, options),
  ]);
  return Object.fromEntries(methods);
}

async function sendRequest(
  route: ClientRoute,
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

function addressOf({ http }: ClientRoute, input: Record<string, unknown>) {
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
function toBody({ upload = "" }: ClientRoute, fields: Record<string, unknown>): string | FormData {
  const file = fields[upload] as FileUpload | string | null | undefined;
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
  { access }: ClientRoute,
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

async function readResponse(route: ClientRoute, response: Response) {
  const type = response.headers.get("content-type") ?? "";
  const isOk = response.ok || route.statuses?.includes(response.status);
  if (isOk && route.streamed) return { type, stream: response.body, json: () => response.json() };
  const isJson = /^application\/(\w+\+)?json\b/.test(type);
  // A downloaded file may itself be JSON, but only files have a Content-Disposition header.
  const isFile = route.raw !== undefined && (!isJson || response.headers.has("content-disposition"));
  if (isOk && (route.isAlwaysRaw || isFile)) {
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
