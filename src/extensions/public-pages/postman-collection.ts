import { resolveReference } from "../../platform/openapi/resolve-reference.ts";

type Json = Record<string, unknown>;

interface Parameter {
  in?: string;
  name?: string;
  required?: boolean;
  description?: string;
  schema?: { enum?: string[] };
}

interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  tags: string[];
  /** Absent: that of the whole document. */
  security?: Json[];
  parameters?: (Parameter | { $ref: string })[];
  requestBody?: {
    content: Record<string, { schema: FormSchema & { allOf?: FormSchema[] }; example?: unknown }>;
  };
}

interface FormSchema {
  properties?: Record<string, { format?: string }>;
}

interface Description {
  info: { version: string; description?: string };
  security: Json[];
  paths: Record<string, Record<string, Operation>>;
}

/** Response values that later requests need, by operation: the variable and the path of its value. */
const SAVED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  login: { token: "answer.token" },
  createInstance: { instance_id: "answer.data.id", api_key: "answer.data.api_key" },
};

const VARIABLES = [
  { key: "base_url", value: "http://127.0.0.1:3000", description: "Address of the gateway." },
  { key: "api_key", value: "", description: "API key of an instance." },
  { key: "token", value: "", description: "The token of POST /api/auth/login." },
  { key: "admin_token", value: "", description: "WAYGATE_ADMIN_TOKEN." },
  { key: "instance_id", value: "1", description: "The instance that the requests are about." },
];

/** Converts an OpenAPI document to a Postman 2.1 collection with one folder per tag. */
export function postmanCollection(document: Record<string, unknown>): Record<string, unknown> {
  const { info, paths, security } = document as unknown as Description;
  const folders = new Map<string, Json[]>();
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      const [tag = "Other"] = operation.tags;
      const parameters = (operation.parameters ?? []).map((one) => resolveReference(document, one));
      const request = toRequest(method, path, { security, ...operation, parameters });
      const item = { name: operation.summary, event: eventsOf(operation), request, response: [] };
      folders.set(tag, [...(folders.get(tag) ?? []), item]);
    }
  }
  return {
    info: {
      name: "Waygate",
      version: info.version,
      description: info.description ?? "",
      schema: "https://schema.getpostman.com/json/collection/v2.1.0/collection.json",
    },
    variable: VARIABLES,
    item: [...folders].map(([name, item]) => ({ name, item })),
  };
}

/** An operation without references and defaults. */
interface WholeOperation extends Operation {
  security: Json[];
  parameters: Parameter[];
}

function toRequest(method: string, path: string, operation: WholeOperation): Json {
  const example = operation.requestBody?.content["application/json"]?.example as Json | undefined;
  const hasFields = example !== undefined && Object.keys(example).length > 0;
  const form = hasFields ? {} : formOf(operation);
  const body = example && !("body" in form) ? JSON.stringify(example, null, 2) : undefined;
  return {
    method: method.toUpperCase(),
    description: operation.description ?? "",
    auth: authOf(operation.security),
    header: body === undefined ? [] : [{ key: "Content-Type", value: "application/json" }],
    url: urlOf(path, operation),
    ...(body !== undefined && { body: { mode: "raw", raw: body, options: { raw: { language: "json" } } } }),
    ...form,
  };
}

/** For routes whose body is a file: the user selects the file in Postman. */
function formOf({ requestBody }: Operation): Json {
  const form = requestBody?.content["multipart/form-data"]?.schema;
  const fields = Object.entries({ ...form?.properties, ...form?.allOf?.at(-1)?.properties });
  const files = fields.filter(([, { format }]) => format === "binary");
  if (files.length === 0) return {};
  return { body: { mode: "formdata", formdata: files.map(([key]) => ({ key, type: "file", src: [] })) } };
}

/** Scripts that run after the response. */
function eventsOf({ operationId }: Operation): Json[] {
  const saved = Object.hasOwn(SAVED, operationId) ? SAVED[operationId] : undefined;
  if (!saved) return [];
  const lines = Object.entries(saved).map(
    ([name, from]) => `  pm.collectionVariables.set("${name}", ${from});`,
  );
  const exec = ["if (pm.response.code === 200) {", "  const answer = pm.response.json();", ...lines, "}"];
  return [{ listen: "test", script: { type: "text/javascript", exec } }];
}

function urlOf(path: string, { parameters }: WholeOperation): Json {
  const parts = path.slice(1).replaceAll(/\{(\w+)\}/g, ":$1");
  const inPath = parameters.filter((one) => one.in === "path");
  const inQuery = parameters.filter((one) => one.in === "query");
  return {
    raw: `{{base_url}}/${parts}`,
    host: ["{{base_url}}"],
    path: parts.split("/"),
    variable: inPath.map(({ name = "", description = "", schema }) => {
      const isInstance = name === "id" && path.includes("/instances/{id}");
      const example = name === "jid" ? "120363041234567890@g.us" : (schema?.enum?.[0] ?? "1");
      return { key: name, value: isInstance ? "{{instance_id}}" : example, description };
    }),
    query: inQuery.map(({ name, description = "", required }) => {
      return { key: name, value: "", description, disabled: !required };
    }),
  };
}

/** Uses the first authentication method of a route. */
function authOf([first]: readonly Json[]): Json {
  if (!first) return { type: "noauth" };
  if ("bearer" in first)
    return { type: "bearer", bearer: [{ key: "token", value: "{{token}}", type: "string" }] };
  const [key, value] =
    "adminToken" in first ? ["admintoken", "{{admin_token}}"] : ["x-api-key", "{{api_key}}"];
  const fields = { key, value, in: "header" };
  return {
    type: "apikey",
    apikey: Object.entries(fields).map(([name, text]) => ({ key: name, value: text, type: "string" })),
  };
}
