import type { z } from "zod";
import { readPath, resolveAliases } from "./aliases.ts";
import { cleanJson } from "./clean-text.ts";
import { GatewayError } from "./errors.ts";
import type { InputOf, Route } from "./route.ts";

const MAX_FIELDS = 50;
/** Of the name of a field in an answer, and of what is wrong with it. */
const MAX_CHARACTERS = 300;
const IDEMPOTENCY_KEY = /^(?:"([\x21-\x7e]{1,255})"|([\x21-\x7e]{1,255}))$/;

export interface RequestParts {
  path: Readonly<Record<string, unknown>>;
  query: Readonly<Record<string, unknown>>;
  body: unknown;
}

/**
 * Path, query and body of a request as the route's input; `convert` runs after the aliases and before the check. Throws VALIDATION_ERROR with the fields that are wrong.
 */
export function readInput<R extends Route>(
  route: R,
  parts: RequestParts,
  convert: (fields: Record<string, unknown>) => Record<string, unknown> = (fields) => fields,
): InputOf<R> {
  const given = convert(resolveAliases(cleanJson(collect(route, parts)), route.aliases));
  const input = { ...given, ...cleanJson(parts.path) };
  const parsed = route.input.safeParse(input);
  if (parsed.success) return parsed.data as InputOf<R>;
  throw invalidInput(parsed.error.issues, input);
}

function collect(route: Route, { query, body }: RequestParts): Record<string, unknown> {
  if (route.http.startsWith("GET ")) return { ...query };
  const fields = body === undefined ? {} : body;
  if (typeof fields !== "object" || fields === null || Array.isArray(fields)) {
    throw new GatewayError("VALIDATION_ERROR", "The body must be a JSON object.");
  }
  return route.http.startsWith("DELETE ") ? { ...query, ...fields } : { ...fields };
}

function invalidInput(issues: readonly z.core.$ZodIssue[], input: unknown): GatewayError {
  const fields = issues
    .flatMap((issue) => flatten(issue))
    .slice(0, MAX_FIELDS)
    .map(({ path, message }) => describeIssue(path.map(String).join("."), message, input));
  const [first] = fields;
  const sentence = first?.field
    ? `${first.field}: ${first.issue}`
    : (first?.issue ?? "The request is not valid.");
  return new GatewayError("VALIDATION_ERROR", sentence, { details: { fields } });
}

function describeIssue(field: string, message: string, input: unknown): { field: string; issue: string } {
  const isAbsent =
    field !== "" && readPath(input, field) === undefined && message.includes("received undefined");
  // The key of a map is the caller's own, and may be as long as the body.
  return {
    field: field.slice(0, MAX_CHARACTERS),
    issue: isAbsent ? "is required" : message.slice(0, MAX_CHARACTERS),
  };
}

/** A union says only that nothing fitted; the branch with the fewest faults inside its fields says what is wrong. */
function flatten(issue: z.core.$ZodIssue): { path: PropertyKey[]; message: string }[] {
  if (issue.code !== "invalid_union") return [issue];
  const branches = issue.errors.filter((branch) => branch.every(({ path }) => path.length > 0));
  const [nearest] = branches.toSorted((a, b) => a.length - b.length);
  if (!nearest || nearest.length === 0) return [issue];
  return nearest.flatMap(flatten).map(({ path, message }) => ({ path: [...issue.path, ...path], message }));
}

/** The `Idempotency-Key` header, with or without the quotes of the draft. Throws VALIDATION_ERROR when malformed. */
export function readIdempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  const found = IDEMPOTENCY_KEY.exec(String(header).trim());
  const key = found?.[1] ?? found?.[2];
  if (key !== undefined) return key;
  const issue = "must be 1 to 255 visible ASCII characters";
  throw new GatewayError("VALIDATION_ERROR", `Idempotency-Key: ${issue}`, {
    details: { fields: [{ field: "Idempotency-Key", issue }] },
  });
}
