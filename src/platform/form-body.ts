import { z } from "zod";
import { GatewayError } from "./errors.ts";
import type { Route, UploadedFile } from "./route.ts";

type Fields = Record<string, unknown>;
type Kind = "boolean" | "number" | "json" | "text";

/** A multipart/form-data body as it arrived; it is taken apart only where a route takes files. */
export class FormBody {
  readonly #bytes: Buffer;
  readonly #type: string;

  constructor(bytes: Buffer, type: string) {
    this.#bytes = bytes;
    this.#type = type;
  }

  /** The texts of the form, and its one file under the name `upload`. Throws VALIDATION_ERROR when it is malformed. */
  async read(upload: string): Promise<Fields> {
    const fields: Fields = {};
    let file: UploadedFile | undefined;
    for (const [name, value] of await this.#parts()) {
      if (typeof value === "string") define(fields, name, value);
      else if (value.size === 0 && value.name === "") continue;
      else if (file) throw malformed("carries more than one file");
      else file = await toUpload(value);
    }
    if (file) define(fields, upload, file);
    return fields;
  }

  async #parts(): Promise<FormData> {
    try {
      return await new Response(this.#bytes, { headers: { "content-type": this.#type } }).formData();
    } catch {
      throw malformed("is not valid multipart/form-data");
    }
  }
}

/** An own property, whatever its name. */
function define(fields: Fields, name: string, value: unknown): void {
  Object.defineProperty(fields, name, { value, enumerable: true, writable: true, configurable: true });
}

async function toUpload(file: File): Promise<UploadedFile> {
  return {
    bytes: Buffer.from(await file.arrayBuffer()),
    ...(file.name !== "" && { file_name: file.name }),
    ...(file.type !== "" && { mime_type: file.type }),
  };
}

function malformed(what: string): GatewayError {
  return new GatewayError("VALIDATION_ERROR", `The body ${what}.`);
}

/** A form knows texts only: this reads them as what the route's input wants, and leaves the rest to its schema. */
export function formReader({ input }: Route): (fields: Fields) => Fields {
  const { properties = {} } = z.toJSONSchema(input, { io: "input", unrepresentable: "any" });
  const kinds = new Map(Object.entries(properties).map(([name, schema]) => [name, kindOf(schema)]));
  return (fields) =>
    Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, readAs(kinds.get(name), value)]));
}

function kindOf(schema: unknown): Kind {
  const { type } = Object(schema) as { type?: unknown };
  if (type === "boolean") return "boolean";
  if (type === "number" || type === "integer") return "number";
  return type === "object" || type === "array" ? "json" : "text";
}

function readAs(kind: Kind | undefined, value: unknown): unknown {
  if (typeof value !== "string") return value;
  if (kind === "boolean") return value === "true" ? true : value === "false" ? false : value;
  if (kind === "number") return value.trim() === "" ? value : Number(value);
  return kind === "json" ? parsed(value) : value;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
