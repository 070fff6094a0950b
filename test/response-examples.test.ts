import { afterAll, beforeAll, expect, test } from "vitest";
import type { JsonSchema } from "../scripts/n8n/n8n-fields.ts";
import { readOpenApiFile } from "../src/platform/openapi/openapi-file.ts";
import { updateDescription } from "./documents/event-examples.ts";
import { createHttpRequester } from "./http-requester.ts";
import { credentialsFor, type FuzzTarget, startFuzzTarget } from "./security/fuzz-target.ts";
import type { KnownValues } from "./security/json-values.ts";
import { type Operation, readOperations } from "./security/operations.ts";

const TEXTS: readonly [RegExp, string][] = [
  [/^\d{4}-\d\d-\d\dT[\d:.]+Z$/, "2026-11-20T12:00:00.000Z"],
  [/^evt_[0-9A-Z]{26}$/, "evt_01M7VZ7A9ZBG8NWRNYBYXP4FZP"],
  [/^req_\w+$/, "req_01M7VZ7A9ZBG8NWRNYBYXP4FZP"],
  [/^wg_\w+$/, "wg_8fJ2mQ7vXc4RtY9wLp3ZsB6nHd1KgA5e"],
  [/^whsec_.+$/, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
  [/^eyJ[\w.-]+$/, "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9..."],
  [/^3EB0[0-9A-F]+$/, "3EB0C431D2A5F96B7E8812"],
  [/^med_\w{32}$/, "med_9f8f3b1c6d5e4a7b8c9d0e1f2a3b4c5d"],
  [/^data:image\/png;base64,.+$/, "data:image/png;base64,iVBORw0KGgo..."],
];
const IN_TEXTS: readonly [RegExp, string][] = [
  [/http:\/\/(127\.0\.0\.1|localhost):\d+/g, "https://waygate.example.com"],
  [/med_\w{32}/g, "med_9f8f3b1c6d5e4a7b8c9d0e1f2a3b4c5d"],
  [/\b5511\d{9}\b/g, "5511999990004"],
  [/\b\d{17}@lid\b/g, "05192188843550921@lid"],
  [/\b120363\d{12}@g\.us\b/g, "120363041234567890@g.us"],
  [/\b(boss|agent|spare)@tenant\d+\.example\b/g, "$1@example.com"],
  [/\btenant\d+\b/g, "Sales"],
];
const LONGEST = 160;
/** An object with more counts lists tables, not response fields. */
const MOST_COUNTS = 20;

/**
 * A recorded body for the documents: one row of each list, a few of many counts, without values that change in each
 * run and without camelCase duplicates.
 */
function toResponseExample(body: unknown): unknown {
  if (Array.isArray(body)) return body.slice(0, 1).map(toResponseExample);
  if (typeof body === "string") return toStableText(body);
  if (typeof body !== "object" || body === null) return body;
  const toCamel = (name: string) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  const respelled = new Set(
    Object.keys(body)
      .filter((name) => name.includes("_"))
      .map(toCamel),
  );
  const entries = Object.entries(body).filter(([name]) => !respelled.has(name));
  const isCounts = entries.length > MOST_COUNTS && entries.every(([, value]) => typeof value === "number");
  const shown = isCounts ? entries.toSorted(([, one], [, other]) => other - one).slice(0, 3) : entries;
  return Object.fromEntries(shown.map(([key, value]) => [key, toResponseExample(value)]));
}

function toStableText(text: string): string {
  const [, stable] = TEXTS.find(([pattern]) => pattern.test(text)) ?? [];
  if (stable !== undefined) return stable;
  const replaced = IN_TEXTS.reduce((found, [pattern, other]) => found.replace(pattern, other), text);
  return replaced.length > LONGEST ? `${replaced.slice(0, LONGEST)}...` : replaced;
}

/** Name of the component that a reference names. */
function componentOf({ $ref }: JsonSchema): string | undefined {
  return typeof $ref === "string" ? $ref.replace("#/components/schemas/", "") : undefined;
}

/** The component that the example belongs to: of the response's data, or of a list's first row. */
function describedPart(
  schema: JsonSchema,
  body: unknown,
  schemas: Readonly<Record<string, JsonSchema>>,
): { name: string; value: unknown } | undefined {
  const name = componentOf(schema);
  if (name === undefined) return undefined;
  const data = schemas[name]?.properties?.data;
  const value = (body as { data?: unknown }).data;
  const part = data && componentOf(data);
  if (part !== undefined) return { name: part, value };
  const row = data?.type === "array" ? componentOf(data.items as JsonSchema) : undefined;
  if (row === undefined) return { name, value: body };
  return Array.isArray(value) && value.length > 0 ? { name: row, value: value[0] } : undefined;
}

interface DescribedOperation {
  operationId: string;
  requestBody?: { content: Record<string, { example?: object }> };
  responses: Record<string, { content?: Record<string, { schema: JsonSchema }> }>;
}

/**
 * Documents, exports and overviews with long examples, because the description's size is limited, and three that no
 * test can record.
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

/** Whether the schema or that of its data has an example. */
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
 * `UPDATE_EXAMPLES=1 npx vitest run test/response-examples.test.ts` records the examples from the responses to each
 * example request. Write others into openapi.json, where they stay.
 */
if (process.env.UPDATE_EXAMPLES === "1") recordExamples();

function recordExamples(): void {
  let target: FuzzTarget;
  beforeAll(async () => {
    target = await startFuzzTarget();
  });
  afterAll(() => target?.stop());

  test("the examples of openapi.json are what the gateway responds to the example of each request", async () => {
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
}

/** Last, because other operations name the deleted rows. */
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

/** A body with ids of existing rows, messages and chats. */
function withRows(body: object | undefined, known: KnownValues): object | undefined {
  const entries = Object.entries(body ?? {}).map(([key, value]) => {
    const isRow = /(_id|^jid|_jid)$/.test(key) && known[key]?.[0] !== undefined;
    return [key, isRow ? known[key]?.[0] : value];
  });
  return body && Object.fromEntries(entries);
}
