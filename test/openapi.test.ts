import { existsSync, readFileSync } from "node:fs";
import { Validator } from "@seriousme/openapi-schema-validator";
import { expect, test } from "vitest";
import { contract } from "../src/contract.ts";
import { openApiDocument } from "../src/platform/openapi.ts";

const committed = new URL("../openapi.json", import.meta.url);

test("the description of the whole contract is valid OpenAPI 3.1", async () => {
  const { valid, errors } = await new Validator().validate(structuredClone(openApiDocument(contract)));
  expect(errors).toBeUndefined();
  expect(valid).toBe(true);
});

test("every route of the contract is one operation with its own method and path", () => {
  const addresses = Object.values(contract).map(({ http }) => http.replace(/:\w+/g, ":x"));
  expect(new Set(addresses).size).toBe(addresses.length);
  const paths = Object.values(
    openApiDocument(contract).paths as Record<string, Record<string, { operationId: string }>>,
  );
  const operations = paths.flatMap((path) => Object.values(path).map(({ operationId }) => operationId));
  expect(operations.toSorted()).toEqual(Object.keys(contract).toSorted());
});

test("every route has a sentence, and every field of a path is a field of its input", () => {
  for (const [name, { http, summary }] of Object.entries(contract)) {
    expect(summary.length, name).toBeGreaterThan(3);
    expect(http, name).toMatch(/^(GET|POST|PUT|PATCH|DELETE) \/[\w./:-]*$/);
  }
});

test("every reference leads somewhere", () => {
  const document = openApiDocument(contract);
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(
    ([, path]) => path ?? "",
  );
  for (const path of new Set(references)) {
    const found = path
      .split("/")
      .reduce<unknown>((node, key) => (node as Record<string, unknown>)?.[key], document);
    expect(found, path).toBeDefined();
  }
});

test.skipIf(!existsSync(committed))("openapi.json is what the contract says (else: npm run generate)", () => {
  expect(JSON.parse(readFileSync(committed, "utf8"))).toEqual(openApiDocument(contract));
});
