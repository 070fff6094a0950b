import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { contract } from "../src/contract.ts";
import type { JsonSchema } from "../src/platform/openapi/json-schema.ts";
import { createOpenApiDocument } from "../src/platform/openapi/openapi-document.ts";
import { componentOf } from "../src/platform/openapi/schema-components.ts";
import { chooseExamples, keyFor } from "./choose-examples.ts";
import { createHttpRequester } from "./http-requester.ts";
import { credentialsFor, type FuzzTarget, startFuzzTarget } from "./security/fuzz-target.ts";
import type { KnownValues } from "./security/json-values.ts";
import { type Operation, readOperations } from "./security/operations.ts";
import { ROOT } from "./source-files.ts";
import { toResponseExample } from "./to-response-example.ts";

/**
 * `UPDATE_EXAMPLES=1 npx vitest run test/response-examples.test.ts` records the examples anew. `RESPONSES` names a file
 * that `RECORD_RESPONSES` has filled in other tests: an operation without an example gets one from there.
 */
const isUpdate = process.env.UPDATE_EXAMPLES === "1";
const FILE = join(ROOT, "docs/reference/response-examples.json");

interface Described {
  paths: Record<
    string,
    Record<string, { operationId: string; requestBody?: { content: Record<string, { example?: object }> } }>
  >;
}

const { paths } = createOpenApiDocument(contract) as unknown as Described;
const bodies = new Map(
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

/** A body that names existing rows, messages and chats. */
function withRows(body: object | undefined, known: KnownValues): object | undefined {
  const entries = Object.entries(body ?? {}).map(([key, value]) => {
    const isRow = /(_id|^jid|_jid)$/.test(key) && known[key]?.[0] !== undefined;
    return [key, isRow ? known[key]?.[0] : value];
  });
  return body && Object.fromEntries(entries);
}

/** The successful JSON response to the example of the operation, made stable; undefined if there is none. */
async function record(operation: Operation): Promise<[key: string, body: object] | undefined> {
  const tenant = await target.tenant();
  const known = tenant.knownFor(operation);
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => String(known[name]?.[0] ?? 1));
  const request = createHttpRequester(() => target.gateway.url);
  const credentials = credentialsFor(operation, tenant, 0);
  const { status, headers, body } = await request(
    `${operation.method} ${path}`,
    withRows(bodies.get(operation.id), known),
    credentials,
  );
  const isJson = headers.get("content-type")?.startsWith("application/json");
  return status < 300 && isJson
    ? [keyFor(operation.id, status), toResponseExample(body) as object]
    : undefined;
}

function recorded(): Record<string, object> {
  return existsSync(FILE) ? JSON.parse(readFileSync(FILE, "utf8")) : {};
}

/**
 * Documents, exports and overviews, whose examples would be long, since the size of the description is limited; and three
 * that no test gets in a form that can be recorded.
 */
const LEFT_OUT = new Set([
  "openApi",
  "postman",
  "exportData",
  "adminMonitor",
  "adminMonitorAsPublished",
  "readWelcomeLink",
  "wahaPasskey",
  "wahaPasskeyConfirm",
]);

/** So that what other operations name still exists. */
function deletionsLast(one: Operation, other: Operation): number {
  return Number(one.method === "DELETE") - Number(other.method === "DELETE");
}

const operations = readOperations().filter(({ id, path }) => !path.endsWith("/stream") && !LEFT_OUT.has(id));

test("every response that the gateway gives to an example request has the fields of its recorded example", async () => {
  const found: Record<string, object> = {};
  for (const operation of operations.toSorted(deletionsLast)) {
    const [key, body] = (await record(operation)) ?? [];
    if (key !== undefined && body !== undefined) found[key] = body;
  }
  if (isUpdate) writeExamples(found);
  const compared = Object.entries(found).filter(([key]) => Object.hasOwn(recorded(), key));
  for (const [key, body] of compared)
    expect(Object.keys(recorded()[key] as object), key).toEqual(Object.keys(body));
  expect(compared.length).toBeGreaterThan(100);
});

/** Keeps the examples of operations that were not asked now, and adds those that other tests have recorded. */
function writeExamples(found: Record<string, object>): void {
  const kept = recorded();
  const filled = Object.entries(found).filter(([key, body]) => !isEmptyList(body) || kept[key] === undefined);
  const known = { ...kept, ...Object.fromEntries(filled) };
  const others = Object.entries(
    process.env.RESPONSES ? chooseExamples(process.env.RESPONSES, operations) : {},
  );
  const added = others.filter(([key]) => known[key] === undefined || isEmptyList(known[key]));
  writeFileSync(FILE, `${JSON.stringify({ ...known, ...Object.fromEntries(added) }, null, 2)}\n`);
}

function isEmptyList({ data }: { data?: unknown }): boolean {
  return Array.isArray(data) && data.length === 0;
}

test("every successful JSON response has an example that fits its schema", () => {
  for (const operation of operations)
    for (const status of [200, 202]) {
      const example = recorded()[keyFor(operation.id, status)];
      if (example === undefined) continue;
      expect(operation.misfit(status, "application/json", example), operation.id).toBeUndefined();
    }
  expect(withoutExample().toSorted()).toEqual([...LEFT_OUT].toSorted());
});

interface Response {
  content?: Record<string, { schema: JsonSchema }>;
}

/** Operations that have a JSON response without an example: none of its own, and none of its data. */
function withoutExample(): string[] {
  const { paths, components } = createOpenApiDocument(contract, undefined, recorded()) as unknown as {
    paths: Record<string, Record<string, { operationId: string; responses: Record<string, Response> }>>;
    components: { schemas: Record<string, JsonSchema> };
  };
  const isIllustrated = (schema: JsonSchema): boolean => {
    const { examples, allOf = [] } = components.schemas[componentOf(schema) ?? ""] ?? {};
    if (examples !== undefined) return true;
    const data = (allOf as JsonSchema[]).map(({ properties }) => properties?.data).find(Boolean);
    return data !== undefined && isIllustrated(data.type === "array" ? (data.items as JsonSchema) : data);
  };
  const found = Object.values(paths).flatMap((path) => Object.values(path));
  return found
    .filter(({ responses }) =>
      [responses[200], responses[202]].some((response) => {
        const schema = response?.content?.["application/json"]?.schema;
        return schema !== undefined && !isIllustrated(schema);
      }),
    )
    .map(({ operationId }) => operationId);
}
