import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { formatOpenApi } from "../../scripts/openapi/format-openapi.ts";
import { ROOT } from "../source-files.ts";

const FILE = join(ROOT, "openapi.json");

// biome-ignore lint/suspicious/noExplicitAny: a test changes what it needs of the description
type Description = any;

/** Changes an example in openapi.json, where examples are kept. */
export function updateDescription(change: (description: Description) => void): void {
  const description = JSON.parse(readFileSync(FILE, "utf8"));
  change(description);
  writeFileSync(FILE, formatOpenApi(description));
}
