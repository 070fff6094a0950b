import { z } from "zod";
import { schemaName } from "../src/platform/http/schema-name.ts";

export type Direction = "input" | "output";

export interface TypePrinter {
  /** The TypeScript type of what a schema accepts (input) or returns (output). */
  print(schema: z.core.$ZodType, direction: Direction): string;
  /** Declarations of the named types that the printed ones refer to, such as `type Page = {...};`, ordered by name. */
  declarations(): string[];
}

/** Prints zod schemas as TypeScript without zod. The descriptions of fields become comments. */
export function createTypePrinter(): TypePrinter {
  const named = new Map<string, string>();

  function print(schema: z.core.$ZodType, direction: Direction): string {
    const text = printType(schema, direction, print);
    const name = schemaName(schema);
    return name === undefined ? text : nameFor(name, text, direction);
  }

  /** What a schema accepts may differ from what it returns: then the second type gets a name of its own. */
  function nameFor(name: string, text: string, direction: Direction): string {
    const known = named.get(name);
    if (known !== undefined && known !== text) {
      return nameFor(`${name}${capitalise(direction)}`, text, direction);
    }
    named.set(name, text);
    return name;
  }

  return {
    print,
    declarations() {
      const sorted = [...named].sort(([a], [b]) => (a < b ? -1 : 1));
      return sorted.map(([name, text]) => `type ${name} = ${text};`);
    },
  };
}

type Print = TypePrinter["print"];

function printType(schema: z.core.$ZodType, direction: Direction, print: Print): string {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  const inner = (one: z.core.$ZodType) => print(one, direction);
  switch (def.type) {
    case "object":
      return printObject(def, direction, inner);
    case "array":
      return `Array<${inner(def.element)}>`;
    case "record":
      return `Record<${inner(def.keyType)}, ${inner(def.valueType)}>`;
    case "union":
      return unionOf(def.options.map(inner));
    case "nullable":
      return unionOf([inner(def.innerType), "null"]);
    case "optional":
      return unionOf([inner(def.innerType), "undefined"]);
    case "default":
      return direction === "output" ? inner(def.innerType) : unionOf([inner(def.innerType), "undefined"]);
    case "pipe":
      return inner(direction === "input" ? def.in : def.out);
    case "enum":
      return unionOf(Object.values(def.entries).map((value) => JSON.stringify(value)));
    case "literal":
      return unionOf(def.values.map((value) => JSON.stringify(value)));
    case "custom":
      return isObjectOfJson(schema) ? "Record<string, JsonValue>" : "FileUpload";
    case "date":
      return "string | Date";
    default:
      return printScalar(schema, def, direction);
  }
}

/** A coerced number of a path or a query is also accepted as its text. */
function printScalar(schema: z.core.$ZodType, def: z.core.$ZodTypeDef, direction: Direction): string {
  const isCoerced = direction === "input" && "coerce" in def && def.coerce === true;
  if (def.type === "string" || def.type === "number") return isCoerced ? "number | string" : def.type;
  if (["boolean", "null", "undefined", "unknown", "never"].includes(def.type)) return def.type;
  const { description = "no description" } = z.globalRegistry.get(schema) ?? {};
  throw new Error(`A schema of type ${def.type} (${description}) has no TypeScript type as ${direction}.`);
}

function printObject(
  { shape, catchall }: z.core.$ZodObjectDef,
  direction: Direction,
  inner: (schema: z.core.$ZodType) => string,
): string {
  const fields = Object.entries(shape).map(([name, field]) => {
    const key = /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);
    const mark = mayBeAbsent(field, direction) ? "?" : "";
    return `${commentOf(descriptionOf(field))}${key}${mark}: ${inner(direction === "output" ? required(field) : field)};`;
  });
  if (catchall && catchall._zod.def.type !== "never") fields.push(`[field: string]: ${inner(catchall)};`);
  return fields.length === 0 ? "Record<string, never>" : `{\n${indent(fields.join("\n"))}\n}`;
}

/** Whether an object may leave out this field: in an input also because it has a default. */
export function mayBeAbsent({ _zod: { optin, optout } }: z.core.$ZodType, direction: Direction): boolean {
  return (direction === "input" ? optin : optout) !== undefined;
}

/** A response leaves an optional field out; it never has the value undefined. */
function required(field: z.core.$ZodType): z.core.$ZodType {
  const { def } = (field as z.core.$ZodTypes)._zod;
  return def.type === "optional" ? def.innerType : field;
}

/** A file is the other kind of custom schema. */
function isObjectOfJson(schema: z.core.$ZodType): boolean {
  return z.globalRegistry.get(schema)?.type === "object";
}

function descriptionOf(schema: z.core.$ZodType): string | undefined {
  const own = z.globalRegistry.get(schema)?.description;
  const { def } = (schema as z.core.$ZodTypes)._zod;
  return own ?? ("innerType" in def ? descriptionOf(def.innerType) : undefined);
}

/** A documentation comment with a line break behind it; empty without a text. */
export function commentOf(text: string | undefined): string {
  return text === undefined || text === "" ? "" : `/** ${text.replaceAll("*/", "*\\/")} */\n`;
}

export function indent(text: string): string {
  return text.replace(/^(?=.)/gm, "  ");
}

export function capitalise(name: string): string {
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
}

function unionOf(types: readonly string[]): string {
  const different = [...new Set(types)];
  return different.includes("unknown") ? "unknown" : different.join(" | ");
}
