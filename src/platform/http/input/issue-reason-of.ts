import type { z } from "zod";
import { ISSUE_CODES, type IssueReason } from "../../issue-codes.ts";

type Issue = z.core.$ZodIssue;

const FORMATS: Readonly<Record<string, IssueReason["code"]>> = {
  url: "not_a_url",
  email: "not_an_email",
  datetime: "not_a_time",
  date: "not_a_date",
};

/** Our names of the types of a schema. */
const TYPES: Readonly<Record<string, string>> = {
  string: "text",
  array: "list",
  record: "object",
  nan: "number",
};

/** Longest list of values in a reason. */
const MOST_VALUES = 1000;

/** The code of what a schema found, and the values of its rule. */
export function issueReasonOf(issue: Issue): IssueReason {
  switch (issue.code) {
    case "invalid_type":
      return reasonOfType(issue.expected);
    case "invalid_value":
      return { code: "unknown_value", params: { values: listed(issue.values) } };
    case "too_small":
    case "too_big":
      return reasonOfSize(issue);
    case "invalid_format":
      return { code: FORMATS[issue.format] ?? "wrong_format", params: {} };
    case "unrecognized_keys":
      return { code: "unknown_field", params: {} };
    case "invalid_key":
      return issue.issues[0] ? issueReasonOf(issue.issues[0]) : { code: "wrong_format", params: {} };
    case "invalid_union":
      return reasonOfUnion(issue);
    case "custom":
      return readReason(issue.params);
    default:
      return { code: "invalid", params: {} };
  }
}

function reasonOfType(expected: string): IssueReason {
  if (expected === "int") return { code: "not_whole", params: {} };
  return { code: "wrong_type", params: { expected: TYPES[expected] ?? expected } };
}

function reasonOfSize(issue: Extract<Issue, { code: "too_small" | "too_big" }>): IssueReason {
  const { origin } = issue;
  const isText = origin === "string";
  const isNumber = /^(?:number|int|bigint|date)$/.test(origin);
  if (issue.code === "too_big") {
    const params = { max: Number(issue.maximum) };
    return { code: isText ? "too_long" : isNumber ? "too_high" : "too_many", params };
  }
  const params = { min: Number(issue.minimum) };
  if (isNumber) return { code: "too_low", params };
  if (params.min === 1) return { code: "empty", params: {} };
  return { code: isText ? "too_short" : "too_few", params };
}

/** The types and values of its branches: all of them refuse the value itself. */
function reasonOfUnion({ errors }: Extract<Issue, { code: "invalid_union" }>): IssueReason {
  const branches = errors.flatMap(([first]) => (first ? [issueReasonOf(first)] : []));
  const [only] = branches;
  if (only && branches.length === 1) return only;
  const values = branches.flatMap(({ params }) => params.values ?? []);
  if (values.length > 0 && values.length === branches.length)
    return { code: "unknown_value", params: { values: listed(values) } };
  const types = branches.flatMap(({ params }) => params.expected ?? params.values ?? []);
  if (types.length === 0) return { code: "wrong_format", params: {} };
  return { code: "wrong_type", params: { expected: listed(types) } };
}

function listed(values: readonly unknown[]): string {
  return [...new Set(values.map(String))].join(", ").slice(0, MOST_VALUES);
}

/** Of a rule of our own, which names its reason: `rule` of the issue codes. */
function readReason({ code, params }: Partial<IssueReason> = {}): IssueReason {
  return code !== undefined && Object.hasOwn(ISSUE_CODES, code)
    ? { code, params: params ?? {} }
    : { code: "invalid", params: {} };
}
