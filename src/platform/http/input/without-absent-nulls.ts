import type { z } from "zod";

type Schema = z.core.$ZodType;
type Fields = Readonly<Record<string, unknown>>;

interface Parts {
  type: string;
  innerType?: Schema;
  in?: Schema;
  out?: Schema;
  element?: Schema;
  valueType?: Schema;
  options?: readonly Schema[];
  shape?: Readonly<Record<string, Schema>>;
}

const partsOf = (schema: Schema) => schema._zod.def as unknown as Parts;

/**
 * Removes fields that are null where the schema gives null no meaning: many clients send null for an absent
 * field. Entries of lists stay.
 */
export function withoutAbsentNulls(schema: Schema, value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const { shape, element, valueType } = partsOf(insideOf(schema, Array.isArray(value)));
  if (Array.isArray(value)) {
    return element ? value.map((entry) => withoutAbsentNulls(element, entry)) : value;
  }
  if (!shape && !valueType) return value;
  return withoutNullFields(value as Fields, (name) =>
    shape ? (Object.hasOwn(shape, name) ? shape[name] : undefined) : valueType,
  );
}

function withoutNullFields(fields: Fields, schemaOf: (name: string) => Schema | undefined): Fields {
  const present: [string, unknown][] = [];
  for (const [name, value] of Object.entries(fields)) {
    const schema = schemaOf(name);
    if (schema === undefined) present.push([name, value]);
    else if (value !== null || allowsNull(schema)) present.push([name, withoutAbsentNulls(schema, value)]);
  }
  return Object.fromEntries(present);
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
  return ["custom", "literal", "transform"].includes(type) && acceptsNull(schema);
}

function acceptsNull(schema: Schema): boolean {
  return (schema as z.ZodType).safeParse(null).success;
}
