import type { JsonSchema } from "./json-schema.ts";

type Schemas = Readonly<Record<string, JsonSchema>>;

/** Smaller objects may be alike by chance. */
const MIN_FIELDS = 3;

interface Base {
  name: string;
  fields: ReadonlyMap<string, string>;
  required: readonly string[];
}

/**
 * Replaces each object that has every field of a component by a reference to it, with the further fields in an
 * `allOf`. Of several such components, the one with the most fields is chosen.
 */
export function composeSchemas(schemas: Schemas, baseNames: ReadonlySet<string>): Record<string, JsonSchema> {
  const bases = Object.entries(schemas)
    .filter(([name]) => baseNames.has(name))
    .flatMap(([name, schema]) => toBase(name, schema))
    .toSorted((a, b) => b.fields.size - a.fields.size);
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => {
      const others = bases.filter((base) => base.name !== name);
      return [name, compose(schema, others) as JsonSchema];
    }),
  );
}

function toBase(name: string, { type, properties = {}, required = [] }: JsonSchema): Base[] {
  const fields = new Map(Object.entries(properties).map(([field, shape]) => [field, JSON.stringify(shape)]));
  return type === "object" && fields.size >= MIN_FIELDS ? [{ name, fields, required }] : [];
}

function compose(node: unknown, bases: readonly Base[]): unknown {
  if (Array.isArray(node)) return node.map((item) => compose(item, bases));
  if (typeof node !== "object" || node === null) return node;
  const schema = node as JsonSchema;
  const base = schema.properties && bases.find((one) => canRefer(schema, one) && hasFieldsOf(schema, one));
  if (!base) return mapValues(schema, (value) => compose(value, bases));
  const { properties = {}, required = [], type, ...rest } = schema;
  const reference = { $ref: `#/components/schemas/${base.name}` };
  const more = Object.entries(properties).filter(([field]) => !base.fields.has(field));
  const others = compose(rest, bases) as JsonSchema;
  if (more.length === 0) return { ...reference, ...others };
  const further = required.filter((field) => !base.fields.has(field));
  return {
    allOf: [
      reference,
      {
        type,
        properties: mapValues(Object.fromEntries(more), (value) => compose(value, bases)),
        ...(further.length > 0 && { required: further }),
      },
    ],
    ...others,
  };
}

/** In a larger schema, a field that tells alternatives apart stands in it itself, where generators look for it. */
function canRefer({ properties = {} }: JsonSchema, base: Base): boolean {
  const isEqual = Object.keys(properties).length === base.fields.size;
  return isEqual || !Object.values(properties).some((field) => "const" in field);
}

function hasFieldsOf({ properties = {}, required = [] }: JsonSchema, base: Base): boolean {
  if (Object.keys(properties).length < base.fields.size) return false;
  for (const [field, shape] of base.fields) {
    if (!Object.hasOwn(properties, field) || JSON.stringify(properties[field]) !== shape) return false;
    if (required.includes(field) !== base.required.includes(field)) return false;
  }
  return true;
}

function mapValues<T>(object: Readonly<Record<string, unknown>>, map: (value: unknown) => T) {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value)]));
}
