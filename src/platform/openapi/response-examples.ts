import type { JsonSchema } from "./json-schema.ts";
import { componentOf } from "./schema-components.ts";

/** Recorded bodies of successful responses, by the name of the operation, which `Accepted` follows for those with 202. */
export type RecordedResponses = Readonly<Record<string, unknown>>;

type Json = Record<string, unknown>;
type Schemas = Readonly<Record<string, JsonSchema>>;
type Paths = Readonly<Record<string, Readonly<Record<string, Json & { operationId: string }>>>>;

/**
 * Gives the schemas of responses an example: the recorded body, or the part of it that has a component of its own. So
 * each value stands in the document once, however many responses contain it.
 */
export function illustrateResponses(
  schemas: Schemas,
  paths: Paths,
  recorded: RecordedResponses,
): Record<string, JsonSchema> {
  const examples = new Map<string, unknown>();
  for (const operation of Object.values(paths).flatMap((path) => Object.values(path))) {
    for (const [status, ending] of SUCCESSES) {
      const body = recorded[`${operation.operationId}${ending}`];
      const schema = schemaOf(operation, status);
      const part = body !== undefined && schema && describedPart(schema, omitRespelled(body), schemas);
      if (part && !examples.has(part.name)) examples.set(part.name, part.value);
    }
  }
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => {
      const example = examples.get(name);
      return [name, example === undefined ? schema : { ...schema, examples: [example] }];
    }),
  );
}

const SUCCESSES = [
  [200, ""],
  [202, "Accepted"],
] as const;

/** Omits fields that a response repeats in camelCase, as the schemas do. */
function omitRespelled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(omitRespelled);
  if (typeof value !== "object" || value === null) return value;
  const names = Object.keys(value);
  const toCamel = (name: string) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  const respelled = new Set(names.filter((name) => name.includes("_")).map(toCamel));
  const kept = Object.entries(value).filter(([name]) => !respelled.has(name));
  return Object.fromEntries(kept.map(([name, one]) => [name, omitRespelled(one)]));
}

function schemaOf({ responses }: Json, status: number): JsonSchema | undefined {
  const { content = {} } =
    (responses as Record<string, { content?: Record<string, { schema: JsonSchema }> }>)[status] ?? {};
  return content["application/json"]?.schema;
}

/** The component that an example of this response belongs to: that of its data, or of the first row of a list. */
export function describedPart(
  schema: JsonSchema,
  body: unknown,
  schemas: Schemas,
): { name: string; value: unknown } | undefined {
  const name = componentOf(schema);
  if (name === undefined) return undefined;
  const { allOf = [] } = schemas[name] as { allOf?: JsonSchema[] };
  const data = allOf.map(({ properties }) => properties?.data).find((one) => one !== undefined);
  const value = (body as Json).data;
  const part = data && componentOf(data);
  if (part !== undefined) return { name: part, value };
  const row = data?.type === "array" ? componentOf(data.items as JsonSchema) : undefined;
  if (row === undefined) return { name, value: body };
  return Array.isArray(value) && value.length > 0 ? { name: row, value: value[0] } : undefined;
}
