import { packageVersion } from "../config/package-version.ts";
import type { Contract, Route } from "../http/route.ts";
import { aliasNotes, withAliasNotes } from "./alias-notes.ts";
import { exampleBody } from "./example-body.ts";
import { createJsonSchemas, type JsonSchema, type JsonSchemas, splitFields } from "./json-schemas.ts";
import { FILE_SCHEMA, OPENAPI_COMPONENTS, securityRequirementsOf } from "./openapi-components.ts";

type Json = Record<string, unknown>;

const INTRODUCTION = `Self-hosted, multi-instance messaging gateway to WhatsApp Web sessions.

Every response is an envelope: \`success\`, \`message\`, \`data\`; an error has \`code\`, \`message\`, \`details\` and \`request_id\`.
Unknown fields are ignored. Lists are newest first, with \`limit\` and \`cursor\`.`;

/** The OpenAPI 3.1 document of a contract; the output is deterministic. */
export function createOpenApiDocument(contract: Contract): Record<string, unknown> {
  const schemas = createJsonSchemas();
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [name, route] of Object.entries(contract)) {
    const { method, path } = addressOf(route);
    paths[path] = { ...paths[path], [method]: operation(name, route, schemas) };
  }
  const tags = [...new Set(Object.values(contract).map(({ tag }) => tag))];
  return {
    openapi: "3.1.0",
    info: {
      title: "Waygate",
      version: packageVersion(),
      description: INTRODUCTION,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/", description: "This gateway" }],
    tags: tags.map((name) => ({ name })),
    paths,
    components: { ...OPENAPI_COMPONENTS, schemas: { ...OPENAPI_COMPONENTS.schemas, ...schemas.shared() } },
  };
}

function addressOf({ http }: Route): { method: string; path: string; pathFields: string[] } {
  const [method = "", path = ""] = http.split(" ");
  const pathFields = path.split("/").flatMap((part) => (part.startsWith(":") ? [part.slice(1)] : []));
  return { method: method.toLowerCase(), path: path.replace(/:(\w+)/g, "{$1}"), pathFields };
}

function operation(name: string, route: Route, schemas: JsonSchemas): Record<string, unknown> {
  const { method, pathFields } = addressOf(route);
  const input = withAliasNotes(schemas.of(route.input, "input"), route.aliases);
  const { named, rest } = splitFields(input, pathFields);
  const hasBody = ["post", "put", "patch"].includes(method);
  const inPath = pathFields.map((field) =>
    parameter("path", field, named[field] ?? { type: "string" }, true),
  );
  const inQuery = hasBody ? [] : queryParameters(rest);
  const inHeader = route.idempotent ? [{ $ref: "#/components/parameters/IdempotencyKey" }] : [];
  const notes = [route.description, roleNote(route), aliasNotes(input, route.aliases)];
  const description = notes.filter(Boolean).join("\n\n");
  return {
    operationId: name,
    // The summary is plain text, unlike the description.
    summary: route.summary.replaceAll("`", ""),
    ...(description === "" ? {} : { description }),
    tags: [route.tag],
    security: securityRequirementsOf(route.access),
    parameters: [...inPath, ...inQuery, ...inHeader],
    ...(hasBody && !isEmpty(rest) ? { requestBody: body(rest, route, schemas) } : {}),
    responses: responses(route, schemas),
  };
}

function roleNote({ role, feature }: Route): string {
  const agents = role === "admin" ? "Requires the role `admin`; users with the role `agent` get 403." : "";
  const plan = feature === undefined ? "" : `Part of the plan's feature \`${feature}\`.`;
  return [agents, plan].filter(Boolean).join(" ");
}

function parameter(location: "path" | "query", name: string, schema: JsonSchema, required: boolean): Json {
  const { description, ...shape } = schema;
  return {
    name,
    in: location,
    required,
    ...(description === undefined ? {} : { description }),
    schema: shape,
  };
}

function queryParameters({ properties = {}, required = [] }: JsonSchema): Json[] {
  return Object.entries(properties).map(([name, schema]) =>
    parameter("query", name, schema, required.includes(name)),
  );
}

function isEmpty({ properties = {}, ...schema }: JsonSchema): boolean {
  return (
    Object.keys(properties).length === 0 && !("anyOf" in schema || "allOf" in schema || "oneOf" in schema)
  );
}

function body(schema: JsonSchema, route: Route, schemas: JsonSchemas): Json {
  const { upload, uploadTypes = [] } = route;
  const required = (schema.required ?? []).length > 0;
  const toJson = (shape: JsonSchema) => {
    const example = route.example ?? exampleBody(shape, schemas.shared());
    return { "application/json": { schema: shape, example } };
  };
  if (upload === undefined) return { required, content: toJson(schema) };
  const { named, rest } = splitFields(schema, [upload]);
  const file = { ...FILE_SCHEMA, description: named[upload]?.description };
  const form = { ...rest, properties: { ...rest.properties, [upload]: file } };
  return {
    required,
    content: {
      // A body that is only a file has no JSON form.
      ...(isEmpty(rest) ? {} : toJson(rest)),
      "multipart/form-data": { schema: form },
      ...Object.fromEntries(uploadTypes.map((type) => [type, { schema: FILE_SCHEMA }])),
    },
  };
}

function responses(route: Route, schemas: JsonSchemas): Record<string, unknown> {
  const ok = response("Done", content(route, schemas));
  const others = (route.statuses ?? []).map((status) => [String(status), ok]);
  return {
    "200": ok,
    ...(route.accepted && {
      "202": response("Accepted; processed later", {
        "application/json": { schema: envelope(route.accepted, schemas) },
      }),
    }),
    ...Object.fromEntries(others),
    default: { $ref: "#/components/responses/Refusal" },
  };
}

function response(description: string, shapes: Json): Json {
  return {
    description,
    headers: { "x-request-id": { $ref: "#/components/headers/RequestId" } },
    content: shapes,
  };
}

function content(route: Route, schemas: JsonSchemas): Json {
  const raw = route.raw === undefined ? {} : { [route.raw]: { schema: FILE_SCHEMA } };
  if (route.output.def.type === "never") return raw;
  const schema = route.bare ? schemas.of(route.output, "output") : envelope(route, schemas);
  return { "application/json": { schema }, ...raw };
}

function envelope(shape: Pick<Route, "output" | "beside">, schemas: JsonSchemas): JsonSchema {
  const beside = shape.beside ? schemas.of(shape.beside, "output") : {};
  return {
    allOf: [
      { $ref: "#/components/schemas/Envelope" },
      {
        type: "object",
        properties: { data: schemas.of(shape.output, "output"), ...beside.properties },
        required: ["data", ...(beside.required ?? [])],
      },
    ],
  };
}
