import { readFileSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../config/package-version.ts";

/** The OpenAPI document of the gateway, as `npm run generate` has written it. */
export function readOpenApiFile(): string {
  return readFileSync(join(packageRoot(), "openapi.json"), "utf8");
}
