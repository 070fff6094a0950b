import type { FastifyRequest } from "fastify";
import { GatewayError, invalidField } from "../../gateway-error.ts";
import { cleanJson } from "../../text/clean-text.ts";
import { unsupportedMediaType } from "../body/add-body-parsers.ts";
import { createFormReader, FileBody, FormBody } from "../body/form-body.ts";
import type { UploadSpool } from "../body/upload-spool.ts";
import type { InputOf, Route } from "../route.ts";
import { asMeant } from "./as-meant.ts";
import { createIssueDescriber } from "./describe-issue.ts";
import { invalidInput } from "./invalid-input.ts";
import { isPresent, readPath } from "./read-path.ts";
import { refuseDifferentAddresses } from "./refuse-different-addresses.ts";
import { refuseFields } from "./refuse-fields.ts";
import { refuseUnknownQuery } from "./refuse-unknown-query.ts";
import { nameFieldsAsSent, resolveAliases } from "./resolve-aliases.ts";

const IDEMPOTENCY_KEY = /^(?:"([\x21-\x7e]{1,255})"|([\x21-\x7e]{1,255}))$/;

type Fields = Readonly<Record<string, unknown>>;

export interface RequestParts {
  path: Fields;
  query: Fields;
  body: unknown;
}

type InputReader<R extends Route> = (request: FastifyRequest, spool: UploadSpool) => Promise<InputOf<R>>;

/**
 * Reads a route's input. The query says what a file or a form leaves out. Throws VALIDATION_ERROR, or
 * UNSUPPORTED_MEDIA_TYPE for an unwanted form.
 */
export function createInputReader<R extends Route>(route: R): InputReader<R> {
  const { upload, uploadTypes = [], spooled } = route;
  const readForm = upload === undefined ? undefined : createFormReader(route);
  return async ({ params, query, body, routeOptions }, spool) => {
    const parts = { path: params as Fields, query: query as Fields, body };
    if (body instanceof FileBody) {
      if (upload === undefined || !uploadTypes.some((type) => type === body.mime_type))
        throw unsupportedMediaType();
      return readInput(route, { ...parts, body: { ...parts.query, [upload]: body } }, readForm);
    }
    if (!(body instanceof FormBody)) return readInput(route, parts);
    if (upload === undefined) throw unsupportedMediaType();
    const fields = await body.read({ upload, limitBytes: routeOptions.bodyLimit, ...(spooled && { spool }) });
    return readInput(route, { ...parts, body: { ...parts.query, ...fields } }, readForm);
  };
}

/**
 * Merges path, query and body into the route's input. `convert` is for a form or a file, beside which the query counts; it
 * runs after the aliases and before validation.
 * Throws VALIDATION_ERROR with the invalid fields, under the names that the caller used.
 */
export function readInput<R extends Route>(
  route: R,
  parts: RequestParts,
  convert?: (fields: Record<string, unknown>) => Record<string, unknown>,
): InputOf<R> {
  const sent = cleanJson(collect(route, parts));
  refuseUnknownQuery(route, parts.query, convert !== undefined);
  refuseFields(route, sent);
  refuseDifferentAddresses(route, (path) => readPath(sent, path));
  const resolved = resolveAliases({ ...sent, ...impliedBy(route, sent) }, route.aliases, route.input);
  const converted = convert ? convert(resolved) : resolved;
  // The router's object of the path is an instance of a class, which cleanJson would leave as it is.
  const [method = ""] = route.http.split(" ", 1);
  const input = asMeant(route.input, { ...converted, ...cleanJson({ ...parts.path }) }, method);
  const parsed = route.input.safeParse(input, { error: createIssueDescriber() });
  if (parsed.success) return parsed.data as InputOf<R>;
  throw nameFieldsAsSent(invalidInput(parsed.error.issues, input), route, sent);
}

/** The fields of a request as sent, without the path's. */
export function sentFields(route: Route, { query, body }: Omit<RequestParts, "path">): Fields {
  const fields = typeof body === "object" && body !== null && !Array.isArray(body) ? body : {};
  return route.http.startsWith("GET ") ? { ...query } : { ...query, ...fields };
}

function impliedBy({ implies = {}, aliases = {} }: Route, sent: Fields): Fields {
  const isGiven = (path: string) => isPresent(readPath(sent, path)) && readPath(sent, path) !== "";
  const implied = Object.entries(implies).find(([field]) => isGiven(field))?.[1] ?? {};
  const isSaid = (name: string) => [name, ...(aliases[name] ?? [])].some(isGiven);
  return Object.keys(implied).some(isSaid) ? {} : implied;
}

function collect(route: Route, { query, body }: RequestParts): Record<string, unknown> {
  if (route.http.startsWith("GET ")) return { ...query };
  const fields = body === undefined ? {} : body;
  if (typeof fields !== "object" || fields === null || Array.isArray(fields)) {
    throw new GatewayError("VALIDATION_ERROR", "The body must be a JSON object.");
  }
  return route.http.startsWith("DELETE ") ? { ...query, ...fields } : { ...fields };
}

/** The `Idempotency-Key` header, with or without the draft's quotes. Throws VALIDATION_ERROR if malformed. */
export function readIdempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  const found = IDEMPOTENCY_KEY.exec(String(header).trim());
  const key = found?.[1] ?? found?.[2];
  if (key !== undefined) return key;
  throw invalidField("Idempotency-Key", "must be 1 to 255 visible ASCII characters", "wrong_format", {
    max: 255,
  });
}
