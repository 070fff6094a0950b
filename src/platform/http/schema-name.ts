import type { z } from "zod";

// Not zod's own registry: a name there turns each use into a reference, also for readers that want the shape.
const NAMES = new Map<z.core.$ZodType, string>();

/** Names a schema: the OpenAPI document then describes it once, as a component, and refers to it elsewhere. */
export function named<S extends z.ZodType>(name: string, schema: S): S {
  NAMES.set(schema, name);
  return schema;
}

export function schemaName(schema: z.core.$ZodType): string | undefined {
  return NAMES.get(schema);
}

/** Every schema that has a name. */
export function namedSchemas(): [z.core.$ZodType, string][] {
  return [...NAMES];
}
