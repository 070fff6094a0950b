import { z } from "zod";
import { explainUnknownName } from "./explain-unknown-name.ts";

type RawIssue = z.core.$ZodRawIssue;
type Schema = z.core.$ZodType;

/** What a field accepts, without "must be". */
type Describe = (schema: Schema) => string[];

const FLAG = "true or false";

const FORMATS: Readonly<Record<string, string>> = {
  url: "must be a URL",
  email: "must be an e-mail address",
  datetime: "must be a time in ISO 8601, such as 2026-01-31T12:00:00Z",
  date: "must be a date such as 2026-01-31",
  base64url: "must be base64url without padding",
};

/**
 * A body may have hundreds of thousands of issues, but an error names 50, and a union describes each branch.
 */
const MAX_DESCRIBED = 10_000;
/** A longer name is not compared. */
const LONGEST_NAME = 100;

/** Describes the issues of one parse, if a schema has no message of its own. */
export function createIssueDescriber(): (issue: RawIssue) => string {
  let described = 0;
  return (issue) => (++described > MAX_DESCRIBED ? "is not valid" : describeIssue(issue));
}

function describeIssue(issue: RawIssue): string {
  // A check, such as a maximum, is attached to the schema that it belongs to.
  const schema = (issue.schema ?? issue.inst) as Schema | undefined;
  if (issue.code === "too_small" || issue.code === "too_big") return describeSize(issue, schema);
  if (issue.code === "invalid_format") return FORMATS[issue.format] ?? "has the wrong format";
  if (issue.code === "unrecognized_keys") return describeUnknownField(issue.keys, schema);
  if (issue.code === "invalid_key") return "has a name that is not allowed";
  if (issue.code === "not_multiple_of") return `must be a multiple of ${issue.divisor}`;
  return schema === undefined ? "is not valid" : mustBe(schema);
}

/** Of the first one, which is the field of the issue. */
function describeUnknownField([field = ""]: readonly string[], schema?: Schema): string {
  const { shape = {} } = (schema as z.ZodObject | undefined) ?? {};
  const known = { one: "a field here", all: "Fields", names: Object.keys(shape) };
  return explainUnknownName(field.slice(0, LONGEST_NAME), known);
}

/** Texts accepted as booleans. */
const FLAG_WORDS = ["true", "false", "1", "0"];

function mustBe(schema: Schema): string {
  const descriptions = [...new Set(describe(schema))];
  const expected = descriptions.includes(FLAG)
    ? descriptions.filter((description) => !FLAG_WORDS.includes(description))
    : descriptions;
  if (expected.length === 0) return "is not valid";
  return `must be ${orList(expected)}`;
}

function orList(descriptions: readonly string[]): string {
  return descriptions.length < 2
    ? descriptions.join()
    : `${descriptions.slice(0, -1).join(", ")} or ${descriptions.at(-1)}`;
}

function describeSize(issue: RawIssue & { code: "too_small" | "too_big" }, schema?: Schema): string {
  const limit = Number(issue.code === "too_big" ? issue.maximum : issue.minimum);
  if (issue.origin === "string") {
    if (issue.code === "too_big") return `is longer than ${limit} characters`;
    return limit === 1 ? "must not be empty" : `must have at least ${limit} characters`;
  }
  if (issue.origin === "number" || issue.origin === "int") return describeRange(schema, issue.code, limit);
  if (issue.code === "too_big") return `must have at most ${limit} entries`;
  return limit === 1 ? "must not be empty" : `must have at least ${limit} entries`;
}

function describeRange(schema: Schema | undefined, code: string, limit: number): string {
  if (!schema) return code === "too_big" ? `must be at most ${limit}` : `must be at least ${limit}`;
  const { isWhole, least, most } = limitsOf(schema);
  if (!isWhole && least !== undefined && most !== undefined) return `must be between ${least} and ${most}`;
  return mustBe(schema);
}

/** By the kind of a schema. Any other kind wraps a schema or has no description. */
const KINDS: Readonly<Record<string, Describe>> = {
  string: () => ["text"],
  number: (schema) => [describeNumber(schema)],
  boolean: () => [FLAG],
  date: () => ["a time"],
  array: () => ["a list"],
  object: () => ["an object"],
  record: () => ["an object"],
  null: () => ["null"],
  enum: (schema) => (schema as z.ZodEnum).options.map(String),
  literal: (schema) =>
    [...(schema as z.ZodLiteral).values].map((value) => (value === "" ? "empty" : `${value}`)),
  union: (schema) => (schema as z.ZodUnion).options.flatMap((option) => describe(option)),
  pipe: (schema) => describePipe((schema as z.ZodPipe)._zod.def),
};

function describe(schema: Schema): string[] {
  const { type, innerType } = schema._zod.def as { type: string; innerType?: Schema };
  return KINDS[type]?.(schema) ?? (innerType ? describe(innerType) : []);
}

/** The output schema describes the value better, unless it is a transformation. */
function describePipe({ in: before, out: after }: { in: Schema; out: Schema }): string[] {
  const descriptions = describe(after);
  return descriptions.length > 0 ? descriptions : describe(before);
}

function describeNumber(schema: Schema): string {
  const { isWhole, least, most } = limitsOf(schema);
  const kind = isWhole ? "a whole number" : "a number";
  if (least !== undefined && most !== undefined) return `${kind} from ${least} to ${most}`;
  if (least !== undefined) return `${kind} of at least ${least}`;
  return most === undefined ? kind : `${kind} of at most ${most}`;
}

interface Limits {
  isWhole: boolean;
  least?: number | undefined;
  most?: number | undefined;
}

/** Building a JSON Schema is slower than checking a value, so each schema is read once. */
const knownLimits = new WeakMap<Schema, Limits>();

function limitsOf(schema: Schema): Limits {
  const limits = knownLimits.get(schema) ?? readLimits(schema);
  knownLimits.set(schema, limits);
  return limits;
}

function readLimits(schema: Schema): Limits {
  const described = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  const { type, minimum, exclusiveMinimum, maximum, exclusiveMaximum } = described;
  const isWhole = type === "integer";
  const step = isWhole ? 1 : 0;
  const least = minimum ?? (exclusiveMinimum === undefined ? undefined : Number(exclusiveMinimum) + step);
  const most = maximum ?? (exclusiveMaximum === undefined ? undefined : Number(exclusiveMaximum) - step);
  return { isWhole, least: real(least), most: real(most) };
}

/** Omits the safe-integer bounds, which are no rule of a field. */
function real(limit: number | undefined): number | undefined {
  return limit !== undefined && Math.abs(limit) < Number.MAX_SAFE_INTEGER ? limit : undefined;
}
