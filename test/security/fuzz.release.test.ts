import { expect, test } from "vitest";
import { classify, fuzzOperations } from "./fuzz.ts";
import { readOperations } from "./operations.ts";
import { isFullRun, printFigures } from "./run-size.ts";

const SEED = Number(process.env.WAYGATE_SECURITY_SEED ?? Date.now() % 1_000_000_000);
const REQUESTS = isFullRun ? 5_000 : 200;

test(`${REQUESTS} requests to the operations of openapi.json get valid responses and no 500 (seed ${SEED})`, {
  timeout: 1_800_000,
}, async () => {
  const { findings, ...figures } = await fuzzOperations({ requests: REQUESTS, seed: SEED });
  printFigures("Fuzzing", { ...figures, findings: findings.length });
  expect(findings).toEqual([]);
  // Most of the requests must get past the credentials, and some past the validation.
  expect(figures.statuses[200]).toBeGreaterThan(REQUESTS / 10);
});

test("fuzzing finds a response that violates its schema, an undescribed status, a status 500 and a missing response", () => {
  const operation = readOperations().find(({ id }) => id === "me");
  if (!operation) throw new Error("There is no operation me.");
  const type = "application/json";
  const refusal = { success: false, code: "ROUTE_NOT_FOUND", message: "No", error: "No", request_id: "1" };
  expect(classify(operation, { status: 404, type, body: refusal })).toBeUndefined();
  expect(classify(operation, { status: 401, type, body: { ...refusal, code: "AUTH_REQUIRED" } })).toBe(
    undefined,
  );
  expect(classify(operation, { status: 404, type, body: { ...refusal, code: "UNKNOWN" } })).toMatch(
    /does not fit/,
  );
  expect(classify(operation, { status: 404, type, body: { ...refusal, code: "NOT_FOUND" } })).toMatch(
    /404 NOT_FOUND is not in the document/,
  );
  expect(classify(operation, { status: 200, type, body: { success: true, message: "OK" } })).toMatch(
    /does not fit/,
  );
  expect(classify(operation, { status: 200, type: "text/html", body: "" })).toMatch(/not in the document/);
  expect(classify(operation, { status: 500, type, body: refusal })).toMatch(/status 500/);
  expect(classify(operation, { status: 0, type: "", body: "reset" })).toMatch(/no response/);
});
