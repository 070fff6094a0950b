import type { Migration } from "kysely";
import * as schema from "./0001-schema.ts";

/** Every migration in order; forward only. */
export const migrations: Record<string, Migration> = {
  "0001-schema": schema,
};
