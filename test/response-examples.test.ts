import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonSchema } from "../scripts/openapi/json-schema.ts";
import { readOpenApiFile } from "../src/platform/openapi/openapi-file.ts";
import { updateDescription } from "./documents/recorded-examples.ts";
import { componentOf, describedPart, toResponseExample } from "./documents/to-response-example.ts";
import { createHttpRequester } from "./http-requester.ts";
import { credentialsFor, type FuzzTarget, startFuzzTarget } from "./security/fuzz-target.ts";
import type { KnownValues } from "./security/json-values.ts";
import { type Operation, readOperations } from "./security/operations.ts";

interface DescribedOperation {
  operationId: string;
  requestBody?: { content: Record<string, { example?: object }> };
  responses: Record<string, { content?: Record<string, { schema: JsonSchema }> }>;
}

/**
 * Documents, exports and overviews, whose examples would be long, since the size of the description is limited; and three
 * that no test gets in a form that can be recorded.
 */
const LEFT_OUT = [
  "openApi",
  "postman",
  "exportData",
  "adminMonitor",
  "adminMonitorAsPublished",
  "readWelcomeLink",
  "wahaPasskey",
  "wahaPasskeyConfirm",
];

const { paths, components } = JSON.parse(readOpenApiFile()) as {
  paths: Record<string, Record<string, DescribedOperation>>;
  components: { schemas: Record<string, JsonSchema> };
};
const described = Object.values(paths).flatMap((path) => Object.values(path));

function schemasOf({ responses }: DescribedOperation): JsonSchema[] {
  return ["200", "202"]
    .map((status) => responses[status]?.content?.["application/json"]?.schema)
    .filter((schema) => schema !== undefined);
}

/** Whether the schema has an example of its own, or one of its data. */
function isIllustrated(schema: JsonSchema): boolean {
  const { examples, properties } = components.schemas[componentOf(schema) ?? ""] ?? {};
  if (examples !== undefined) return true;
  const data = properties?.data;
  return data !== undefined && isIllustrated((data.type === "array" ? data.items : data) as JsonSchema);
}

test("every successful JSON response has an example", () => {
  const without = described.filter((operation) => !schemasOf(operation).every(isIllustrated));
  expect(without.map(({ operationId }) => operationId).toSorted()).toEqual([...LEFT_OUT].toSorted());
});

/**
 * `UPDATE_EXAMPLES=1 npx vitest run test/response-examples.test.ts` records the examples anew, from the responses to the
 * example of each request. Write an example that it cannot get into openapi.json: it stays there.
 */
describe.runIf(process.env.UPDATE_EXAMPLES === "1")("the examples of openapi.json", () => {
  let target: FuzzTarget;
  beforeAll(async () => {
    target = await startFuzzTarget();
  });
  afterAll(() => target?.stop());

  test("are what the gateway responds to the example of each request", async () => {
    const found = new Map<string, unknown>();
    const asked = readOperations().filter(
      ({ id, path }) => !path.endsWith("/stream") && !LEFT_OUT.includes(id),
    );
    for (const operation of asked.toSorted(deletionsLast)) {
      const part = await record(target, operation);
      if (part && !found.has(part.name)) found.set(part.name, part.value);
    }
    updateDescription(({ components: { schemas } }) => {
      for (const [name, value] of found) {
        const schema = schemas[name];
        if (schema) schema.examples = [value];
      }
    });
    expect(found.size).toBeGreaterThan(40);
  });
});

/** So that what other operations name still exists. */
function deletionsLast(one: Operation, other: Operation): number {
  return Number(one.method === "DELETE") - Number(other.method === "DELETE");
}

/** The part of a successful JSON response that an example shows; undefined if there is none. */
async function record(target: FuzzTarget, operation: Operation) {
  const tenant = await target.tenant();
  const known = tenant.knownFor(operation);
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => String(known[name]?.[0] ?? 1));
  const { requestBody, responses } = described.find(
    ({ operationId }) => operationId === operation.id,
  ) as DescribedOperation;
  const { status, headers, body } = await createHttpRequester(() => target.gateway.url)(
    `${operation.method} ${path}`,
    withRows(requestBody?.content["application/json"]?.example, known),
    credentialsFor(operation, tenant, 0),
  );
  const schema = responses[status]?.content?.["application/json"]?.schema;
  const isJson = headers.get("content-type")?.startsWith("application/json");
  if (status >= 300 || !isJson || schema === undefined) return undefined;
  return describedPart(schema, toResponseExample(body), components.schemas);
}

/** A body that names existing rows, messages and chats. */
function withRows(body: object | undefined, known: KnownValues): object | undefined {
  const entries = Object.entries(body ?? {}).map(([key, value]) => {
    const isRow = /(_id|^jid|_jid)$/.test(key) && known[key]?.[0] !== undefined;
    return [key, isRow ? known[key]?.[0] : value];
  });
  return body && Object.fromEntries(entries);
}
