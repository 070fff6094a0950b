/** A JSON Schema object of draft 2020-12, as zod emits it. */
export interface JsonSchema {
  properties?: Record<string, JsonSchema>;
  required?: string[];
  description?: string;
  [keyword: string]: unknown;
}
