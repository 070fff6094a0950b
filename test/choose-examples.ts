import { readFileSync } from "node:fs";
import type { RecordedResponse } from "./record-responses.ts";
import type { Operation } from "./security/operations.ts";
import { toResponseExample } from "./to-response-example.ts";

/** The name of an example: that of the operation, which `Accepted` follows for a response with 202. */
export function keyFor(operation: string, status: number): string {
  return status === 202 ? `${operation}Accepted` : operation;
}

/** For each operation, of the responses in the file: the shortest one that leaves the fewest fields empty. */
export function chooseExamples(file: string, operations: readonly Operation[]): Record<string, object> {
  const patterns = operations
    .map((operation) => ({ operation, pattern: patternOf(operation) }))
    // `/groups/join` is no group's id.
    .toSorted((one, other) => parametersIn(one.operation) - parametersIn(other.operation));
  const chosen: Record<string, object> = {};
  for (const line of readFileSync(file, "utf8").split("\n").filter(Boolean)) {
    const { method, path, status, body } = JSON.parse(line) as RecordedResponse;
    const { operation } =
      patterns.find((one) => one.operation.method === method && one.pattern.test(path)) ?? {};
    if (operation === undefined || operation.misfit(status, "application/json", body) !== undefined) continue;
    const key = keyFor(operation.id, status);
    const example = toResponseExample(body) as object;
    if (isBetter(example, chosen[key])) chosen[key] = example;
  }
  return chosen;
}

function patternOf({ path }: Operation): RegExp {
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`);
}

function parametersIn({ path }: Operation): number {
  return path.split("{").length;
}

function isBetter(one: object, other: object | undefined): boolean {
  if (other === undefined || emptyFieldsOf(one) < emptyFieldsOf(other)) return true;
  const isAsFull = emptyFieldsOf(one) === emptyFieldsOf(other);
  return isAsFull && JSON.stringify(one).length < JSON.stringify(other).length;
}

/** A list without a row shows less than a row without values. */
const EMPTY_LIST = 10;

function emptyFieldsOf(value: unknown): number {
  if (value === null || value === "") return 1;
  if (typeof value !== "object") return 0;
  const items = Object.values(value);
  if (Array.isArray(value) && items.length === 0) return EMPTY_LIST;
  return items.length === 0 ? 1 : items.reduce<number>((sum, item) => sum + emptyFieldsOf(item), 0);
}
