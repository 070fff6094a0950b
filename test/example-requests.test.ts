import { afterAll, beforeAll, expect, test } from "vitest";
import { contract } from "../src/contract.ts";
import { createOpenApiDocument } from "../src/platform/openapi/openapi-document.ts";
import { createHttpRequester } from "./http-requester.ts";
import { credentialsFor, type FuzzTarget, startFuzzTarget } from "./security/fuzz-target.ts";
import { readOperations } from "./security/operations.ts";

interface Described {
  paths: Record<
    string,
    Record<string, { operationId: string; requestBody?: { content: Record<string, { example?: object }> } }>
  >;
}

const { paths } = createOpenApiDocument(contract) as unknown as Described;
const examples = new Map(
  Object.values(paths).flatMap((path) =>
    Object.values(path).map(({ operationId, requestBody }) => [
      operationId,
      requestBody?.content["application/json"]?.example,
    ]),
  ),
);

let target: FuzzTarget;
beforeAll(async () => {
  target = await startFuzzTarget();
});
afterAll(() => target.stop());

test("the gateway takes the example of every JSON body without changes", async () => {
  const refused: string[] = [];
  const operations = readOperations().filter(({ id }) => examples.get(id) !== undefined);
  const request = createHttpRequester(() => target.gateway.url);
  let succeeded = 0;
  for (const operation of operations) {
    const tenant = await target.tenant();
    const known = tenant.knownFor(operation);
    const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => String(known[name]?.[0] ?? 1));
    const { status, body } = await request(
      `${operation.method} ${path}`,
      examples.get(operation.id),
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
