import type { z } from "zod";

export type SchemaDirection = "input" | "output";

// Not zod's own registry: a name there turns each use into a reference, also for readers that want the shape.
const NAMES = new Map<z.ZodType, { name: string; direction: SchemaDirection }>();

/**
 * Names a schema: the OpenAPI document then describes it once, as a component, and refers to it elsewhere. A
 * schema that only others extend is described as it is in `direction`.
 */
export function named<S extends z.ZodType>(
  name: string,
  schema: S,
  direction: SchemaDirection = "output",
): S {
  NAMES.set(schema, { name, direction });
  return schema;
}

export function schemaName(schema: z.core.$ZodType): string | undefined {
  return NAMES.get(schema as z.ZodType)?.name;
}

/** Every schema that has a name, with its direction. */
export function namedSchemas(): [z.ZodType, SchemaDirection][] {
  return [...NAMES].map(([schema, { direction }]) => [schema, direction]);
}
