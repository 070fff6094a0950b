import { z } from "zod";
import type { CreateDocumentOptions } from "zod-openapi";
import { namedSchemas, schemaName } from "../../src/platform/http/schema-name.ts";

type JsonSchema = z.core.JSONSchema.BaseSchema;

const INT32_MAX = 2_147_483_647;
const SCALARS = ["string", "integer", "number", "boolean"];

/** How the library describes a schema: what a reader does not need is left out, and what clients need is added. */
export const DOCUMENT_OPTIONS: CreateDocumentOptions = {
  allowEmptySchema: { custom: true, transform: true },
  override({ zodSchema, jsonSchema, io }) {
    const json = jsonSchema as JsonSchema;
    mergeNull(json);
    tidyValue(zodSchema, json);
    // It stands beside the schema.
    if (z.globalRegistry.get(zodSchema)?.param) delete json.description;
    if (io === "input") return;
    // Later versions add fields to responses.
    if (json.additionalProperties === false) delete json.additionalProperties;
    omitRespelled(json);
  },
};

function tidyValue(schema: z.core.$ZodType, json: JsonSchema): void {
  if (isDate(schema._zod.def)) Object.assign(json, { type: "string", format: "date-time" });
  // The format says it; the pattern has 280 characters.
  if (json.format === "date-time") delete json.pattern;
  if ([json.type].flat().includes("integer")) tidyInteger(json);
  if (json.type === "number") json.format = "double";
  if (JSON.stringify(json.propertyNames) === '{"type":"string"}') delete json.propertyNames;
}

/** Writes `{anyOf: [{type: "string", ...}, {type: "null"}]}` as `{type: ["string", "null"], ...}`. */
function mergeNull(json: JsonSchema): void {
  const [value, other] = json.anyOf ?? [];
  if (json.anyOf?.length !== 2 || other?.type !== "null" || !SCALARS.includes(String(value?.type))) return;
  if (value === undefined || "enum" in value || "const" in value) return;
  delete json.anyOf;
  Object.assign(json, { ...value, ...json, type: [value.type, "null"] });
}

/** A Date, or a Date that is serialised as ISO text. */
function isDate(def: z.core.$ZodTypeDef): boolean {
  if (def.type === "date") return true;
  if (def.type !== "pipe") return false;
  const { in: from, out } = def as z.core.$ZodPipeDef;
  return from._zod.def.type === "date" && out._zod.def.type === "transform";
}

/** JSON numbers are exact in this range. Without the format, clients in some languages read 32 bits. */
function tidyInteger(json: JsonSchema): void {
  if (json.minimum === Number.MIN_SAFE_INTEGER) delete json.minimum;
  if (json.maximum === Number.MAX_SAFE_INTEGER) delete json.maximum;
  if ((json.maximum ?? Number.POSITIVE_INFINITY) > INT32_MAX) json.format = "int64";
}

/** Omits fields that a response repeats in camelCase: in many languages both would get the same name. */
function omitRespelled({ properties = {}, required = [] }: JsonSchema): void {
  for (const name of Object.keys(properties)) {
    const respelled = name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
    if (respelled === name || !Object.hasOwn(properties, respelled)) continue;
    delete properties[respelled];
    if (required.includes(respelled)) required.splice(required.indexOf(respelled), 1);
  }
}

export interface Components {
  /** Names a schema with the first name that is free; a schema that is described already is returned instead. */
  name<S extends z.ZodType>(schema: S, io: "input" | "output", ...names: readonly string[]): S;
  nameOf(schema: z.core.$ZodType): string | undefined;
  /** Fields as parameters; each is described once, however many operations have it. */
  parameters(place: "path" | "query", fields: Readonly<Record<string, z.ZodType>>): z.ZodObject;
  /** Makes the document while the library can see the names. */
  whileNamed<T>(make: () => T): T;
}

/**
 * The named schemas of the contract, and those of requests and responses. The library reads names from zod's registry,
 * where any other reader would see them, too: so they are there only while it works.
 */
export function createComponents(): Components {
  const names = new Map(namedSchemas().map(([schema, name]) => [name, schema]));
  const known = new Map<string, z.ZodType>();
  const parameterNames = new Set<string>();

  /** Such as `LimitQuery`; another one of the same name and place is `LimitQuery2`. */
  function parameterName(field: string, place: string): string {
    const name = pascalCase(`${field}_${place}`);
    let free = name;
    for (let nth = 2; parameterNames.has(free); nth += 1) free = `${name}${nth}`;
    parameterNames.add(free);
    return free;
  }

  return {
    name<S extends z.ZodType>(schema: S, io: "input" | "output", ...wanted: readonly string[]): S {
      const content = `${io} ${jsonOf(schema, io)}`;
      const same = known.get(content);
      if (same) return same as S;
      const name = wanted.find((one) => !names.has(one));
      if (name === undefined)
        throw new Error(`Two components of the OpenAPI document are named ${wanted.at(-1)}.`);
      names.set(name, schema);
      known.set(content, schema);
      return schema;
    },
    nameOf: schemaName,
    parameters(place, fields) {
      const parameters = Object.entries(fields).map(([field, schema]) => {
        const content = `${place} ${field} ${jsonOf(schema, "input")}`;
        const found = known.get(content) ?? schema.meta({ param: { id: parameterName(field, place) } });
        known.set(content, found);
        return [field, found];
      });
      return z.object(Object.fromEntries(parameters));
    },
    whileNamed(make) {
      const before = [...names.values()].map((schema) => [schema, z.globalRegistry.get(schema)] as const);
      try {
        for (const [id, schema] of names)
          z.globalRegistry.add(schema, { ...z.globalRegistry.get(schema), id });
        return make();
      } finally {
        for (const [schema, meta] of before) {
          z.globalRegistry.remove(schema);
          if (meta) z.globalRegistry.add(schema, meta);
        }
      }
    },
  };
}

function jsonOf(schema: z.ZodType, io: "input" | "output"): string {
  return JSON.stringify(z.toJSONSchema(schema, { io, unrepresentable: "any" }));
}

/** The fields of an object, or of all objects that it consists of. */
export function fieldsOf(schema: z.core.$ZodType): Record<string, z.ZodType> {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if (def.type === "object") return def.shape as Record<string, z.ZodType>;
  if (def.type === "pipe") return fieldsOf(def.in);
  if (def.type === "intersection") return { ...fieldsOf(def.left), ...fieldsOf(def.right) };
  if (def.type === "union") return Object.assign({}, ...def.options.map(fieldsOf));
  return {};
}

/** The schema without fields that travel elsewhere, such as in the path. */
export function withoutFields(schema: z.core.$ZodType, names: readonly string[]): z.ZodType {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if (!names.some((name) => Object.hasOwn(fieldsOf(schema), name))) return schema as z.ZodType;
  if (def.type === "object") {
    const rest = Object.entries(def.shape).filter(([name]) => !names.includes(name));
    return new z.ZodObject({ ...def, shape: Object.fromEntries(rest) as never, checks: [] });
  }
  if (def.type === "intersection")
    return z.intersection(withoutFields(def.left, names), withoutFields(def.right, names));
  if (def.type === "union") return z.union(def.options.map((option) => withoutFields(option, names)));
  if (def.type === "pipe") return withoutFields(def.in, names);
  throw new Error(`The input of a route cannot be of the type ${def.type}.`);
}

export function pascalCase(text: string): string {
  return text
    .split(/[._-]/)
    .map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)
    .join("");
}
