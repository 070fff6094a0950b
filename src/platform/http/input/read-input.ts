import type { FastifyRequest } from "fastify";
import type { z } from "zod";
import { findNearestName } from "../../config/find-nearest-name.ts";
import { GatewayError } from "../../gateway-error.ts";
import { cleanJson } from "../../text/clean-text.ts";
import { unsupportedMediaType } from "../body/add-body-parsers.ts";
import { createFormReader, FileBody, FormBody } from "../body/form-body.ts";
import type { UploadSpool } from "../body/upload-spool.ts";
import type { Aliases, InputOf, Route } from "../route.ts";
import { asMeant, isOptional } from "./as-meant.ts";
import { createIssueDescriber } from "./describe-issue.ts";
import { refuseDifferentAddresses } from "./refuse-different-addresses.ts";

const MAX_FIELDS = 50;
/** Longest field name and longest issue in a response. */
const MAX_NAME = 300;
const MAX_ISSUE = 1500;
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

/** The same error, with each field named as the caller sent it, possibly by an alias. */
export function nameFieldsAsSent(refusal: GatewayError, route: Route, sent: Fields): GatewayError {
  const { fields } = refusal.details ?? {};
  if (refusal.code !== "VALIDATION_ERROR" || !Array.isArray(fields)) return refusal;
  const names = fields.map(({ field }) => [String(field), nameAsSent(sent, field, route.aliases)] as const);
  // A sentence may name another wrong field, in backticks.
  const rename = (text: string) =>
    names.reduce((said, [own, alias]) => said.replaceAll(`\`${own}\``, () => `\`${alias}\``), text);
  const named = fields.map(({ issue, ...rest }, at) => ({
    ...rest,
    issue: rename(issue),
    field: names[at]?.[1],
  }));
  const [before = "", after = ""] = names[0] ?? [];
  const isAtStart = refusal.message.startsWith(`${before}: `);
  const sentence = rename(isAtStart ? `${after}${refusal.message.slice(before.length)}` : refusal.message);
  const details = { ...refusal.details, fields: named };
  return new GatewayError(refusal.code, sentence, { details, cause: refusal.cause });
}

/** Without this, a request of another gateway would do something else than there. */
function refuseFields(route: Route, sent: Fields): void {
  const { refuses } = route;
  if (!refuses) return;
  const spellings = spellingsOf(route, sent);
  const asked = new Map<string, string>();
  for (const [name, { issue, isAsked = isOn }] of Object.entries(refuses)) {
    const written = [name, ...(spellings.get(folded(name)) ?? [])];
    // One of them is enough: a body may have thousands of spellings.
    const field = written.find((one) => isAsked(readPath(sent, one)));
    if (field !== undefined) asked.set(field, issue);
  }
  const fields = [...asked].map(([field, issue]) => ({ field, issue }));
  const [first] = fields;
  if (!first) return;
  throw new GatewayError("VALIDATION_ERROR", `${first.field}: ${first.issue}`, { details: { fields } });
}

/** The names of a request's fields by their folded names, without those that the route reads. */
function spellingsOf({ input, aliases = {} }: Route, sent: Fields): ReadonlyMap<string, string[]> {
  const own = new Set([
    ...(isObject(input) ? Object.keys(input.shape) : []),
    ...Object.values(aliases).flat(),
  ]);
  const spellings = new Map<string, string[]>();
  for (const name of Object.keys(sent)) {
    if (name.length > MAX_NAME || own.has(name)) continue;
    const key = folded(name);
    const others = spellings.get(key);
    if (others) others.push(name);
    else spellings.set(key, [name]);
  }
  return spellings;
}

function folded(name: string): string {
  return name.replaceAll(/[_-]/g, "").toLowerCase();
}

const OFF = new Set<unknown>([undefined, null, false, 0, "", "false", "0"]);

function isOn(value: unknown): boolean {
  const isEmpty = typeof value === "object" && value !== null && Object.keys(value).length === 0;
  return !isEmpty && !OFF.has(value);
}

function impliedBy({ implies = {}, aliases = {} }: Route, sent: Fields): Fields {
  const isGiven = (path: string) => isPresent(readPath(sent, path)) && readPath(sent, path) !== "";
  const implied = Object.entries(implies).find(([field]) => isGiven(field))?.[1] ?? {};
  const isSaid = (name: string) => [name, ...(aliases[name] ?? [])].some(isGiven);
  return Object.keys(implied).some(isSaid) ? {} : implied;
}

/**
 * Without this, a misspelt filter would return the whole list, and a field beside a JSON body would do nothing. Pages and
 * calls of other programs may have parameters of their own.
 */
function refuseUnknownQuery(route: Route, query: RequestParts["query"], isForm: boolean): void {
  const { access, aliases = {}, http, input } = route;
  if (access === "public" || !isObject(input)) return;
  const isRead = isForm || /^(GET|DELETE) /.test(http);
  const names = isRead ? namesInQuery(http, input) : [];
  const others = isRead ? Object.values(aliases).flat() : [];
  const known = new Set([...names, ...others].map(firstPart));
  const unknown = Object.keys(query).find((name) => !known.has(firstPart(name)));
  if (unknown === undefined) return;
  const field = unknown.slice(0, MAX_NAME);
  const issue = isRead ? explainUnknown(route, field, names) : NOT_IN_QUERY;
  throw new GatewayError("VALIDATION_ERROR", `${field}: ${issue}`, {
    details: { fields: [{ field, issue }] },
  });
}

const NOT_IN_QUERY = "is not read in the query of this request. Send it in the JSON body.";

function explainUnknown({ beside, raw }: Route, field: string, names: readonly string[]): string {
  const isList = (beside !== undefined && "pagination" in beside.shape) || raw === "text/csv";
  const [one, all] = isList
    ? ["a filter of this list", "Filters"]
    : ["a parameter of this route", "Parameters"];
  const nearest = findNearestName(field, names);
  const advice = nearest === undefined ? "" : ` Did you mean ${nearest}?`;
  return `is not ${one}.${advice}${names.length === 0 ? " It has none." : ` ${all} are ${names.join(", ")}.`}`;
}

/** The fields that the path does not have. */
function namesInQuery(http: string, { shape }: z.ZodObject): string[] {
  const inPath = new Set(http.split(/[/ ]/).flatMap((part) => (part.startsWith(":") ? [part.slice(1)] : [])));
  return Object.keys(shape).filter((name) => !inPath.has(name));
}

function isObject(schema: z.ZodType): schema is z.ZodObject {
  return schema.def.type === "object" && (schema as z.ZodObject).def.catchall === undefined;
}

function firstPart(name: string): string {
  return name.split(/[.[]/, 1)[0] ?? "";
}

function collect(route: Route, { query, body }: RequestParts): Record<string, unknown> {
  if (route.http.startsWith("GET ")) return { ...query };
  const fields = body === undefined ? {} : body;
  if (typeof fields !== "object" || fields === null || Array.isArray(fields)) {
    throw new GatewayError("VALIDATION_ERROR", "The body must be a JSON object.");
  }
  return route.http.startsWith("DELETE ") ? { ...query, ...fields } : { ...fields };
}

/** The error for issues that a schema found: one sentence per field. */
export function invalidInput(issues: readonly z.core.$ZodIssue[], input: unknown): GatewayError {
  const faults = issues
    .slice(0, MAX_FIELDS)
    .flatMap((issue) => flatten(issue))
    .slice(0, MAX_FIELDS)
    .map((fault) => describeFault(fault, input));
  const fields = faults.filter((one, at) => faults.findIndex(({ field }) => field === one.field) === at);
  const [first] = fields;
  const sentence = first?.field
    ? `${first.field}: ${first.issue}`
    : (first?.issue ?? "The request is not valid.");
  return new GatewayError("VALIDATION_ERROR", sentence, { details: { fields } });
}

interface Fault {
  path: PropertyKey[];
  code: string;
  message: string;
}

function describeFault({ path, code, message }: Fault, input: unknown): { field: string; issue: string } {
  const field = path.map(String).join(".");
  // A rule over several fields may name an absent one.
  const isAbsent = code !== "custom" && field !== "" && readPath(input, field) === undefined;
  // The caller chooses the key of a map, which may be as long as the body.
  return { field: field.slice(0, MAX_NAME), issue: isAbsent ? "is required" : message.slice(0, MAX_ISSUE) };
}

/**
 * A union reports only that no branch matched; the branch with the fewest issues in its fields explains why.
 */
function flatten(issue: z.core.$ZodIssue): Fault[] {
  if (issue.code === "invalid_key") return issue.issues.map(({ message }) => ({ ...issue, message }));
  if (issue.code !== "invalid_union") return [issue];
  const branches = issue.errors.filter((branch) => branch.every(({ path }) => path.length > 0));
  const [nearest] = branches.toSorted((a, b) => a.length - b.length);
  if (!nearest || nearest.length === 0) return [issue];
  return nearest.flatMap(flatten).map((fault) => ({ ...fault, path: [...issue.path, ...fault.path] }));
}

/** The `Idempotency-Key` header, with or without the draft's quotes. Throws VALIDATION_ERROR if malformed. */
export function readIdempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  const found = IDEMPOTENCY_KEY.exec(String(header).trim());
  const key = found?.[1] ?? found?.[2];
  if (key !== undefined) return key;
  const issue = "must be 1 to 255 visible ASCII characters";
  throw new GatewayError("VALIDATION_ERROR", `Idempotency-Key: ${issue}`, {
    details: { fields: [{ field: "Idempotency-Key", issue }] },
  });
}

/** Fills each absent or null canonical field from its first given alias; so an empty one that is optional. */
export function resolveAliases(
  fields: Readonly<Record<string, unknown>>,
  aliases: Aliases | undefined,
  input?: z.ZodType,
): Record<string, unknown> {
  const shape: Readonly<Record<string, z.ZodType>> = input && isObject(input) ? input.shape : {};
  let resolved = { ...fields };
  for (const [name, others] of Object.entries(aliases ?? {})) {
    const schema = shape[name];
    const isGiven = (value: unknown) =>
      isPresent(value) && !(value === "" && schema !== undefined && isOptional(schema));
    if (isGiven(readPath(fields, name))) continue;
    const value = others.map((other) => readPath(fields, other)).find(isGiven);
    if (value !== undefined) resolved = withPath(resolved, name.split("."), value);
  }
  return resolved;
}

/** A copy with a value at a path; unchanged if something else than an object is on the way. */
function withPath(fields: unknown, [name = "", ...rest]: string[], value: unknown): Record<string, unknown> {
  if (typeof fields !== "object" || fields === null || Array.isArray(fields)) return fields as never;
  const inner = (fields as Record<string, unknown>)[name] ?? {};
  return { ...fields, [name]: rest.length === 0 ? value : withPath(inner, rest, value) };
}

/** The name that the request used for an input field (a dotted path): its own name, or an alias. */
function nameAsSent(
  fields: Readonly<Record<string, unknown>>,
  path: string,
  aliases: Aliases | undefined,
): string {
  const [name = "", ...rest] = path.split(".");
  if (isPresent(readPath(fields, name))) return path;
  const alias = aliases?.[name]?.find((other) => isPresent(readPath(fields, other)));
  return alias === undefined ? path : [alias, ...rest].join(".");
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** The value at a dotted path, own properties only. */
export function readPath(value: unknown, path: string): unknown {
  let found = value;
  for (const name of path.split(".")) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, name)) return undefined;
    found = (found as Record<string, unknown>)[name];
  }
  return found;
}
