import type { z } from "zod";
import { GatewayError } from "../../gateway-error.ts";
import { type FieldIssue, valueIssue } from "../../issue-codes.ts";
import { issueReasonOf } from "./issue-reason-of.ts";
import { readPath } from "./read-path.ts";

const MAX_FIELDS = 50;
/** Longest field name and longest issue in a response. */
export const MAX_NAME = 300;
const MAX_ISSUE = 1500;

/** The error for issues that a schema found: one sentence per field. */
export function invalidInput(issues: readonly z.core.$ZodIssue[], input: unknown): GatewayError {
  const faults = issues
    .slice(0, MAX_FIELDS)
    .flatMap((issue) => flatten(issue))
    .slice(0, MAX_FIELDS)
    .map((fault) => describeFault(fault, input));
  const fields = faults.filter((one, at) => faults.findIndex(({ field }) => field === one.field) === at);
  const [first] = fields;
  const sentence = first?.field
    ? `${first.field}: ${first.issue}`
    : (first?.issue ?? "The request is not valid.");
  return new GatewayError("VALIDATION_ERROR", sentence, { details: { fields } });
}

type Fault = z.core.$ZodIssue;

function describeFault(fault: Fault, input: unknown): FieldIssue {
  const { path, code, message } = fault;
  const field = path.map(String).join(".");
  // A rule over several fields may name an absent one, and the name of an unknown field may have dots.
  const isAbsent =
    !/^(?:custom|unrecognized_keys)$/.test(code) && field !== "" && readPath(input, field) === undefined;
  // The caller chooses the key of a map, which may be as long as the body.
  const { issue, ...reason } = isAbsent
    ? valueIssue("is required", "missing")
    : { ...issueReasonOf(fault), issue: message.slice(0, MAX_ISSUE) };
  return { field: field.slice(0, MAX_NAME), ...reason, issue };
}

/**
 * A union reports only that no branch matched; the branch with the fewest issues in its fields explains why.
 */
function flatten(issue: z.core.$ZodIssue): Fault[] {
  if (issue.code === "invalid_key") return issue.issues.map(({ message }) => ({ ...issue, message }));
  if (issue.code === "unrecognized_keys") return [{ ...issue, path: [...issue.path, issue.keys[0] ?? ""] }];
  if (issue.code !== "invalid_union") return [issue];
  const branches = issue.errors.filter((branch) => branch.every(({ path }) => path.length > 0));
  const [nearest] = branches.toSorted((a, b) => a.length - b.length);
  if (!nearest || nearest.length === 0) return [issue];
  return nearest.flatMap(flatten).map((fault) => ({ ...fault, path: [...issue.path, ...fault.path] }));
}
