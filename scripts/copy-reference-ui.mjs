// Copies what /docs serves of Swagger UI into a build (first argument: its folder, else dist), so that an installed
// package does not depend on it.
import { copyFileSync, mkdirSync, renameSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const FILES = ["swagger-ui.css", "swagger-ui-bundle.js"];

const dist = process.argv[2] ?? fileURLToPath(new URL("../dist", import.meta.url));
const source = join(
  dirname(createRequire(import.meta.url).resolve("@fastify/swagger-ui/package.json")),
  "static",
);
const target = join(dist, "reference-ui");

mkdirSync(target, { recursive: true });
for (const name of FILES) {
  // A gateway that runs from this build never reads half a file.
  const draft = join(target, `.${name}-${process.pid}`);
  copyFileSync(join(source, name), draft);
  renameSync(draft, join(target, name));
}
