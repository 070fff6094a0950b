import { execFile } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { promisify } from "node:util";
import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { describeApi } from "../scripts/openapi/describe-api.ts";
import { contract } from "../src/contract.ts";
import { EVENT_NAMES } from "../src/core/events/contract.ts";
import { DELIVERY_HEADERS } from "../src/core/webhooks/delivery/delivery-headers.ts";
import { packageVersion } from "../src/platform/package-version.ts";
import { ROOT } from "./source-files.ts";

const execFileAsync = promisify(execFile);
const committed = new URL("../openapi.json", import.meta.url);

test("the OpenAPI document of the whole contract is valid OpenAPI 3.1", async () => {
  const { valid, errors } = await new Validator().validate(structuredClone(describeApi()));
  expect(errors).toBeUndefined();
  expect(valid).toBe(true);
});

test("no two fields of a schema have the same name in camelCase, which generated clients give them", () => {
  const clashes = [...schemasIn(schemas, "")].flatMap(([at, { properties = {} }]) => {
    const names = Object.keys(properties as object).map((name) => name.replaceAll("_", "").toLowerCase());
    return new Set(names).size === names.length ? [] : [at];
  });
  expect(clashes).toEqual([]);
});

test("every route of the contract is one operation with its own method and path", () => {
  const addresses = Object.values(contract).map(({ http }) => http.replace(/:\w+/g, ":x"));
  expect(new Set(addresses).size).toBe(addresses.length);
  const paths = Object.values(describeApi().paths as Record<string, Record<string, { operationId: string }>>);
  const operations = paths.flatMap((path) => Object.values(path).map(({ operationId }) => operationId));
  expect(operations.toSorted()).toEqual(Object.keys(contract).toSorted());
});

test("every route has a description, and every field of a path is a field of its input", () => {
  for (const [name, { http, summary }] of Object.entries(contract)) {
    expect(summary.length, name).toBeGreaterThan(3);
    expect(http, name).toMatch(/^(GET|POST|PUT|PATCH|DELETE) \/[\w./:-]*$/);
  }
});

test("no reference forbids fields of the schema that it names", () => {
  const narrowed = [...JSON.stringify(describeApi()).matchAll(/\{[^{}]*"\$ref":[^{}]*\}/g)].filter(
    ([found]) => found.includes("additionalProperties"),
  );
  expect(narrowed.map(([found]) => found)).toEqual([]);
});

test("openapi.json matches the contract (else: npm run generate)", () => {
  expect(JSON.parse(readFileSync(committed, "utf8"))).toEqual(describeApi());
});

test("openapi.json has fewer than 680,000 bytes", () => {
  expect(statSync(committed).size).toBeLessThan(680_000);
});

test("the linter of OpenAPI documents finds no error and no warning", async () => {
  const bin = createRequire(import.meta.url).resolve("@redocly/cli/bin/cli.js");
  const env = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_NOTIFICATIONS: "true" };
  const { stdout } = await execFileAsync(process.execPath, [bin, "lint", "openapi.json", "--format=json"], {
    cwd: ROOT,
    env,
    maxBuffer: 100_000_000,
  }).catch((error: { stdout: string }) => error);
  const { totals, problems } = JSON.parse(stdout.slice(stdout.indexOf("{")));
  expect(problems).toEqual([]);
  expect(totals).toEqual({ errors: 0, warnings: 0, ignored: 0 });
});

test("every event of a webhook is described with its name, its headers and an example that fits", () => {
  const { webhooks } = document as unknown as {
    webhooks: Record<string, { post: Operation & { parameters: object[] } }>;
  };
  expect(Object.keys(webhooks).toSorted()).toEqual([...EVENT_NAMES].toSorted());
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ ...document, $id: "document" });
  for (const [event, { post }] of Object.entries(webhooks)) {
    const json = post.requestBody?.content["application/json"];
    const { $ref = "" } = (json?.schema ?? {}) as { $ref?: string };
    const validate = ajv.getSchema(`document${$ref}`);
    expect(validate?.(json?.example), `${event}: ${JSON.stringify(validate?.errors)}`).toBe(true);
    expect(validate?.({ ...(json?.example as object), event: "another.event" }), event).toBe(false);
    expect(post.parameters).toHaveLength(DELIVERY_HEADERS.length);
  }
});

interface Operation {
  operationId: string;
  summary: string;
  requestBody?: { content: Record<string, { schema: object; example?: unknown }> };
}

const document = describeApi();
const operations = Object.values(document.paths as Record<string, Record<string, Operation>>).flatMap(
  (path) => Object.values(path),
);

/** Every schema of the components with its path. */
function* schemasIn(node: unknown, at: string): Generator<[string, Record<string, unknown>]> {
  if (typeof node !== "object" || node === null) return;
  if (!Array.isArray(node)) yield [at, node as Record<string, unknown>];
  for (const [key, value] of Object.entries(node)) yield* schemasIn(value, `${at}/${key}`);
}

const { schemas } = document.components as { schemas: Record<string, object> };

test("no time of the document has a pattern besides its format", () => {
  const times = [...schemasIn(document, "")].filter(([, { format }]) => format === "date-time");
  expect(times.filter(([, { pattern }]) => pattern !== undefined)).toEqual([]);
  expect(times.length).toBeGreaterThan(100);
});

test("every JSON body has an example that fits its schema", () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ ...document, $id: "document" });
  const wrong: string[] = [];
  let bodies = 0;
  for (const { operationId, requestBody } of operations) {
    const json = requestBody?.content["application/json"];
    if (!json) continue;
    bodies += 1;
    const absolute = JSON.parse(JSON.stringify(json.schema).replaceAll('"#/', '"document#/'));
    if (json.example === undefined || !ajv.validate(absolute, json.example))
      wrong.push(`${operationId}: ${JSON.stringify(json.example)} ${ajv.errorsText()}`);
  }
  expect(wrong).toEqual([]);
  expect(bodies).toBeGreaterThan(70);
});

test("every recorded example of a response fits the schema that it stands in", () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ ...document, $id: "document" });
  const wrong = Object.entries(schemas).flatMap(
    ([name, { examples = [] }]: [string, { examples?: unknown[] }]) => {
      const validate = ajv.getSchema(`document#/components/schemas/${name}`);
      return examples
        .filter((example) => !validate?.(example))
        .map(() => `${name}: ${ajv.errorsText(validate?.errors)}`);
    },
  );
  expect(wrong).toEqual([]);
  const illustrated = Object.values(schemas).filter((schema) => "examples" in schema);
  expect(illustrated.length).toBeGreaterThan(45);
});

test("the example of a change request changes at least one field", () => {
  const paths = Object.values(document.paths as Record<string, Record<string, Operation>>);
  const changes = paths.flatMap(({ patch, put }) => [patch ?? [], put ?? []].flat());
  const empty = changes.filter(({ requestBody }) => {
    const { example } = requestBody?.content["application/json"] ?? {};
    return JSON.stringify(example) === "{}";
  });
  expect(changes.length).toBeGreaterThan(5);
  expect(empty.map(({ operationId }) => operationId)).toEqual([]);
});

test("summaries are plain text, since tools show them unrendered", () => {
  expect(operations.map(({ summary }) => summary).filter((summary) => summary.includes("`"))).toEqual([]);
});

test("package, OpenAPI document, chart and lock file have the same version", () => {
  const read = (path: string) => readFileSync(`${ROOT}/${path}`, "utf8");
  const chart = read("deploy/helm/Chart.yaml");
  expect([
    (document.info as { version: string }).version,
    JSON.parse(read("package-lock.json")).packages[""].version,
    /^version: (\S+)$/m.exec(chart)?.[1],
    /^appVersion: "(\S+)"$/m.exec(chart)?.[1],
  ]).toEqual(Array(4).fill(packageVersion()));
});
