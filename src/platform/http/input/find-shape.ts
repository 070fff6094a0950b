import type { z } from "zod";

/** The fields of an object; undefined for another schema, and for an object that accepts any field. */
export function findShape(schema: z.ZodType): Readonly<Record<string, z.ZodType>> | undefined {
  const isObject = schema.def.type === "object" && (schema as z.ZodObject).def.catchall === undefined;
  return isObject ? (schema as z.ZodObject).shape : undefined;
}
