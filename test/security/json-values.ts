import fc, { type Arbitrary } from "fast-check";
import { type OperationSchema, resolveSchema } from "./operations.ts";

/** Existing values by field name, such as instance ids. */
export type KnownValues = Readonly<Record<string, readonly unknown[]>>;

const MOST_DEPTH = 4;
const MOST_LETTERS = 300;
const MOST_ITEMS = 5;

export const HOSTILE_TEXTS = [
  "",
  " ",
  "\0",
  "a\0b",
  "\ud800",
  "\udfff\ud800",
  "👨‍👩‍👧‍👦".repeat(50),
  `e${"\u0301".repeat(500)}`,
  "\u202e\u2066\u200d",
  "x".repeat(5_000),
  "9".repeat(400),
  "-0",
  "1e309",
  "NaN",
  "0x7f000001",
  "__proto__",
  "constructor",
  "%00",
  "%",
  "%ff%fe",
  "../../../etc/passwd",
  "..%2f..%2f",
  "\r\nx-injected: 1\r\n\r\n",
  "'; drop table message; --",
  "\\' || true || '",
  "$1",
  "{{x}}",
  "$" + "{7*7}",
  "=cmd|' /C calc'!A0",
  "<script>alert(1)</script>",
  "data:,",
  "data:image/png;base64,",
  "http://127.0.0.1:1/x",
  "http://[::1]:1/",
  "file:///etc/passwd",
  "2026-02-30T25:61:61Z",
  "0001-01-01T00:00:00Z",
  "+275760-09-13T00:00:00.000Z",
  "AA",
  "////",
  "@s.whatsapp.net",
  "1@g.us",
];

const HOSTILE_VALUES = [
  null,
  true,
  0,
  -1,
  1.5,
  2 ** 31,
  2 ** 53,
  -(2 ** 63),
  1e308,
  [],
  {},
  [[[[[[]]]]]],
  [null],
  { "": "" },
  JSON.parse('{"__proto__":{"isAdmin":true},"constructor":{"prototype":{}}}'),
];

const hostileText = fc.oneof(
  fc.constantFrom(...HOSTILE_TEXTS),
  fc.string({ unit: "binary", maxLength: 100 }),
);
const hostile = fc.oneof(
  { weight: 3, arbitrary: hostileText as Arbitrary<unknown> },
  { weight: 2, arbitrary: fc.constantFrom(...HOSTILE_VALUES) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
);

/** A random value: often an existing one, mostly a valid one, sometimes a hostile one. */
export function fieldValue(
  name: string,
  schema: OperationSchema,
  known: KnownValues,
  depth = 0,
): Arbitrary<unknown> {
  const fitting = fittingValue(schema, known, depth);
  const there = known[name];
  const choices = [
    { weight: 7, arbitrary: fitting },
    { weight: 2, arbitrary: hostile },
  ];
  if (there === undefined) return fc.oneof(...choices);
  return fc.oneof({ weight: 16, arbitrary: fc.constantFrom(...there) }, ...choices);
}

/** Values that match the types and bounds of a schema. */
function fittingValue(schema: OperationSchema, known: KnownValues, depth: number): Arbitrary<unknown> {
  const { type, anyOf, oneOf, allOf, ...shape } = resolveSchema(schema);
  if ("const" in shape) return fc.constant(shape.const);
  if (shape.enum) return fc.constantFrom(...shape.enum);
  if (depth > MOST_DEPTH) return fc.constant(null);
  const choices = anyOf ?? oneOf;
  if (choices) return fc.oneof(...choices.map((one) => fittingValue({ ...shape, ...one }, known, depth + 1)));
  if (allOf) {
    return fc
      .tuple(...allOf.map((one) => fittingValue(one, known, depth + 1)))
      .map((parts) => Object.assign({}, ...parts));
  }
  switch (Array.isArray(type) ? type[0] : type) {
    case "string":
      return textOf(shape);
    case "integer":
      return fc.oneof(fc.integer(rangeOf(shape)), fc.constantFrom(...Object.values(rangeOf(shape))));
    case "number":
      return fc.double({ min: shape.minimum ?? -1e9, max: shape.maximum ?? 1e9, noNaN: true });
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    case "array":
      return fc.array(fieldValue("", shape.items ?? {}, known, depth + 1), {
        minLength: Math.min(shape.minItems ?? 0, MOST_ITEMS),
        maxLength: MOST_ITEMS,
      });
    case "object":
      return objectOf(shape, known, depth);
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

function objectOf(
  { properties = {}, required = [], additionalProperties }: OperationSchema,
  known: KnownValues,
  depth: number,
): Arbitrary<unknown> {
  const fields = Object.fromEntries(
    Object.entries(properties).map(([name, one]) => [name, fieldValue(name, one, known, depth + 1)]),
  );
  // Sometimes omits required fields.
  const shaped = fc.oneof(
    { weight: 9, arbitrary: fc.record(fields, { requiredKeys: required.filter((name) => name in fields) }) },
    { weight: 1, arbitrary: fc.record(fields, { requiredKeys: [] }) },
  );
  if (typeof additionalProperties !== "object") return shaped;
  const more = fc.dictionary(hostileText, fieldValue("", additionalProperties, known, depth + 1), {
    maxKeys: 3,
  });
  return fc.tuple(shaped, more).map(([one, other]) => ({ ...one, ...other }));
}

function textOf({ format, minLength = 0, maxLength = MOST_LETTERS }: OperationSchema): Arbitrary<string> {
  if (format === "date-time") return fc.date({ noInvalidDate: true }).map((date) => date.toISOString());
  if (format === "email") return fc.emailAddress();
  const length = {
    minLength: Math.min(minLength, MOST_LETTERS),
    maxLength: Math.min(maxLength, MOST_LETTERS),
  };
  return fc.oneof(
    fc.string({ ...length, unit: "grapheme" }),
    fc.string({ ...length, unit: fc.constantFrom(..."0123456789") }),
    fc.constant("x".repeat(Math.min(maxLength, 70_000))),
  );
}

function rangeOf({ minimum, maximum, exclusiveMinimum }: OperationSchema): { min: number; max: number } {
  const min = Math.max(
    minimum ?? -(2 ** 31),
    exclusiveMinimum === undefined ? -Infinity : exclusiveMinimum + 1,
  );
  return { min, max: Math.max(min, maximum ?? 2 ** 31) };
}
