import { packageVersion } from "../config/package-version.ts";
import type { Contract, Route } from "../http/route.ts";
import { aliasNotes } from "./alias-notes.ts";
import { errorResponses } from "./error-responses.ts";
import { exampleBody } from "./example-body.ts";
import type { JsonSchema } from "./json-schema.ts";
import { splitFields } from "./json-schemas.ts";
import {
  DEFAULT_SECURITY,
  FILE_SCHEMA,
  OPENAPI_COMPONENTS,
  SHARED_SCHEMAS,
  securityRequirementsOf,
} from "./openapi-components.ts";
import { responsesOf } from "./responses-of.ts";
import { createSchemaComponents, type SchemaComponents } from "./schema-components.ts";
import { shareParameters } from "./share-parameters.ts";
import { type DescribedEvents, deliveryParameters, RECEIVER_RESPONSES, webhooksOf } from "./webhooks-of.ts";

type Json = Record<string, unknown>;

const INTRODUCTION = `Self-hosted, multi-instance messaging gateway to WhatsApp Web sessions.

Every response is an envelope: \`success\`, \`message\`, \`data\`; an error has \`code\`, \`message\`, \`details\` and \`request_id\`.
Unknown fields are ignored. Lists are newest first, with \`limit\` and \`cursor\`.`;

/** The OpenAPI 3.1 document of a contract, with examples by the name of their schema; the output is deterministic. */
export function createOpenApiDocument(
  contract: Contract,
  events?: DescribedEvents,
  examples: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  const schemas = createSchemaComponents(SHARED_SCHEMAS);
  const paths: Record<string, Record<string, Operation>> = {};
  for (const [name, route] of Object.entries(contract)) {
    const { method, path } = addressOf(route);
    paths[path] = { ...paths[path], [method]: operation(name, route, schemas) };
  }
  const parameters = shareParameters(Object.values(paths).flatMap((path) => Object.values(path)));
  const webhooks = events && webhooksOf(events, schemas);
  const tags = [...new Set(Object.values(contract).map(({ tag }) => tag))];
  const components = {
    ...OPENAPI_COMPONENTS,
    responses: { ...errorResponses(), ...(events && RECEIVER_RESPONSES) },
    parameters: {
      ...OPENAPI_COMPONENTS.parameters,
      ...parameters,
      ...(events && deliveryParameters(events)),
    },
  };
  return {
    openapi: "3.1.0",
    info: {
      title: "Waygate",
      version: packageVersion(),
      description: INTRODUCTION,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/", description: "This gateway" }],
    security: DEFAULT_SECURITY,
    tags: [...tags, ...(events ? ["Events"] : [])].map((name) => ({ name })),
    paths,
    ...(webhooks && { webhooks }),
    components: {
      ...components,
      schemas: illustrate(schemas.used([paths, webhooks, components]), examples),
    },
  };
}

function illustrate(
  schemas: Readonly<Record<string, JsonSchema>>,
  examples: Readonly<Record<string, unknown>>,
): Record<string, JsonSchema> {
  const illustrated = Object.entries(schemas).map(([name, schema]) => [
    name,
    examples[name] === undefined ? schema : { ...schema, examples: [examples[name]] },
  ]);
  return Object.fromEntries(illustrated);
}

function addressOf({ http }: Route): { method: string; path: string; pathFields: string[] } {
  const [method = "", path = ""] = http.split(" ");
  const pathFields = path.split("/").flatMap((part) => (part.startsWith(":") ? [part.slice(1)] : []));
  return { method: method.toLowerCase(), path: path.replace(/:(\w+)/g, "{$1}"), pathFields };
}

interface Operation extends Json {
  operationId: string;
  parameters?: Json[];
}

function operation(name: string, route: Route, schemas: SchemaComponents): Operation {
  const { method, pathFields } = addressOf(route);
  const input = schemas.of(route.input, "input");
  const { named, rest } = splitFields(input, pathFields);
  const hasBody = ["post", "put", "patch"].includes(method);
  const inPath = pathFields.map((field) =>
    parameter("path", field, schemas.resolve(named[field] ?? { type: "string" }), true),
  );
  const inQuery = hasBody ? [] : queryParameters(rest, schemas);
  const inHeader = route.idempotent ? [{ $ref: "#/components/parameters/IdempotencyKey" }] : [];
  const parameters = [...inPath, ...inQuery, ...inHeader];
  const notes = [route.description, roleNote(route), aliasNotes(route.aliases)];
  const description = notes.filter(Boolean).join("\n\n");
  const takesBody = hasBody && !isEmpty(rest);
  const hasInput = takesBody || parameters.length > 0;
  const security = securityRequirementsOf(route.access);
  return {
    operationId: name,
    // The summary is plain text, unlike the description.
    summary: route.summary.replaceAll("`", ""),
    ...(description === "" ? {} : { description }),
    tags: [route.tag],
    ...(security === DEFAULT_SECURITY ? {} : { security }),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(takesBody ? { requestBody: body(name, rest, route, schemas) } : {}),
    responses: responsesOf(name, route, { hasInput, hasPathFields: pathFields.length > 0 }, schemas),
  };
}

function roleNote({ role, feature }: Route): string {
  const agents = role === "admin" ? "Requires the role `admin`." : "";
  const plan = feature === undefined ? "" : `Part of the plan's feature \`${feature}\`.`;
  return [agents, plan].filter(Boolean).join(" ");
}

function parameter(location: "path" | "query", name: string, schema: JsonSchema, required: boolean): Json {
  const { description, ...shape } = schema;
  return {
    name,
    in: location,
    ...(required && { required }),
    ...(description === undefined ? {} : { description }),
    schema: shape,
  };
}

function queryParameters({ properties = {}, required = [] }: JsonSchema, schemas: SchemaComponents): Json[] {
  return Object.entries(properties).map(([name, schema]) =>
    parameter("query", name, schemas.resolve(schema), required.includes(name)),
  );
}

/** Whether every form of an object has a required field. */
function requiresField({ required = [], ...schema }: JsonSchema): boolean {
  const branches = (schema.anyOf ?? schema.oneOf ?? []) as JsonSchema[];
  const parts = (schema.allOf ?? []) as JsonSchema[];
  if (required.length > 0 || parts.some(requiresField)) return true;
  return branches.length > 0 && branches.every(requiresField);
}

function isEmpty({ properties = {}, ...schema }: JsonSchema): boolean {
  return (
    Object.keys(properties).length === 0 && !("anyOf" in schema || "allOf" in schema || "oneOf" in schema)
  );
}

function body(name: string, schema: JsonSchema, route: Route, schemas: SchemaComponents): Json {
  const { upload, uploadTypes = [] } = route;
  const required = route.requiresBody ?? requiresField(schema);
  const componentName = `${name.charAt(0).toUpperCase()}${name.slice(1)}Request`;
  const toJson = (shape: JsonSchema) => {
    const example = (route.example ?? exampleBody(shape, schemas)) as object;
    return { "application/json": { schema: schemas.add(shape, componentName), example } };
  };
  const isRequired = required && { required };
  if (upload === undefined) return { ...isRequired, content: toJson(schema) };
  const { named, rest } = splitFields(schema, [upload]);
  const file = { ...FILE_SCHEMA, description: named[upload]?.description };
  const isOnlyFile = isEmpty(rest);
  const withFile = { type: "object", properties: { [upload]: file } };
  const json = isOnlyFile ? undefined : toJson(rest);
  return {
    ...isRequired,
    content: {
      // A body that is only a file has no JSON form.
      ...json,
      "multipart/form-data": {
        schema: isOnlyFile ? withFile : { allOf: [schemas.add(rest, componentName), withFile] },
        example: formExample(upload, json?.["application/json"].example),
      },
      ...Object.fromEntries(
        uploadTypes.map((type) => [type, { schema: FILE_SCHEMA, example: FILE_EXAMPLES[type] }]),
      ),
    },
  };
}

const FILE_EXAMPLES = { "text/csv": "phone,name\n5511999990004,Bia\n" };

/** The fields of the JSON example that a form can have beside the file, which takes the place of an address. */
function formExample(upload: string, json: object = {}): Json {
  const fields = Object.entries(json).filter(([key, value]) => key !== "url" && typeof value !== "object");
  return { ...Object.fromEntries(fields), [upload]: "(the file)" };
}
