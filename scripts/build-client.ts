// Writes what the package of the client is made of besides its sources: the routes of the contract as plain data, and
// the types. Its argument is the folder.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { z } from "zod";
import { toClientRoutes } from "../src/client/to-client-routes.ts";
import { contract } from "../src/contract.ts";
import type { Contract, Route } from "../src/platform/http/route.ts";
import {
  capitalise,
  commentOf,
  createTypePrinter,
  indent,
  mayBeAbsent,
  type TypePrinter,
} from "./type-printer.ts";

const HEAD = `// Made from the contract of the gateway.
import type { CallOptions, ClientOptions } from "./create-methods.js";
import type { FileUpload, JsonValue } from "./request-body.js";
import type { EitherEnvelope, Envelope, JsonOrRaw, JsonStream, RawBody, StreamBody } from "./response-body.js";

export type { CallOptions, ClientOptions } from "./create-methods.js";
export type { FileUpload, JsonValue } from "./request-body.js";
export type { JsonStream, RawBody, StreamBody } from "./response-body.js";
export { WaygateError } from "./waygate-error.js";

/** A typed client of the gateway, for Node and browsers. Throws WaygateError for errors of the gateway. */
export declare function createClient(options: ClientOptions): Client;
`;

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("Name the folder to write to: build-client.js <folder>.");

const lines = Object.entries(toClientRoutes(contract)).map(
  ([name, route]) => `  ${name}: ${JSON.stringify(route)},`,
);
writeFileSync(
  join(folder, "index.js"),
  `// Made from the contract of the gateway.
import { createMethods } from "./create-methods.js";

export { WaygateError } from "./waygate-error.js";

const ROUTES = {
${lines.join("\n")}
};

export function createClient(options) {
  return createMethods(ROUTES, options);
}
`,
);
writeFileSync(join(folder, "index.d.ts"), clientDeclarations(contract));

/** The types of a client of a contract, without zod: one method per route, with its input and its response. */
function clientDeclarations(contract: Contract): string {
  const printer = createTypePrinter();
  const methods: string[] = [];
  const types: string[] = [];
  for (const [name, route] of Object.entries(contract)) {
    const typeName = capitalise(name);
    const mark = isOptional(route.input) ? "?" : "";
    types.push(`export type ${typeName}Input = ${printer.print(route.input, "input")};`);
    types.push(`export type ${typeName}Response = ${responseOf(route, printer)};`);
    methods.push(
      `${commentOf(route.summary)}readonly ${name}: (input${mark}: ${typeName}Input, options?: CallOptions) => Promise<${typeName}Response>;`,
    );
  }
  const client = `/** One method per route of the gateway. */\nexport interface Client {\n${indent(methods.join("\n"))}\n}`;
  const declarations = printer.declarations().map((one) => `export ${one}`);
  return `${[HEAD, client, ...types, ...declarations].join("\n")}\n`;
}

/** Whether an empty object fits. */
function isOptional(schema: z.core.$ZodType): boolean {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if (def.type === "pipe") return isOptional(def.in);
  if (def.type === "union") return def.options.some(isOptional);
  return def.type === "object" && Object.values(def.shape).every((field) => mayBeAbsent(field, "input"));
}

function responseOf(route: Route, printer: TypePrinter): string {
  const { output, beside, accepted, bare, raw, streamed } = route;
  const data = printer.print(output, "output");
  if (streamed) return bare ? `JsonStream<${data}>` : "StreamBody";
  if (raw !== undefined && output.def.type === "never") return "RawBody";
  const parts = [data, besideOf(beside, printer)];
  const later = accepted && [printer.print(accepted.output, "output"), besideOf(accepted.beside, printer)];
  const envelope = later
    ? `EitherEnvelope<${[...parts, ...later].join(", ")}>`
    : `Envelope<${parts.join(", ")}>`;
  const json = bare ? data : envelope;
  return raw === undefined ? json : `JsonOrRaw<${json}>`;
}

function besideOf(beside: z.ZodObject | undefined, printer: TypePrinter): string {
  return beside === undefined ? "unknown" : printer.print(beside, "output");
}
