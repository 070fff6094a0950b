import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { contract } from "../src/contract.ts";
import { createOpenApiDocument } from "../src/platform/openapi/openapi-document.ts";
import { createHttpRequester } from "./http-requester.ts";
import { credentialsFor, type FuzzTarget, startFuzzTarget } from "./security/fuzz-target.ts";
import type { KnownValues } from "./security/json-values.ts";
import { type Operation, readOperations } from "./security/operations.ts";
import { ROOT } from "./source-files.ts";
import { toResponseExample } from "./to-response-example.ts";

/** `UPDATE_EXAMPLES=1 npx vitest run test/response-examples.test.ts` records the examples anew. */
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

/** The body of a successful JSON response to the example of the operation, made stable; undefined if it is refused. */
async function record(operation: Operation): Promise<unknown> {
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
  return status < 300 && isJson ? toResponseExample(body) : undefined;
}

/** Large exports, logs and overviews, and responses that contain another's example: the document's size is limited. */
const LEFT_OUT = new Set([
  "connectInstance",
  "getInstanceStatus",
  "getMessage",
  "getCampaign",
  "createGroup",
  "accountOverview",
  "saveIntegration",
  "listDeliveryLogs",
  "getAccount",
  "updateAccount",
  "createAccount",
  "createInstance",
  "listChats",
  "listConversations",
  "setChatState",
  "listEvents",
  "openApi",
  "postman",
  "exportData",
  "listBackups",
  "createBackup",
  "getEvent",
  "adminMonitor",
  "adminMonitorAsPublished",
  "listInstanceLogs",
  "createInstanceWithKey",
  "listAllInstances",
]);

/** So that what other operations name still exists. */
function deletionsLast(one: Operation, other: Operation): number {
  return Number(one.method === "DELETE") - Number(other.method === "DELETE");
}

function isIllustrated({ id, path }: Operation): boolean {
  return !path.endsWith("/stream") && !LEFT_OUT.has(id);
}

test("every response that the gateway gives to an example request has the fields of its recorded example", async () => {
  const kept = existsSync(FILE) ? JSON.parse(readFileSync(FILE, "utf8")) : {};
  const found: Record<string, unknown> = {};
  for (const operation of readOperations().filter(isIllustrated).toSorted(deletionsLast)) {
    const body = await record(operation);
    if (body !== undefined) found[operation.id] = body;
  }
  if (isUpdate) writeFileSync(FILE, `${JSON.stringify({ ...kept, ...found }, null, 2)}\n`);
  const compared = Object.entries(found).filter(([id]) => Object.hasOwn(kept, id));
  for (const [id, body] of compared) expect(Object.keys(kept[id]), id).toEqual(Object.keys(body as object));
  expect(compared.length).toBeGreaterThan(60);
});
