import type { z } from "zod";

type Schema = z.core.$ZodType;

interface Parts {
  type: string;
  innerType?: Schema;
  in?: Schema;
  out?: Schema;
  element?: Schema;
  valueType?: Schema;
  options?: readonly Schema[];
  shape?: Readonly<Record<string, Schema>>;
  entries?: Readonly<Record<string, unknown>>;
  values?: readonly unknown[];
}

/** What a schema accepts in place of an object or a list. */
interface Kinds {
  text: boolean;
  number: boolean;
  flag: boolean;
  /** The values of enumerations, by their folded names; two that fold alike have no entry. */
  names: ReadonlyMap<string, string>;
  /** It may accept anything, so a value stays as it is. */
  anything: boolean;
}

const NUMBER = /^[+-]?\d+(\.\d+)?$/;
const FLAG = /^(true|false)$/i;
/** Longest text that is read as a number or a name. */
const MAX_READ = 64;

const partsOf = (schema: Schema) => schema._zod.def as unknown as Parts;

/**
 * Reads what a schema would refuse, if it can mean only one thing. In an optional field null and "" are absent, unless
 * the schema gives them a meaning. Among the filters of a GET "" is always absent. In a PATCH or PUT it could also mean
 * to clear a text or a field that null clears, so it stays. A number stands for a text, a text for a number or a flag, and a name may differ in
 * case, blanks and dashes. Entries of lists stay. Takes time in proportion to the value.
 */
export function asMeant(schema: Schema, value: unknown, method: string): unknown {
  if (typeof value !== "object" || value === null) return readScalar(schema, value);
  const { shape, element, valueType } = partsOf(insideOf(schema, Array.isArray(value)));
  if (Array.isArray(value)) {
    return element ? value.map((entry) => asMeant(element, entry, method)) : value;
  }
  if (!shape && !valueType) return value;
  return readFields(Object.entries(value), method, (name) =>
    shape ? (Object.hasOwn(shape, name) ? shape[name] : undefined) : valueType,
  );
}

function readFields(
  fields: [string, unknown][],
  method: string,
  schemaOf: (name: string) => Schema | undefined,
): unknown {
  const present: [string, unknown][] = [];
  for (const [name, value] of fields) {
    const schema = schemaOf(name);
    if (schema === undefined) present.push([name, value]);
    else if (!isAbsent(schema, value, method)) present.push([name, asMeant(schema, value, method)]);
  }
  return Object.fromEntries(present);
}

function isAbsent(schema: Schema, value: unknown, method: string): boolean {
  if (value === null) return !allowsNull(schema);
  if (value !== "" || !isOptional(schema)) return false;
  if (method === "GET") return true;
  const mayClear = allowsNull(schema) || kindsOf(schema).text;
  if ((method === "PATCH" || method === "PUT") && mayClear) return false;
  return !allowsEmpty(schema);
}

/** Whether a request may omit the field. */
export function isOptional(schema: Schema): boolean {
  return schema._zod.optin !== undefined;
}

function readScalar(schema: Schema, value: unknown): unknown {
  const { text, number, flag, names, anything } = kindsOf(schema);
  if (anything) return value;
  if (typeof value === "number") return text && !number ? writtenOut(value) : value;
  if (typeof value !== "string" || text || value.length > MAX_READ) return value;
  const written = value.trim();
  if (number && NUMBER.test(written)) return Number(written);
  if (flag && FLAG.test(written)) return written.toLowerCase() === "true";
  return names.get(folded(written)) ?? value;
}

/** The digits of a number; unchanged if it has lost some, or has no plain notation. */
function writtenOut(value: number): unknown {
  const written = String(value);
  const isExact = Number.isInteger(value) ? Number.isSafeInteger(value) : NUMBER.test(written);
  return isExact ? written : value;
}

function folded(name: string): string {
  return name.toLowerCase().replaceAll(/[\s-]/g, "_");
}

const kinds = new WeakMap<Schema, Kinds>();

function kindsOf(schema: Schema): Kinds {
  const known = kinds.get(schema);
  if (known) return known;
  const leaves = leavesOf(schema).map(partsOf);
  const types = new Set(leaves.map(({ type }) => type));
  const found = {
    text: types.has("string"),
    number: types.has("number"),
    flag: types.has("boolean"),
    names: byFoldedName(
      leaves.flatMap(({ entries = {}, values = [] }) => [...Object.values(entries), ...values]),
    ),
    anything: [...types].some((type) => !READ_TYPES.has(type)),
  };
  kinds.set(schema, found);
  return found;
}

const READ_TYPES = new Set([
  "string",
  "number",
  "boolean",
  "enum",
  "literal",
  "null",
  "array",
  "object",
  "record",
]);

/** The schemas of a union and inside wrappers. */
function leavesOf(schema: Schema): Schema[] {
  const { innerType, in: before, options } = partsOf(schema);
  if (innerType) return leavesOf(innerType);
  if (before) return leavesOf(before);
  return options ? options.flatMap(leavesOf) : [schema];
}

function byFoldedName(values: readonly unknown[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  const twice = new Set<string>();
  for (const name of values.filter((value) => typeof value === "string")) {
    const key = folded(name);
    if (names.has(key) && names.get(key) !== name) twice.add(key);
    names.set(key, name);
  }
  for (const key of twice) names.delete(key);
  return names;
}

/** The object or list schema inside its wrappers. */
function insideOf(schema: Schema, isList: boolean): Schema {
  const { innerType, in: before, out: after, options } = partsOf(schema);
  if (innerType) return insideOf(innerType, isList);
  if (before && after) return insideOf(partsOf(before).type === "transform" ? after : before, isList);
  if (!options) return schema;
  const fitting = options
    .map((option) => insideOf(option, isList))
    .filter((option) => (isList ? partsOf(option).type === "array" : isMap(option)));
  return fitting.length === 1 && fitting[0] ? fitting[0] : schema;
}

function isMap(schema: Schema): boolean {
  return ["object", "record"].includes(partsOf(schema).type);
}

/** Whether the schema gives null a meaning. Coercion does not count: it would turn null into 0 or "null". */
function allowsNull(schema: Schema): boolean {
  const { type, innerType, in: before, options } = partsOf(schema);
  if (["null", "nullable", "any", "unknown"].includes(type)) return true;
  if (innerType) return allowsNull(innerType);
  if (before) return allowsNull(before);
  if (options) return options.some(allowsNull);
  return ["custom", "literal", "transform"].includes(type) && accepts(schema, null);
}

const emptyTexts = new WeakMap<Schema, boolean>();

/** Whether the schema accepts an empty text. Coercion to a number does not count: it would turn it into 0. */
function allowsEmpty(schema: Schema): boolean {
  const known = emptyTexts.get(schema);
  if (known !== undefined) return known;
  const { text, anything, names } = kindsOf(schema);
  const allows = (text || anything || names.has("")) && accepts(schema, "");
  emptyTexts.set(schema, allows);
  return allows;
}

function accepts(schema: Schema, value: unknown): boolean {
  return (schema as z.ZodType).safeParse(value).success;
}
