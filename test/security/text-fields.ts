import type { z } from "zod";
import type { Contract } from "../../src/platform/http/route.ts";

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
