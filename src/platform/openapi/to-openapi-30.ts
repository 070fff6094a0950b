import type { JsonSchema } from "./json-schema.ts";

type Json = Record<string, unknown>;
type Document = Json & { info: Json; tags: readonly { name: string }[]; components: Json };

const REFERENCE = /^#\/components\/(\w+)\/(.+)$/;

/**
 * The same API in OpenAPI 3.0.3, for generators that read no later version. That version has no webhooks: of them, the
 * schemas of the events stay, for a receiver.
 */
export function toOpenApi30(document: Json): Json {
  const { webhooks = {}, components, info, tags, ...rest } = document as Document;
  const { license, ...about } = info;
  const { identifier: _, ...name } = license as Json;
  const described: Json = {
    ...(convert(rest) as Json),
    openapi: "3.0.3",
    info: { ...about, license: name },
  };
  const used = reachable([described, eventSchemas(webhooks as Json)], components);
  const kept = Object.entries(components as Record<string, Json>).map(([kind, members]) => [
    kind,
    Object.fromEntries(
      Object.entries(members)
        .filter(([member]) => kind === "securitySchemes" || used.has(`#/components/${kind}/${member}`))
        .map(([member, value]) => [member, kind === "schemas" ? convertSchema(value) : convert(value)]),
    ),
  ]);
  const tagged = new Set(operationsOf(described).flatMap((operation) => operation.tags as string[]));
  return {
    ...described,
    tags: tags.filter((tag) => tagged.has(tag.name)),
    components: Object.fromEntries(kept),
  };
}

function eventSchemas(webhooks: Json): unknown[] {
  return (Object.values(webhooks) as { post: { requestBody: unknown } }[]).map(
    ({ post }) => post.requestBody,
  );
}

function operationsOf({ paths }: Json): Json[] {
  return Object.values(paths as Record<string, Record<string, Json>>).flatMap((path) => Object.values(path));
}

/** Converts each schema below a node that is none itself; examples stay as they are. */
function convert(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(convert);
  if (typeof node !== "object" || node === null) return node;
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => {
      if (key === "schema") return [key, convertSchema(value)];
      return [key, key === "example" || key === "examples" ? value : convert(value)];
    }),
  );
}

const COMBINATIONS = ["allOf", "anyOf", "oneOf"] as const;

function convertSchema(schema: unknown): Json {
  const {
    propertyNames: _,
    const: constant,
    exclusiveMinimum,
    type,
    examples,
    ...rest
  } = schema as JsonSchema;
  const found: Json = { ...rest, ...convertType(type) };
  if (constant !== undefined) found.enum = [constant];
  if (Array.isArray(examples)) [found.example] = examples;
  // Its validators compare the default with the type, whatever \`nullable\` says.
  if (found.default === null) delete found.default;
  if (exclusiveMinimum !== undefined)
    Object.assign(found, { minimum: exclusiveMinimum, exclusiveMinimum: true });
  if (rest.properties)
    found.properties = Object.fromEntries(
      Object.entries(rest.properties).map(([name, field]) => [name, convertSchema(field)]),
    );
  for (const key of ["items", "additionalProperties"])
    if (typeof rest[key] === "object") found[key] = convertSchema(rest[key]);
  for (const key of COMBINATIONS) if (Array.isArray(rest[key])) found[key] = rest[key].map(convertSchema);
  // What stands beside a reference is ignored in 3.0.
  if (found.$ref !== undefined && Object.keys(found).length > 1) {
    const { $ref, ...beside } = found;
    return { allOf: [{ $ref }], ...beside };
  }
  return chooseForm(found);
}

/** `["string", "null"]` is `string` with `nullable`; several types are any value. */
function convertType(type: unknown): Json {
  if (!Array.isArray(type)) return type === undefined ? {} : { type };
  const types = type.filter((one) => one !== "null");
  const nullable = types.length < type.length && { nullable: true };
  return { ...(types.length === 1 && { type: types[0] }), ...nullable };
}

/**
 * Replaces alternatives by the first one, which is the form that the documents show, and `null` by `nullable`:
 * generators make invalid or untyped code of alternatives of plain values and lists. Three types are any value.
 */
function chooseForm(schema: Json): Json {
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf)) return schema;
  const others = anyOf.filter((one: Json) => one.type !== "null");
  const nullable = others.length < anyOf.length && { nullable: true };
  if (others.length > 2 && others.every(({ type }) => typeof type === "string"))
    return { ...rest, ...nullable };
  const [chosen] = others as [Json];
  if (chosen.$ref === undefined) return { ...chosen, ...rest, ...nullable };
  return { allOf: [chosen], ...rest, ...nullable };
}

/** The references to components that a node needs. */
function reachable(from: unknown, components: Json, found = new Set<string>()): ReadonlySet<string> {
  if (typeof from !== "object" || from === null) return found;
  const { $ref } = from as { $ref?: unknown };
  const [, kind = "", member = ""] = REFERENCE.exec(String($ref)) ?? [];
  if (kind !== "" && !found.has(String($ref))) {
    found.add(String($ref));
    reachable((components[kind] as Json)[member], components, found);
  }
  for (const value of Object.values(from)) reachable(value, components, found);
  return found;
}
