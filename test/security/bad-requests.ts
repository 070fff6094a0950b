import fc from "fast-check";
import { z } from "zod";
import { contract } from "../../src/contract.ts";
import { GatewayError } from "../../src/platform/gateway-error.ts";
import { readInput } from "../../src/platform/http/input/read-input.ts";
import type { Contract, Route } from "../../src/platform/http/route.ts";
import { ISSUE_CODES, type IssueReason } from "../../src/platform/issue-codes.ts";
import { fieldValue, type KnownValues } from "./json-values.ts";
import type { Operation } from "./operations.ts";
import { isFullRun } from "./run-size.ts";

/** A text field of an operation. */
export interface TextField {
  operation: string;
  /** Such as `participants[].id`; `{}` stands for the keys of a map. */
  path: string;
  /** Maximum length in characters; undefined without one. */
  max?: number;
  /** Checks that read the text before or despite its length check. */
  early: string[];
}

interface Check {
  _zod: { def: { check: string; maximum?: number; abort?: boolean; format?: string } };
}

// biome-ignore lint/suspicious/noExplicitAny: the definitions of schemas differ by their type
type Definition = any;

/** Every place of an input that accepts text. */
export function textFieldsOf(contract: Contract): TextField[] {
  return Object.entries(contract).flatMap(([operation, { input }]) => {
    const fields: TextField[] = [];
    visit(input, "", new Set(), (path, schema) => fields.push({ operation, path, ...boundsOf(schema) }));
    return fields;
  });
}

function visit(
  schema: z.ZodType,
  path: string,
  above: ReadonlySet<z.ZodType>,
  each: (path: string, schema: z.ZodType) => void,
): void {
  if (above.has(schema)) return;
  if (schema._zod.def.type === "string") each(path, schema);
  const within = new Set([...above, schema]);
  for (const [inside, at] of partsOf(schema)) visit(inside, at(path), within, each);
}

type Part = [schema: z.ZodType, at: (path: string) => string];

const here = (path: string) => path;
const below = (name: string) => (path: string) => (path === "" ? name : `${path}.${name}`);

/** Own validation rules, by their message, without a machine-readable reason. */
export function findRulesWithoutReason(
  schema: z.ZodType,
  above: ReadonlySet<z.ZodType> = new Set(),
): string[] {
  if (above.has(schema)) return [];
  const within = new Set([...above, schema]);
  const def: Definition = schema._zod.def;
  const own: Definition[] = [def, ...(def.checks ?? []).map((check: Check) => check._zod.def)];
  const silent = own.filter(
    ({ check, fn, params }) => check === "custom" && fn && params?.code === undefined,
  );
  const inside = [...partsOf(schema).map(([one]) => one), ...(def.type === "pipe" ? [def.out] : [])];
  return [
    ...silent.map(({ error, fn }) => String(error?.({}) ?? fn)),
    ...inside.flatMap((one) => findRulesWithoutReason(one, within)),
  ];
}

/** The nested schemas; of a pipe, the input side. */
function partsOf(schema: z.ZodType): Part[] {
  const def: Definition = schema._zod.def;
  const { type, shape, element, keyType, valueType, options, getter, innerType } = def;
  if (type === "object") return Object.entries<z.ZodType>(shape).map(([name, one]) => [one, below(name)]);
  if (type === "array") return [[element, (path) => `${path}[]`]];
  if (type === "record")
    return [
      [keyType, (path) => `${path}{}`],
      [valueType, below("*")],
    ];
  if (type === "union") return options.map((one: z.ZodType) => [one, here]);
  const inner = type === "pipe" ? def.in : type === "lazy" ? getter() : innerType;
  return inner ? [[inner, here]] : [];
}

function boundsOf(schema: z.ZodType): Pick<TextField, "max" | "early"> {
  const def: Definition = schema._zod.def;
  const isFormat = schema._zod.traits.has("$ZodCheckStringFormat");
  const checks: Check[] = def.checks ?? [];
  const at = checks.findIndex(({ _zod }) => _zod.def.check === "max_length" && _zod.def.abort === true);
  const before = at < 0 ? checks : checks.slice(0, at);
  const early = before
    .map(({ _zod }) => _zod.def.check)
    .filter((check) => check !== "overwrite" && check !== "min_length");
  return {
    ...(at >= 0 && { max: checks[at]?._zod.def.maximum as number }),
    early: isFormat ? [String(def.format), ...early] : early,
  };
}

type Fields = Record<string, unknown>;

/** A request to one operation, before it is serialized. */
export interface Asked {
  path: Fields;
  query: Fields;
  body?: unknown;
}

/** A valid request except for one field. */
export interface WrongRequest extends Asked {
  field: string;
}

export const routeOf = (operation: Pick<Operation, "id">): Route =>
  (contract as Record<string, Route>)[operation.id] as Route;

/** A valid request with the documented example as body. */
export function wholeRequest({ parameters, examples }: Operation, known: KnownValues): Asked {
  const of = (place: string) =>
    Object.fromEntries(
      parameters
        .filter((one) => one.in === place && one.required)
        .map(({ name }) => [name, known[name]?.[0] ?? 1]),
    );
  return { path: of("path"), query: of("query"), body: examples["application/json"] };
}

export const WRONG_VALUES = [
  [],
  {},
  "x",
  "y".repeat(5_000),
  "",
  -1,
  1e15,
  0.5,
  true,
  false,
  [[]],
  [{}],
  ["x"],
  [5],
  [null],
  { x: 1 },
  { url: 5 },
  { é: "x" },
  { id: [] },
  "2026-99-99",
];

/** One rejected value for each field, or all of them with `WAYGATE_SECURITY=full`. */
export function wrongRequests(operation: Operation, whole: Asked, seed: number): WrongRequest[] {
  const route = routeOf(operation);
  return fieldPaths(route.input).flatMap((path, nth) => {
    const refused = WRONG_VALUES.map((value) => ({
      ...withValue(operation, whole, path, value),
      field: path,
    })).filter((asked) => isSendable(asked) && namesField(refusalOf(route, asked), path));
    return isFullRun ? refused : refused.slice((nth + seed) % refused.length).slice(0, 1);
  });
}

/** Validates without a gateway. */
export function refusalOf(route: Route, { path, query, body = {} }: Asked): GatewayError | undefined {
  try {
    readInput(route, { path, query, body });
    return undefined;
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}

/** Parsed but unchecked. */
export interface Refused extends Partial<IssueReason> {
  field: string;
  issue: string;
}

export const fieldErrorsOf = (refusal: { details?: unknown } | undefined): Refused[] =>
  (refusal?.details as { fields?: Refused[] } | undefined)?.fields ?? [];

/** What a program could not read from a field error. */
export function findReasonProblems({ field, code, params }: Refused): string[] {
  if (code === undefined || code === "invalid" || !Object.hasOwn(ISSUE_CODES, code))
    return [`${field} has the code ${code}`];
  const missing = ISSUE_CODES[code].filter((name) => !Object.hasOwn(params ?? {}, name));
  const isPlain = Object.values(params ?? { absent: null }).every((value) =>
    /^(?:string|number)$/.test(typeof value),
  );
  return isPlain && missing.length === 0 ? [] : [`${field} has ${code} with ${JSON.stringify(params)}`];
}

/** Whether the refusal names the field, a parent or a child. */
export function namesField(refusal: { details?: unknown } | undefined, path: string): boolean {
  const [top = ""] = path.split(".");
  return fieldErrorsOf(refusal).some(({ field }) => field.split(".")[0] === top);
}

/** Puts the value where the operation reads the field. */
function withValue({ parameters, method }: Operation, whole: Asked, path: string, value: unknown): Asked {
  const [name = ""] = path.split(".");
  const place = parameters.find((one) => one.name === name)?.in;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  // A longer path part is rejected before routing.
  if (place === "path") return { ...whole, path: { ...whole.path, [name]: text.slice(0, 100) } };
  if (place === "query" || method === "GET")
    return { ...whole, query: { ...whole.query, ...bodyWith(path, text) } };
  return { ...whole, body: { ...(whole.body as Fields), ...bodyWith(path, value) } };
}

/** Expands `a.b` into nested objects. */
export function bodyWith(path: string, value: unknown): Fields {
  const [name = "", ...rest] = path.split(".");
  return { [name]: rest.length === 0 ? value : bodyWith(rest.join("."), value) };
}

const jsonSchema = (schema: z.ZodType) =>
  z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as Fields;

/** Field paths of an input, nested ones with dots. */
export function fieldPaths(schema: z.ZodType, depth = 3): string[] {
  return pathsOf(jsonSchema(schema), depth);
}

function pathsOf(described: Fields, depth: number): string[] {
  const branches = ["anyOf", "allOf", "oneOf"].flatMap((word) => (described[word] ?? []) as Fields[]);
  const own = Object.entries((described.properties ?? {}) as Record<string, Fields>).flatMap(
    ([name, inner]) => {
      const below = depth === 0 ? [] : pathsOf(inner, depth - 1);
      return [name, ...below.map((rest) => `${name}.${rest}`)];
    },
  );
  return [...new Set([...own, ...branches.flatMap((branch) => pathsOf(branch, depth))])];
}

const encoded = (text: string) => Buffer.from(text).toString("base64url");
const words = (text: string) => text.split("|");

/** Cursors that no page has returned. */
const WRONG_CURSORS = [
  "AA",
  "%00",
  "' or 1=1 --",
  "x".repeat(200),
  "x".repeat(10_000),
  "ÿþ",
  "\u{1f600}",
  ...words("\0|-1|1e400|NaN|Infinity|0x10| 7|7.|1.2.3|9007199254740993|bkp_").map(encoded),
  ...words("9007199254740991.9007199254740991|-9007199254740991.1").map(encoded),
  encoded(`bkp_${"Z".repeat(26)}`),
];

/** Lists with each wrong cursor, or some of them. A list may accept one and return nothing. */
export function cursorRequests({ id, parameters }: Operation, whole: Asked, seed: number): Asked[] {
  if (!parameters.some(({ name }) => name === "cursor")) return [];
  return WRONG_CURSORS.filter((_, nth) => isFullRun || (nth + id.length + seed) % 4 === 0).map((cursor) => ({
    ...whole,
    query: { ...whole.query, cursor },
  }));
}

const MIB = 1_048_576;
/** Repeated to fill a body. */
const UNITS = ["x", "👨\u200d👩\u200d", "e\u0301\u0302\u0303", "\ud83d"];
/** Longer URLs are rejected before they are parsed. */
const LONGEST_ADDRESS = 8_000;

export const TEXT_FIELDS = textFieldsOf(contract);
const DISTINCT = new Map(TEXT_FIELDS.map((field) => [`${field.path} ${field.max}`, field]));

/** The longest permitted text, ten times that, and a full body: one of them for each field, or all. */
export function longTextRequests(operation: Operation, whole: Asked): Asked[] {
  const fields = [...(isFullRun ? TEXT_FIELDS : DISTINCT.values())];
  return fields.flatMap((field, nth) => {
    if (field.operation !== operation.id) return [];
    const all = UNITS.flatMap((unit) => lengthsOf(field, unit).map((length) => textOf(unit, length)));
    const unit = nth % UNITS.length;
    const chosen = unit * 3 + (Math.floor(nth / UNITS.length) % 3);
    return (isFullRun ? all : all.slice(chosen, chosen + 1)).map((text) =>
      withText(operation, whole, field.path, text),
    );
  });
}

function lengthsOf({ operation, max = 0 }: TextField, unit: string): number[] {
  const { access, bodyLimitBytes } = routeOf({ id: operation });
  const limit = (access === "public" ? 65_536 : Math.min(bodyLimitBytes ?? MIB, 2 * MIB)) - 2_048;
  const inUnit = Buffer.byteLength(JSON.stringify(unit)) - 2;
  const most = Math.floor((limit / inUnit) * [...unit].length);
  return [max, 10 * max, most].map((one) => Math.min(one, most));
}

function textOf(unit: string, characters: number): string {
  return unit.repeat(Math.max(1, Math.floor(characters / [...unit].length)));
}

/** Inserts at `a.b[].c`, `a{}` (a key) or `a.*` (its value). */
function withText(operation: Operation, whole: Asked, path: string, text: string): Asked {
  const [name = "", rest = ""] = [/^\w+/.exec(path)?.[0], path.replace(/^\w+/, "")];
  const isInBody = !operation.parameters.some((one) => one.name === name) && operation.method !== "GET";
  const short = text.slice(0, Math.floor(LONGEST_ADDRESS / 12));
  return withValue(operation, whole, name, valueAt(rest, isInBody ? text : short));
}

function valueAt(rest: string, text: string): unknown {
  if (rest === "") return text;
  if (rest.startsWith("[]")) return [valueAt(rest.slice(2), text)];
  if (rest.startsWith("{}")) return { [text]: "a" };
  const [, name = "", below = ""] = /^\.(\w+|\*)(.*)$/.exec(rest) ?? [];
  return { [name === "*" ? "key" : name]: valueAt(below, text) };
}

/** Random values for every field: valid, nearly valid and hostile. */
export function randomRequest({ parameters, body }: Operation, known: KnownValues, seed: number): Asked {
  const of = (place: "path" | "query") =>
    Object.fromEntries(
      parameters
        .filter((one) => one.in === place)
        .map(({ name, schema }) => [name, fieldValue(name, schema, known)]),
    );
  const asked: fc.Arbitrary<Asked> = fc.record({
    path: fc.record(of("path")).filter((path) => isSendable({ path })),
    query: fc.record(of("query"), { requiredKeys: [] }),
    body: body ? fieldValue("", body, known) : fc.constant(undefined),
  });
  return fc.sample(asked, { numRuns: 1, seed })[0] as Asked;
}

/** An empty path part is another operation: `/groups/` lists the groups. */
function isSendable({ path }: Pick<Asked, "path">): boolean {
  return Object.values(path).every((value) => !["", ".", ".."].includes(inUrl(value)));
}

export function addressOf({ method, path: template }: Operation, { path, query }: Asked): string {
  const filled = template.replace(/\{(\w+)\}/g, (_, name: string) => inUrl(path[name]));
  const search = Object.entries(query).map(([name, value]) => `${name}=${inUrl(value)}`);
  return `${method} ${filled}?${search.join("&")}`;
}

/** Lone surrogates cannot be encoded in a URL. */
function inUrl(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return encodeURIComponent(Buffer.from(text ?? "").toString());
}
