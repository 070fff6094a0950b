import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { readOpenApiFile } from "../../src/platform/openapi/openapi-file.ts";
import { resolveReference } from "../../src/platform/openapi/resolve-reference.ts";

export interface OperationSchema {
  $ref?: string;
  type?: string | string[];
  properties?: Record<string, OperationSchema>;
  required?: string[];
  additionalProperties?: boolean | OperationSchema;
  items?: OperationSchema;
  anyOf?: OperationSchema[];
  oneOf?: OperationSchema[];
  allOf?: OperationSchema[];
  enum?: unknown[];
  const?: unknown;
  format?: string;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
}

interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  required?: boolean;
  schema: OperationSchema;
}

interface Content {
  [type: string]: { schema: OperationSchema; example?: unknown };
}

interface OperationObject {
  operationId: string;
  /** Undefined uses that of the document. */
  security?: Record<string, unknown>[];
  parameters?: (Parameter | { $ref: string })[];
  requestBody?: { required?: boolean; content: Content };
  responses: Record<string, { description?: string; content?: Content } | { $ref: string }>;
}

/** One operation of openapi.json. */
export interface Operation {
  id: string;
  method: string;
  path: string;
  /** Security schemes of the operation; empty for public ones. */
  credentials: string[];
  parameters: Parameter[];
  body?: OperationSchema;
  requiresBody: boolean;
  /** Examples of the body by media type. */
  examples: Record<string, unknown>;
  /** How the response violates the document; undefined if it does not. */
  misfit(status: number, type: string, body: unknown): string | undefined;
}

const DOCUMENT = JSON.parse(readOpenApiFile()) as {
  security: Record<string, unknown>[];
  paths: Record<string, Record<string, OperationObject>>;
};
const KEY = "openapi";

export function readOperations(): Operation[] {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(DOCUMENT, KEY);
  return Object.entries(DOCUMENT.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      id: operation.operationId,
      method: method.toUpperCase(),
      path,
      credentials: (operation.security ?? DOCUMENT.security).flatMap((one) => Object.keys(one)),
      parameters: (operation.parameters ?? [])
        .map((one) => resolveReference(DOCUMENT, one))
        .filter((one) => one.in !== "header"),
      body: bodyOf(operation),
      requiresBody: operation.requestBody?.required ?? false,
      examples: Object.fromEntries(
        Object.entries(operation.requestBody?.content ?? {}).map(([type, { example }]) => [type, example]),
      ),
      misfit: checkerOf(ajv, path, method, operation),
    })),
  );
}

function bodyOf({ requestBody }: OperationObject): OperationSchema | undefined {
  const schema = requestBody?.content["application/json"]?.schema;
  return schema && withOwnFields(schema);
}

/** Merges composed schemas into one with all fields. */
function withOwnFields(schema: OperationSchema): OperationSchema {
  const { allOf, ...own } = resolveSchema(schema);
  if (allOf === undefined) return own;
  const parts = [...allOf.map(withOwnFields), own];
  return {
    ...own,
    type: "object",
    properties: Object.assign({}, ...parts.map(({ properties }) => properties)),
    required: parts.flatMap(({ required = [] }) => required),
  };
}

function checkerOf(ajv: Ajv2020, path: string, method: string, operation: OperationObject) {
  const pointer = `${KEY}#/paths/${escaped(path)}/${method}/responses`;
  const refusal = ajv.getSchema(`${KEY}#/components/schemas/Refusal`) as ValidateFunction;
  return (status: number, type: string, body: unknown): string | undefined => {
    const declared = operation.responses[status];
    if (declared === undefined) return misfitOf(refusal, body) ?? undescribed(operation, status, body);
    const { content = {} } = resolveReference(DOCUMENT, declared);
    const found = [type, "*/*"].find((one) => one in content);
    if (found === undefined) return `answers ${status} with ${type}, which is not in the document`;
    if (found !== "application/json") return undefined;
    const at = "$ref" in declared ? `${KEY}${declared.$ref}` : `${pointer}/${status}`;
    return misfitOf(ajv.getSchema(`${at}/content/${escaped(found)}/schema`), body);
  };
}

/** The default response lists codes of any operation; every other status is declared. */
function undescribed({ responses }: OperationObject, status: number, body: unknown): string | undefined {
  const { description = "" } = resolveReference(DOCUMENT, responses.default ?? {});
  const { code } = body as { code: string };
  return description.includes(`\`${code}\`:`) ? undefined : `${status} ${code} is not in the document`;
}

function misfitOf(validate: ValidateFunction | undefined, body: unknown): string | undefined {
  if (validate === undefined) throw new Error("The document has no schema for this response.");
  return validate(body) ? undefined : JSON.stringify(validate.errors?.slice(0, 3));
}

/** Escapes a JSON pointer part for a URI fragment. */
function escaped(key: string): string {
  return encodeURIComponent(key.replaceAll("~", "~0").replaceAll("/", "~1"));
}

/** Resolves `$ref`; other schemas are returned as they are. */
export function resolveSchema(schema: OperationSchema): OperationSchema {
  return resolveReference(DOCUMENT, schema as OperationSchema | { $ref: string });
}
