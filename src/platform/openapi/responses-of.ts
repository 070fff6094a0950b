import type { Route } from "../http/route.ts";
import { errorResponsesOf, type OperationShape } from "./error-responses.ts";
import type { JsonSchema } from "./json-schema.ts";
import { FILE_SCHEMA } from "./openapi-components.ts";
import { componentOf, type SchemaComponents } from "./schema-components.ts";

type Json = Record<string, unknown>;

/** The responses of a route, by status. */
export function responsesOf(
  name: string,
  route: Route,
  shape: OperationShape,
  schemas: SchemaComponents,
): Json {
  const ok = response("Done", content(name, route, schemas));
  const others = (route.statuses ?? []).map((status) => [
    String(status),
    status >= 300 && status < 400 ? REDIRECT : ok,
  ]);
  return {
    "200": ok,
    ...(route.accepted && {
      "202": response("Accepted; processed later", {
        "application/json": { schema: envelope(`${name}Accepted`, route.accepted, schemas) },
      }),
    }),
    ...Object.fromEntries(others),
    ...errorResponsesOf(route, shape),
    default: { $ref: "#/components/responses/default" },
  };
}

const REDIRECT = { description: "Redirect", headers: { location: { schema: { type: "string" } } } };

function response(description: string, shapes: Json): Json {
  return { description, content: shapes };
}

function content(name: string, route: Route, schemas: SchemaComponents): Json {
  const raw = route.raw === undefined ? {} : { [route.raw]: { schema: FILE_SCHEMA } };
  if (route.output.def.type === "never") return raw;
  const schema = route.bare
    ? schemas.add(schemas.of(route.output, "output"), responseName(name))
    : envelope(name, route, schemas);
  return { "application/json": { schema }, ...raw };
}

function envelope(
  name: string,
  shape: Pick<Route, "output" | "beside">,
  schemas: SchemaComponents,
): JsonSchema {
  const beside = shape.beside ? schemas.of(shape.beside, "output") : {};
  const data = schemas.of(shape.output, "output");
  const schema = {
    allOf: [
      { $ref: "#/components/schemas/Envelope" },
      {
        type: "object",
        properties: { data, ...beside.properties },
        ...(beside.required && { required: beside.required }),
      },
    ],
  };
  return schemas.add(
    schema,
    ...envelopeNames(data, Object.keys(beside.properties ?? {})),
    responseName(name),
  );
}

/** Names for the data, such as `MessageResponse`, `MessagePage` or `MessageList`. */
function envelopeNames(data: JsonSchema, beside: readonly string[]): string[] {
  const one = componentOf(data);
  if (one !== undefined) return [`${one}Response`];
  const item = data.type === "array" ? componentOf((data.items ?? {}) as JsonSchema) : undefined;
  if (item === undefined) return [];
  return [`${item}${beside.includes("pagination") ? "Page" : "List"}`];
}

function responseName(name: string): string {
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}Response`;
}
