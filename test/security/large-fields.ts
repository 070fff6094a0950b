import { type Asked, wholeRequest } from "./bad-requests.ts";
import type { FuzzTenant } from "./fuzz-target.ts";
import { type Operation, type OperationSchema, resolveSchema } from "./operations.ts";

const LONG_TEXT = 1_000;
/** The maximum number of variables of a recipient. */
const NAMES = 49;

/** Fields of a body with a list, a map or a long text. */
export function largeFields({ body }: Operation): [string, OperationSchema][] {
  return Object.entries(body?.properties ?? {}).flatMap(([name, schema]) => {
    const found = formsOf(schema).find(
      ({ type, maxLength = 0, additionalProperties }) =>
        type === "array" ||
        typeof additionalProperties === "object" ||
        (type === "string" && maxLength >= LONG_TEXT),
    );
    return found ? [[name, found] as [string, OperationSchema]] : [];
  });
}

/** The documented example with all large fields at this size. */
export function largeRequest(operation: Operation, tenant: FuzzTenant, n: number): Asked {
  const whole = wholeRequest(operation, tenant.knownFor(operation));
  const large = largeFields(operation).map(([name, schema]) => {
    const value = enlarged(schema, n);
    // Another instance would be refused first.
    const isOfInstances = name === "instance_ids" && Array.isArray(value);
    return [name, isOfInstances ? value.map(() => tenant.instance) : value];
  });
  return { ...whole, body: { ...(whole.body as object), ...Object.fromEntries(large) } };
}

function formsOf(schema: OperationSchema): OperationSchema[] {
  const own = resolveSchema(schema);
  return [own, ...[...(own.anyOf ?? []), ...(own.oneOf ?? [])].flatMap(formsOf)];
}

function enlarged(schema: OperationSchema, n: number): unknown {
  const { type, items, maxItems = n, maxLength = n } = schema;
  if (type === "array") return Array.from({ length: Math.min(n, maxItems) }, (_, at) => itemOf(items, at));
  if (type === "string") return "{{name}} @551199 =1; ".repeat(n).slice(0, Math.min(20 * n, maxLength));
  return namesOf(n);
}

function itemOf(items: OperationSchema | undefined, at: number): unknown {
  const [form] = formsOf(items ?? {}).filter(({ type }) => type !== undefined);
  const phone = `55119${70_000_000 + at}`;
  if (form?.enum) return form.enum[at % form.enum.length];
  if (form?.type === "integer") return at + 1;
  // Untyped items are recipients: a phone, or a phone with variables.
  return form || at % 2 === 0 ? phone : { phone, variables: namesOf(NAMES) };
}

function namesOf(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, "x".repeat(20)]));
}
