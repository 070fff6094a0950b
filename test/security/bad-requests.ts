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

/** A field of an operation that takes text. */
export interface TextField {
  operation: string;
  /** `participants[].id`; `{}` for the keys of a map. */
  path: string;
  /** The longest text that is allowed, in characters; absent: the field has no maximum. */
  max?: number;
  /** What reads the text although its length may have failed, or was not looked at yet. */
  early: string[];
}

interface Check {
  _zod: { def: { check: string; maximum?: number; abort?: boolean; format?: string } };
}

// biome-ignore lint/suspicious/noExplicitAny: the definitions of schemas differ by their type
type Definition = any;

/** Every place of an input where a text may stand. */
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

/** Every rule of our own in an input, by its sentence, that does not say its reason. */
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

/** The schemas inside a schema; of a pipe the one that reads what comes in. */
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

/** A request to one operation, before it is written into an address and a body. */
export interface Asked {
  path: Fields;
  query: Fields;
  body?: unknown;
}

/** A request that is whole but for one field. */
export interface WrongRequest extends Asked {
  field: string;
}

export const routeOf = (operation: Pick<Operation, "id">): Route =>
  (contract as Record<string, Route>)[operation.id] as Route;

/** With the example of the document as its body. */
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

/** For every field of the operation one value that it refuses, or with `WAYGATE_SECURITY=full` each of them. */
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

/** The refusal without a gateway. */
export function refusalOf(route: Route, { path, query, body = {} }: Asked): GatewayError | undefined {
  try {
    readInput(route, { path, query, body });
    return undefined;
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}

/** As it was read: what it holds is to be proved. */
export interface Refused extends Partial<IssueReason> {
  field: string;
  issue: string;
}

export const fieldErrorsOf = (refusal: { details?: unknown } | undefined): Refused[] =>
  (refusal?.details as { fields?: Refused[] } | undefined)?.fields ?? [];

/** What programs could not read of a wrong field; empty: nothing. */
export function findReasonProblems({ field, code, params }: Refused): string[] {
  if (code === undefined || code === "invalid" || !Object.hasOwn(ISSUE_CODES, code))
    return [`${field} has the code ${code}`];
  const missing = ISSUE_CODES[code].filter((name) => !Object.hasOwn(params ?? {}, name));
  const isPlain = Object.values(params ?? { absent: null }).every((value) =>
    /^(?:string|number)$/.test(typeof value),
  );
  return isPlain && missing.length === 0 ? [] : [`${field} has ${code} with ${JSON.stringify(params)}`];
}

/** Whether the refusal names the field or what is around or inside it. */
export function namesField(refusal: { details?: unknown } | undefined, path: string): boolean {
  const [top = ""] = path.split(".");
  return fieldErrorsOf(refusal).some(({ field }) => field.split(".")[0] === top);
}

/** In the place of the request where the operation takes the field. */
function withValue({ parameters, method }: Operation, whole: Asked, path: string, value: unknown): Asked {
  const [name = ""] = path.split(".");
  const place = parameters.find((one) => one.name === name)?.in;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  // A longer part is refused before the operation is known.
  if (place === "path") return { ...whole, path: { ...whole.path, [name]: text.slice(0, 100) } };
  if (place === "query" || method === "GET")
    return { ...whole, query: { ...whole.query, ...bodyWith(path, text) } };
  return { ...whole, body: { ...(whole.body as Fields), ...bodyWith(path, value) } };
}

/** `a.b` as nested objects. */
export function bodyWith(path: string, value: unknown): Fields {
  const [name = "", ...rest] = path.split(".");
  return { [name]: rest.length === 0 ? value : bodyWith(rest.join("."), value) };
}

const jsonSchema = (schema: z.ZodType) =>
  z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as Fields;

/** The fields of an input, those of the objects in it by their dotted paths. */
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

/** Cursors that no page returned. */
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

/** The same list from each of these cursors, or from some of them; a list may take one and have nothing there. */
export function cursorRequests({ id, parameters }: Operation, whole: Asked, seed: number): Asked[] {
  if (!parameters.some(({ name }) => name === "cursor")) return [];
  return WRONG_CURSORS.filter((_, nth) => isFullRun || (nth + id.length + seed) % 4 === 0).map((cursor) => ({
    ...whole,
    query: { ...whole.query, cursor },
  }));
}

const MIB = 1_048_576;
/** A unit fills a body with as many characters as fit. */
const UNITS = ["x", "👨\u200d👩\u200d", "e\u0301\u0302\u0303", "\ud83d"];
/** Longer addresses are refused before they are read. */
const LONGEST_ADDRESS = 8_000;

export const TEXT_FIELDS = textFieldsOf(contract);
const DISTINCT = new Map(TEXT_FIELDS.map((field) => [`${field.path} ${field.max}`, field]));

/** The longest allowed text, ten times that, and as much as a body holds: one of them for each field that differs, or all. */
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

/** At `a.b[].c`, `a{}` (a key) or `a.*` (the value of one). */
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

/** Values that fit, nearly fit and hurt, in every field. */
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

/** Without text in a place of the path, the address is that of another operation: `/groups/` lists the groups. */
function isSendable({ path }: Pick<Asked, "path">): boolean {
  return Object.values(path).every((value) => !["", ".", ".."].includes(inUrl(value)));
}

/** Method and address. */
export function addressOf({ method, path: template }: Operation, { path, query }: Asked): string {
  const filled = template.replace(/\{(\w+)\}/g, (_, name: string) => inUrl(path[name]));
  const search = Object.entries(query).map(([name, value]) => `${name}=${inUrl(value)}`);
  return `${method} ${filled}?${search.join("&")}`;
}

/** Lone surrogates have no bytes in a URL. */
function inUrl(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return encodeURIComponent(Buffer.from(text ?? "").toString());
}
