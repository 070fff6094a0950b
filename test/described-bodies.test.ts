import { afterAll, beforeAll, expect, test } from "vitest";
import { contract } from "../src/contract.ts";
import { createOpenApiDocument } from "../src/platform/openapi/openapi-document.ts";
import { createHttpRequester } from "./http-requester.ts";
import { credentialsFor, type FuzzTarget, startFuzzTarget } from "./security/fuzz-target.ts";
import { type Operation, readOperations } from "./security/operations.ts";

interface Described {
  paths: Record<string, Record<string, { operationId: string; requestBody?: { required?: boolean } }>>;
}

const { paths } = createOpenApiDocument(contract) as unknown as Described;
const bodies = new Map(
  Object.values(paths).flatMap((path) =>
    Object.values(path).map(({ operationId, requestBody }) => [operationId, requestBody]),
  ),
);

let target: FuzzTarget;
beforeAll(async () => {
  target = await startFuzzTarget();
});
afterAll(() => target.stop());

/** Whether the gateway refuses a request of the operation because it has no body. */
async function isRefused(operation: Operation): Promise<boolean> {
  const tenant = await target.tenant();
  const known = tenant.knownFor(operation);
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => String(known[name]?.[0] ?? 1));
  const request = createHttpRequester(() => target.gateway.url);
  const { body } = await request(
    `${operation.method} ${path}`,
    undefined,
    credentialsFor(operation, tenant, 0),
  );
  return /^The request has no body/.test((body as { message?: string }).message ?? "");
}

test("the document requires a body exactly where the gateway refuses a request without one", async () => {
  const wrong: string[] = [];
  const operations = readOperations().filter(({ id }) => bodies.get(id));
  for (const operation of operations) {
    const refused = await isRefused(operation);
    if (refused !== (bodies.get(operation.id)?.required ?? false)) wrong.push(`${operation.id}: ${refused}`);
  }
  expect(wrong).toEqual([]);
  expect(operations.length).toBeGreaterThan(80);
});
