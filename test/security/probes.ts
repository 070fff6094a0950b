import { contract } from "../../src/contract.ts";
import type { Route } from "../../src/platform/http/route.ts";
import { createOpenApiDocument } from "../../src/platform/openapi/openapi-document.ts";
import { cleanText } from "../../src/platform/text/clean-text.ts";
import type { TextField } from "./text-fields.ts";

type Json = Record<string, unknown>;

/** A text of one kind in one field of an operation. */
export interface Probe {
  field: TextField;
  /** What the text is made of. */
  unit: string;
  characters: number;
}

export interface ProbeRequest {
  /** Method and address, with the field in it where it is a part of them. */
  http: string;
  /** Absent where the operation takes none. */
  body?: Json;
}

/** Longer addresses are refused before they are read. */
const LONGEST_ADDRESS = 8_000;
const NOBODY = "999999999";

interface Description {
  paths: Record<
    string,
    Record<string, { operationId: string; requestBody?: { content: Record<string, { example?: Json }> } }>
  >;
}

/** Requests that are whole but for the field in question. `ids`: values of the parts of a path, by name. */
export function createProbeRequests(ids: Readonly<Record<string, string>>): (probe: Probe) => ProbeRequest {
  const { paths } = createOpenApiDocument(contract) as unknown as Description;
  const operations = Object.values(paths).flatMap((path) => Object.values(path));
  const examples = new Map(
    operations.map(({ operationId, requestBody }) => [
      operationId,
      requestBody?.content["application/json"]?.example,
    ]),
  );
  return ({ field, unit, characters }) => {
    const { http } = contract[field.operation as keyof typeof contract] as Route;
    const hasBody = !/^(GET|DELETE) /.test(http);
    const inPath = http.includes(`:${field.path}`);
    const text = textOf(unit, hasBody && !inPath ? characters : Math.min(characters, LONGEST_ADDRESS));
    const path = http.replace(/:(\w+)/g, (_, name: string) =>
      encodeURIComponent((inPath && name === field.path ? cleanText(text) : ids[name]) ?? NOBODY).slice(
        0,
        LONGEST_ADDRESS,
      ),
    );
    if (inPath) return { http: path, ...(hasBody && { body: {} }) };
    if (!hasBody)
      return {
        http: `${path}?${new URLSearchParams({ [field.path]: text }).toString().slice(0, LONGEST_ADDRESS)}`,
      };
    const example = examples.get(field.operation);
    // Nobody wants to wait for a QR.
    return {
      http: path,
      body: withField(
        { ...example, ...(path.includes("/connect") && { wait_seconds: 0 }) },
        field.path,
        text,
      ),
    };
  };
}

function textOf(unit: string, characters: number): string {
  const inUnit = [...unit].length;
  return unit.repeat(Math.max(1, Math.floor(characters / inUnit)));
}

/** `a.b[].c`, `a{}` (a key) and `a.*` (the value of one). */
function withField(body: Json, path: string, text: string): Json {
  const [, name = "", rest = ""] = /^([\w]+|\*)(.*)$/.exec(path) ?? [];
  return { ...body, [name === "*" ? "key" : name]: valueAt(rest, text) };
}

function valueAt(rest: string, text: string): unknown {
  if (rest === "") return text;
  if (rest.startsWith("[]")) return [valueAt(rest.slice(2), text)];
  if (rest.startsWith("{}")) return { [text]: "a" };
  return withField({}, rest.slice(1), text);
}
