import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isInProportion } from "../cpu-time.ts";
import { buildDist } from "../run/build-dist.ts";
import { type Asked, addressOf, routeOf, wholeRequest } from "./bad-requests.ts";
import { credentialsFor } from "./fuzz-target.ts";
import { largeFields, largeRequest } from "./large-fields.ts";
import { type Operation, readOperations } from "./operations.ts";
import { type AttackCost, type AttackedGateway, startAttackedGateway } from "./product-attacks.ts";
import { printFigures } from "./run-size.ts";

const JSON_BODY_BYTES = 1_048_576;
const MOST_ITEMS = 65_536;
/** Limits of a response, and of memory: its body several times as bytes, text and values. */
const MOST_RESPONSE_MB = 2;
const MOST_RISE_MB = 400;
/** Smaller costs are noise. */
const LEAST_MS = 100;
const TRIES = 4;

const OPERATIONS = readOperations().filter((one) => largeFields(one).length > 0);
const TABLES = readOperations().filter((one) => routeOf(one).uploadTypes?.includes("text/csv"));
const figures: AttackCost[] = [];
let gateway: AttackedGateway;

beforeAll(buildDist);
beforeAll(async () => {
  gateway = await startAttackedGateway();
});
afterAll(async () => {
  await gateway.end();
  printFigures(
    "Requests at their limits",
    figures.toSorted((a, b) => b.processor_ms - a.processor_ms).slice(0, 10),
  );
});

/** The largest power of two that is accepted, or beyond which no field grows. */
function largestSize(operation: Operation): number {
  const { bodyLimitBytes = JSON_BODY_BYTES } = routeOf(operation);
  const lengthOf = (n: number) => JSON.stringify(largeRequest(operation, gateway.tenant, n).body).length;
  let n = 64;
  while (n < MOST_ITEMS && lengthOf(2 * n) < bodyLimitBytes && lengthOf(2 * n) > lengthOf(n)) n *= 2;
  return n;
}

async function ask(operation: Operation, asked: Asked): Promise<AttackCost> {
  const [method, path] = addressOf(operation, asked).split(" ");
  const isTable = typeof asked.body === "string";
  const cost = await gateway.attack(operation.id, [
    () =>
      fetch(`${gateway.url}${path}`, {
        method,
        headers: {
          ...credentialsFor(operation, gateway.tenant, 0),
          "content-type": isTable ? "text/csv" : "application/json",
        },
        body: isTable ? (asked.body as string) : JSON.stringify(asked.body),
      }),
  ]);
  figures.push(cost);
  return cost;
}

/** How long the gateway blocked its own loop, without delays by other programs. */
function blockOf({ longest_loop_delay_ms, processor_ms }: AttackCost): number {
  return Math.min(longest_loop_delay_ms, processor_ms);
}

/** Problems that no try may have. */
function findProblems({ statuses, response_mb, reads, keeps_lanes }: AttackCost): string[] {
  const problems: string[] = [];
  if (Object.keys(statuses).some((status) => Number(status) >= 500)) problems.push(JSON.stringify(statuses));
  if (Object.keys(reads).join() !== "200") problems.push(`another tenant got ${JSON.stringify(reads)}`);
  if (response_mb > MOST_RESPONSE_MB) problems.push(`a response of ${response_mb} MB`);
  if (!keeps_lanes) problems.push("a session changed its node");
  return problems;
}

/** Problems that a busy machine may cause once, and a real product each time. */
function costFaultsOf(small: AttackCost, large: AttackCost): string[] {
  const problems: string[] = [];
  for (const { memory_before_mb, memory_most_mb } of [small, large])
    if (memory_most_mb - memory_before_mb > MOST_RISE_MB) problems.push(`memory of ${memory_most_mb} MB`);
  if (!isInProportion(small.processor_ms, large.processor_ms, LEAST_MS))
    problems.push(`${small.processor_ms} ms became ${large.processor_ms} ms`);
  if (!isInProportion(blockOf(small), blockOf(large), LEAST_MS))
    problems.push(`a block of ${blockOf(small)} ms became ${blockOf(large)} ms`);
  return problems;
}

async function growthFaults(operation: Operation, few: Asked, many: Asked): Promise<string[]> {
  const problems: string[] = [];
  let costFaults: string[] = [];
  for (let nth = 0; nth < TRIES; nth++) {
    const [small, large] = [await ask(operation, few), await ask(operation, many)];
    problems.push(...findProblems(small), ...findProblems(large));
    costFaults = costFaultsOf(small, large);
    if (costFaults.length === 0) break;
  }
  return [...problems, ...costFaults];
}

describe("a request with each list, map and text at the limit", () => {
  test.each(OPERATIONS.map((operation) => [operation.id, operation] as const))(
    "costs as much as four of a quarter, while another tenant reads: %s",
    async (_id, operation) => {
      const n = largestSize(operation);
      const request = (size: number) => largeRequest(operation, gateway.tenant, size);
      expect(await growthFaults(operation, request(n / 4), request(n))).toEqual([]);
    },
  );

  test("is accepted by many routes, so that it does its work", () => {
    const accepted = figures.filter(({ statuses }) =>
      Object.keys(statuses).every((one) => Number(one) < 300),
    );
    expect(new Set(accepted.map(({ attack }) => attack)).size).toBeGreaterThan(15);
  });
});

test("six pages at once of 200 leads with as many fields as allowed take little memory, and another tenant reads", async () => {
  const headers = { authorization: `Bearer ${gateway.tenant.token}`, "content-type": "application/json" };
  const at = `${gateway.url}/api/leads`;
  const fields = Array.from({ length: 100 }, (_, n) => [`f${n}`, "字".repeat(2_000)]);
  const body = JSON.stringify({ name: "Large", custom_fields: Object.fromEntries(fields) });
  for (let n = 0; n < 200; n++) expect((await fetch(at, { method: "POST", headers, body })).status).toBe(200);
  const cost = await gateway.attack(
    "6 pages of 200 leads of 600 KB",
    Array.from({ length: 6 }, () => () => fetch(`${at}?limit=200`, { headers })),
  );
  figures.push(cost);
  expect([cost.statuses, Object.keys(cost.reads), cost.keeps_lanes]).toEqual([{ 200: 6 }, ["200"], true]);
  expect(cost.memory_most_mb - cost.memory_before_mb).toBeLessThan(MOST_RISE_MB);
});

const VCARD = "BEGIN:VCARD\nTEL:5511987654321\nEND:VCARD\n";

const tableOf = (rows: number) =>
  ["phone", ...Array.from({ length: rows }, (_, at) => String(5_511_930_000_000 + at))]
    .map((cell) => cell + ",".repeat(127))
    .join("\n");
const namesOf = (columns: number) =>
  `phone,${Array.from({ length: columns }, (_, at) => `c${at}${"각".repeat(500)}`).join()}\n1\n`;

describe.each<[string, number, (size: number) => string]>([
  ["as many rows as allowed and 128 columns", 10_000, tableOf],
  ["127 long names of columns", 124, namesOf],
  ["line breaks between two vCards", 16_000_000, (size) => VCARD + "\n".repeat(size) + VCARD],
  [
    "vCards of soft breaks",
    400,
    (size) => `BEGIN:VCARD\nFN;QUOTED-PRINTABLE:${"a=\n".repeat(20_000)}\n`.repeat(size),
  ],
])("a table with %s", (_what, size, fileOf) => {
  test.each(TABLES.map((operation) => [operation.id, operation] as const))(
    "costs as much as four of a quarter, while another tenant reads: %s",
    async (_id, operation) => {
      const { path } = wholeRequest(operation, gateway.tenant.knownFor(operation));
      const asked = (size: number) => ({ path, query: {}, body: fileOf(size) });
      expect(await growthFaults(operation, asked(size / 4), asked(size))).toEqual([]);
    },
  );
});
