import { afterEach, beforeEach, expect, test } from "vitest";
import { contract } from "../src/contract.ts";
import { createOpenApiDocument } from "../src/platform/openapi/openapi-document.ts";
import { createHttpRequester } from "./http-requester.ts";
import { SAMPLE } from "./sample-files.ts";
import { credentialsFor, type FuzzTarget, startFuzzTarget } from "./security/fuzz-target.ts";
import { readOperations } from "./security/operations.ts";

interface Described {
  paths: Record<
    string,
    Record<string, { operationId: string; requestBody?: { content: Record<string, { example?: unknown }> } }>
  >;
}

const { paths } = createOpenApiDocument(contract) as unknown as Described;
const contents = new Map(
  Object.values(paths).flatMap((path) =>
    Object.values(path).map(({ operationId, requestBody }) => [operationId, requestBody?.content]),
  ),
);
const jsonExample = (id: string) => contents.get(id)?.["application/json"]?.example;
const CSV = "phone,name\n5511999990004,Bia\n";

let target: FuzzTarget;
beforeEach(async () => {
  target = await startFuzzTarget();
});
afterEach(() => target.stop());

test("the gateway takes the example of every JSON body without changes", async () => {
  const refused: string[] = [];
  const operations = readOperations().filter(({ id }) => jsonExample(id) !== undefined);
  const request = createHttpRequester(() => target.gateway.url);
  let succeeded = 0;
  for (const operation of operations) {
    const tenant = await target.tenant();
    const known = tenant.knownFor(operation);
    const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => String(known[name]?.[0] ?? 1));
    const { status, body } = await request(
      `${operation.method} ${path}`,
      jsonExample(operation.id),
      credentialsFor(operation, tenant, 0),
    );
    if (status < 300) succeeded += 1;
    // What an example names may be absent here; its shape must be right.
    if (status === 400 || status === 500) refused.push(`${operation.id}: ${JSON.stringify(body)}`);
  }
  expect(refused).toEqual([]);
  expect(operations.length).toBeGreaterThan(80);
  expect(succeeded).toBeGreaterThan(operations.length / 2);
});

test("the gateway takes the example of every form and of every CSV file", async () => {
  const refused: string[] = [];
  const found = readOperations().flatMap((operation) => {
    const content = contents.get(operation.id) ?? {};
    return ["multipart/form-data", "text/csv"]
      .filter((type) => content[type] !== undefined)
      .map((type) => ({ operation, type, example: content[type]?.example }));
  });
  let succeeded = 0;
  for (const { operation, type, example } of found) {
    const tenant = await target.tenant();
    const known = tenant.knownFor(operation);
    const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => String(known[name]?.[0] ?? 1));
    const response = await fetch(`${target.gateway.url}${path}`, {
      method: operation.method,
      body: typeof example === "string" ? example : toForm(example as object, path),
      headers: {
        ...credentialsFor(operation, tenant, 0),
        ...(typeof example === "string" && { "content-type": type }),
      },
    });
    if (response.ok) succeeded += 1;
    if (response.status === 400 || response.status >= 500)
      refused.push(`${operation.id} as ${type}: ${await response.text()}`);
  }
  expect(refused).toEqual([]);
  expect(found.length).toBeGreaterThan(9);
  expect(succeeded).toBeGreaterThan(found.length / 2);
});

/** The file of a form is a picture, or a table where the path imports people. */
function toForm(example: object, path: string): FormData {
  const form = new FormData();
  for (const [key, value] of Object.entries(example)) {
    if (value !== "(the file)") form.append(key, String(value));
    else if (/import|recipients/.test(path))
      form.append(key, new Blob([CSV], { type: "text/csv" }), "people.csv");
    else form.append(key, new Blob([SAMPLE.png], { type: "image/png" }), "photo.png");
  }
  return form;
}
