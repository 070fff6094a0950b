import { readFileSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../package-version.ts";

/** The OpenAPI document of the gateway, as `npm run generate` has written it. */
export function readOpenApiFile(): string {
  return readFileSync(join(packageRoot(), "openapi.json"), "utf8");
}

interface OpenApiDocument {
  paths: Record<string, Record<string, { operationId?: string; tags?: string[] }>>;
  webhooks: Record<string, unknown>;
  tags: { name: string }[];
}

/** The document with these operations and webhooks only, and without the tags that nothing has any longer. */
export function keepOperations(
  text: string,
  operations: ReadonlySet<string>,
  webhooks: ReadonlySet<string>,
): string {
  const document = JSON.parse(text) as OpenApiDocument;
  let isWhole = true;
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, { operationId = "" }] of Object.entries(methods)) {
      if (operations.has(operationId)) continue;
      delete methods[method];
      isWhole = false;
    }
    if (Object.keys(methods).length === 0) delete document.paths[path];
  }
  for (const name of Object.keys(document.webhooks)) {
    if (webhooks.has(name)) continue;
    delete document.webhooks[name];
    isWhole = false;
  }
  if (isWhole) return text;
  const used = new Set(["Events", ...Object.values(document.paths).flatMap(tagsOf)]);
  return JSON.stringify({ ...document, tags: document.tags.filter(({ name }) => used.has(name)) });
}

function tagsOf(methods: OpenApiDocument["paths"][string]): string[] {
  return Object.values(methods).flatMap(({ tags = [] }) => tags);
}
