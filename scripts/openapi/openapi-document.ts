import { z } from "zod";
import {
  createDocument,
  type ZodOpenApiObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
} from "zod-openapi";
import type { DeliveryHeader } from "../../src/core/webhooks/delivery/delivery-headers.ts";
import type { Aliases, Contract, Route } from "../../src/platform/http/route.ts";
import { packageVersion } from "../../src/platform/package-version.ts";
import { exampleBody } from "./example-body.ts";
import {
  DEFAULT_SECURITY,
  ERROR_EXAMPLES,
  errorResponses,
  errorResponsesOf,
  HEADERS,
  IDEMPOTENCY_KEY,
  SECURITY,
  SECURITY_SCHEMES,
} from "./openapi-components.ts";
import {
  type Components,
  createComponents,
  DOCUMENT_OPTIONS,
  fieldsOf,
  pascalCase,
  withoutFields,
} from "./schemas.ts";

/** The events that webhooks receive, for the OpenAPI document. */
interface DescribedEvents {
  /** The fields of every event; `event` and `data` are described for each. */
  body: z.ZodObject;
  /** The headers of every delivery. */
  headers: readonly DeliveryHeader[];
  /** By name: when the event is recorded, the schema of its `data`, and a body. */
  events: Readonly<Record<string, { when: string; data: z.ZodType; example: unknown }>>;
}

type Json = Record<string, unknown>;

const INTRODUCTION = `Self-hosted, multi-instance messaging gateway to WhatsApp Web sessions.

Every response is an envelope: \`success\`, \`message\`, \`data\`; an error has \`code\`, \`message\`, \`details\` and \`request_id\`.
Unknown fields are ignored. In optional fields null and \`""\` are absent. Numbers and flags may be texts, numbers may stand
for texts, and names of an enumeration may differ in case. Lists are newest first, with \`limit\` and \`cursor\`. Where
they can be searched, \`q\` may also be named \`search\` or \`query\`.`;

/** The OpenAPI 3.1 document of a contract, with examples by the name of their schema; the output is deterministic. */
export function createOpenApiDocument(
  contract: Contract,
  events?: DescribedEvents,
  examples: Json = {},
): Json {
  const components = createComponents();
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const [name, route] of Object.entries(contract)) {
    const { method, path } = addressOf(route);
    paths[path] = { ...paths[path], [method]: operation(name, route, components) };
  }
  const tags = [...new Set(Object.values(contract).map(({ tag }) => tag)), ...(events ? ["Events"] : [])];
  const described: ZodOpenApiObject = {
    openapi: "3.1.0",
    info: {
      title: "Waygate",
      version: packageVersion(),
      description: INTRODUCTION,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/", description: "This gateway" }],
    security: DEFAULT_SECURITY,
    tags: tags.map((name) => ({ name })),
    paths: paths as ZodOpenApiPathsObject,
    ...(events && { webhooks: webhooksOf(events, components) }),
    components: {
      securitySchemes: SECURITY_SCHEMES,
      headers: HEADERS,
      responses: errorResponses(),
      parameters: { IdempotencyKey: IDEMPOTENCY_KEY, ...(events && deliveryParameters(events)) },
    },
  };
  const document = components.whileNamed(() => createDocument(described, DOCUMENT_OPTIONS));
  const schemas = Object.entries(document.components?.schemas ?? {});
  const illustrated = { ...examples, ...ERROR_EXAMPLES } as Json;
  const sorted = schemas
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, schema]) => [
      name,
      Object.hasOwn(illustrated, name) ? { ...schema, examples: [illustrated[name]] } : schema,
    ]);
  return { ...document, components: { ...document.components, schemas: Object.fromEntries(sorted) } };
}

function addressOf({ http }: Route) {
  const [method = "", path = ""] = http.split(" ");
  const pathFields = [...path.matchAll(/:(\w+)/g)].map(([, field = ""]) => field);
  return { method: method.toLowerCase(), path: path.replace(/:(\w+)/g, "{$1}"), pathFields };
}

function operation(name: string, route: Route, components: Components): ZodOpenApiOperationObject {
  const { method, pathFields } = addressOf(route);
  const rest = withoutFields(route.input, pathFields);
  const takesBody = ["post", "put", "patch"].includes(method) && !isEmpty(rest);
  const fields = fieldsOf(route.input);
  const inPath = Object.fromEntries(pathFields.map((field) => [field, fields[field] ?? z.string()]));
  const inQuery = takesBody ? {} : fieldsOf(rest);
  const hasPathFields = pathFields.length > 0;
  const hasQuery = Object.keys(inQuery).length > 0;
  const description = [route.description, roleNote(route), aliasNotes(route.aliases)].filter(Boolean);
  const security = SECURITY[route.access];
  return {
    operationId: name,
    // The summary is plain text, unlike the description.
    summary: route.summary.replaceAll("`", ""),
    ...(description.length > 0 && { description: description.join("\n\n") }),
    tags: [route.tag],
    ...(security !== DEFAULT_SECURITY && { security }),
    ...((hasPathFields || hasQuery) && {
      requestParams: {
        ...(hasPathFields && { path: components.parameters("path", inPath) }),
        ...(hasQuery && { query: components.parameters("query", inQuery) }),
      },
    }),
    ...(route.idempotent && { parameters: [{ $ref: "#/components/parameters/IdempotencyKey" } as never] }),
    ...(takesBody && { requestBody: body(name, rest, route, components) }),
    responses: {
      ...responses(name, route, components),
      ...errorResponsesOf(route, {
        input: takesBody || hasPathFields || hasQuery || route.idempotent === true,
        pathFields: hasPathFields,
      }),
    },
  };
}

function roleNote({ access, role, feature, keepsToInstances, acts = {} }: Route): string {
  const isForWhole = /^(account|key)$/.test(access) && !keepsToInstances;
  const others = isForWhole ? "Not for agents with `instance_ids`." : "";
  const agents = role === "admin" ? "Requires the role `admin`." : others;
  const plan = feature === undefined ? "" : `Part of the plan's feature \`${feature}\`.`;
  return [agents, plan, passwordNote(acts)].filter(Boolean).join(" ");
}

function passwordNote(acts: NonNullable<Route["acts"]>): string {
  const fields = Object.values(acts);
  if (fields.length === 0) return "";
  const named = fields.flatMap((some) => (some === true ? [] : some)).map((field) => `\`${field}\``);
  const when = fields.includes(true) ? "" : ` if it has ${named.join(" or ")}`;
  return `A signed-in user needs a password given within ten minutes${when} (\`PASSWORD_REQUIRED\`).`;
}

/** Of wuzapi and of version 1 of Evolution API; the page on migration describes them. */
const OF_OTHER_GATEWAYS = /^[A-Z]|^options\.|^contextInfo\.|Message\b|\.\d/;

const folded = (name: string) => name.replaceAll("_", "").toLowerCase();

function aliasNotes(aliases: Aliases = {}): string {
  // Of names that differ only in `_` and case, the first is enough.
  const list = (names: readonly string[]) =>
    [...new Map(names.toReversed().map((name) => [folded(name), `\`${name}\``])).values()]
      .toReversed()
      .join(", ");
  // Of `q` the introduction says it.
  const fields = Object.entries(aliases)
    .filter(([name]) => name !== "q")
    .map(([name, others]) => [name, others.filter((other) => !OF_OTHER_GATEWAYS.test(other))] as const)
    .filter(([, others]) => others.length > 0);
  if (fields.length === 0) return "";
  return `Other spellings: ${fields.map(([name, others]) => `\`${name}\` as ${list(others)}`).join("; ")}.`;
}

function isEmpty(schema: z.ZodType): boolean {
  return Object.keys(fieldsOf(schema)).length === 0;
}

/** A binary body. */
function file(description?: string): z.ZodType {
  return z
    .any()
    .meta({ override: { type: "string", format: "binary", ...(description && { description }) } });
}

function body(name: string, schema: z.ZodType, route: Route, components: Components) {
  const { upload, uploadTypes = [] } = route;
  const required = route.requiresBody ?? !schema.safeParse({}).success;
  const inJson = upload === undefined ? schema : withoutFields(schema, [upload]);
  const needsFile = upload !== undefined && fieldsOf(schema)[upload]?.safeParse(undefined).success === false;
  const shape = isEmpty(inJson) ? undefined : components.name(inJson, "input", `${pascalCase(name)}Request`);
  const example = shape && ((route.example ?? exampleBody(shape)) as Json);
  const form = upload && formOf(upload, fieldsOf(schema)[upload], shape, example);
  return {
    ...(required && { required }),
    content: {
      // A body that needs a file has no JSON form.
      ...(shape && !needsFile && { "application/json": { schema: shape, example } }),
      ...(form && { "multipart/form-data": form }),
      ...Object.fromEntries(
        uploadTypes.map((type) => [type, { schema: file(), example: FILE_EXAMPLES[type] }]),
      ),
    },
  };
}

const FILE_EXAMPLES = { "text/csv": "phone,name\n5511999990004,Bia\n" };

/** The example has the fields of the JSON one that a form can have beside the file, which takes the place of an address. */
function formOf(upload: string, field?: z.ZodType, shape?: z.ZodType, json: Json = {}) {
  const part = z.object({ [upload]: file(field?.description).optional() });
  const fields = Object.entries(json).filter(([key, value]) => key !== "url" && typeof value !== "object");
  return {
    schema: shape ? z.intersection(shape, part) : part,
    example: { ...Object.fromEntries(fields), [upload]: "(the file)" },
  };
}

const REDIRECT = { description: "Redirect", headers: { location: { schema: { type: "string" as const } } } };
const KNOWN = { description: "Not modified: `If-None-Match` names the current `ETag`" };
const ENVELOPE = z.object({ success: z.literal(true), message: z.string() });

function responses(name: string, route: Route, components: Components) {
  const { output, accepted, raw, rawForBrowsers, statuses = [] } = route;
  const json = output.def.type === "never" ? undefined : answer(name, route, components);
  const ok = {
    description: "Done",
    content: {
      ...(json && { "application/json": { schema: json } }),
      ...(raw && { [raw]: { schema: file() } }),
      ...(rawForBrowsers && { [rawForBrowsers]: { schema: file() } }),
    },
  };
  const later = accepted && envelope(`${pascalCase(name)}AcceptedResponse`, accepted, components);
  return {
    "200": ok,
    ...(later && {
      "202": {
        description: "Accepted; processed later",
        content: { "application/json": { schema: later } },
      },
    }),
    ...Object.fromEntries(
      statuses.map((status) => [
        String(status),
        status === 304 ? KNOWN : status >= 300 && status < 400 ? REDIRECT : ok,
      ]),
    ),
  };
}

function answer(name: string, route: Route, components: Components): z.ZodType {
  const own = `${pascalCase(name)}Response`;
  return route.bare ? components.name(route.output, "output", own) : envelope(own, route, components);
}

function envelope(
  own: string,
  { output, beside }: Pick<Route, "output" | "beside">,
  components: Components,
): z.ZodType {
  const fields = beside?.shape ?? {};
  // Such as `MessageResponse`, `MessagePage` or `MessageList`.
  const one = components.nameOf(output);
  const item = output instanceof z.ZodArray ? components.nameOf(output.element) : undefined;
  const shared = one
    ? [`${one}Response`]
    : item
      ? [`${item}${"pagination" in fields ? "Page" : "List"}`]
      : [];
  return components.name(ENVELOPE.extend({ data: output, ...fields }), "output", ...shared, own);
}

/** One webhook per event. */
function webhooksOf({ body, headers, events }: DescribedEvents, components: Components) {
  const parameters = headers.map(({ name }) => ({ $ref: `#/components/parameters/${headerName(name)}` }));
  const webhooks = Object.entries(events).map(([event, { when, data, example }]) => {
    const name = pascalCase(event);
    const own = z.object({ event: z.literal(event), data });
    const schema = components.name(z.intersection(body, own), "input", `${name}Event`);
    const post = {
      operationId: `on${name}`,
      summary: `Recorded when ${when}`,
      tags: ["Events"],
      security: [],
      parameters: parameters as never[],
      requestBody: { required: true, content: { "application/json": { schema, example } } },
      responses: { "2XX": { description: "Received. Any other response is a failed attempt." } },
    };
    return [event, { post }];
  });
  return Object.fromEntries(webhooks);
}

/** The headers of deliveries as components. */
function deliveryParameters({ headers }: DescribedEvents) {
  const parameters = headers.map(({ name, description, isOptional }) => [
    headerName(name),
    { name, in: "header", ...(!isOptional && { required: true }), description, schema: { type: "string" } },
  ]);
  return Object.fromEntries(parameters);
}

function headerName(name: string): string {
  return `${pascalCase(name.replace("x-waygate-", ""))}Header`;
}
