import { type FilePart, toMultipart } from "./multipart-body.ts";
import type { Operation, OperationField } from "./operation.ts";

/** A request to the gateway. */
export interface GatewayRequest {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below the address of the gateway, with the query. */
  path: string;
  headers: Record<string, string>;
  body?: string | Buffer;
}

export interface RequestInput {
  instanceId: string | number;
  /** The value of a parameter; undefined: it is not set. */
  read(field: OperationField): unknown;
  /** Fields beside those of the parameters, such as `limit` and `cursor`. */
  more?: Readonly<Record<string, unknown>>;
  file?: FilePart;
}

/** Builds the request of an operation. Throws an Error with a sentence for the user. */
export function buildRequest(operation: Operation, input: RequestInput): GatewayRequest {
  const [method = "", pattern = ""] = operation.http.split(" ");
  const fields = collectFields(operation, input);
  const path = pattern.replace(/:(\w+)/g, (_, name: string) => {
    const value = name === "id" ? input.instanceId : fields[name];
    delete fields[name];
    if (value === undefined || value === "") throw new Error(`"${name}" is required.`);
    return encodeURIComponent(String(value));
  });
  const request = { method: method as GatewayRequest["method"], path, headers: {} };
  if (method === "GET" || method === "DELETE") return { ...request, path: `${path}${toQuery(fields)}` };
  if (input.file && operation.upload !== undefined) {
    const { contentType, body } = toMultipart(fields, operation.upload, input.file);
    return { ...request, headers: { "content-type": contentType }, body };
  }
  return { ...request, headers: { "content-type": "application/json" }, body: JSON.stringify(fields) };
}

function collectFields(operation: Operation, { read, more }: RequestInput): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const field of operation.fields) {
    const value = convert(field, read(field));
    if (value !== undefined) setAt(fields, field.path ?? field.name, value);
  }
  return { ...fields, ...more };
}

/** Sets `contact.name`; the paths come from the contract. */
function setAt(fields: Record<string, unknown>, path: string, value: unknown): void {
  const [first = "", second] = path.split(".");
  if (second === undefined) fields[first] = value;
  else fields[first] = { ...(fields[first] as object | undefined), [second]: value };
}

/** The value as the gateway accepts it; expressions return other types than the form. Undefined: leave it out. */
function convert(field: OperationField, value: unknown): unknown {
  if (value === undefined || value === null) return undefined;
  if (field.kind === "list") return toList(value);
  if (field.kind === "json") return toObject(field, value);
  if (value === "" && !field.mayBeEmpty) return undefined;
  if (field.kind === "boolean") return value === "true" ? true : value === "false" ? false : value;
  if (field.kind === "number") return toNumber(value);
  return toText(value);
}

function toNumber(value: unknown): unknown {
  const isNumeric = typeof value === "string" && value.length < 64 && Number.isFinite(Number(value));
  return isNumeric ? Number(value) : value;
}

function toText(value: unknown): unknown {
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  // A time of an expression, such as {{ $now }}, is an object that JSON shows as text.
  return value;
}

function toList(value: unknown): unknown[] | undefined {
  const items = Array.isArray(value)
    ? value
    : String(value)
        .split(/[,\n]/)
        .map((one) => one.trim());
  const present = items.filter((one) => one !== "" && one !== null && one !== undefined);
  return present.length > 0 ? present : undefined;
}

function toObject({ name }: OperationField, value: unknown): unknown {
  if (typeof value !== "string") return value;
  if (value.trim() === "") return undefined;
  const parsed = parseJson(value);
  if (parsed === undefined) throw new Error(`"${name}" is not valid JSON.`);
  return parsed;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function toQuery(fields: Readonly<Record<string, unknown>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined) query.append(name, typeof one === "object" ? toJsonText(one) : String(one));
    }
  }
  const text = query.toString();
  return text === "" ? "" : `?${text}`;
}

/** A time of an expression as its text, without quotes. */
function toJsonText(value: unknown): string {
  const json = JSON.stringify(value) ?? "";
  return json.startsWith('"') ? JSON.parse(json) : json;
}
