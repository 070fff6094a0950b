import { writeFile } from "node:fs/promises";
import { contract } from "../contract.ts";
import { formatOpenApi } from "../platform/openapi/format-openapi.ts";
import { toOpenApi30 } from "../platform/openapi/to-openapi-30.ts";
import { describeApi } from "../processes/describe-api.ts";
import { StartError } from "../processes/start-error.ts";

export interface PrintOptions {
  output?: string;
  openapiVersion: "3.1" | "3.0";
}

/** Prints the OpenAPI document of the HTTP API, or writes it to a file. Throws StartError. */
export async function printOpenApi({ output, openapiVersion }: PrintOptions): Promise<void> {
  const document = describeApi(contract);
  const text = formatOpenApi(openapiVersion === "3.0" ? toOpenApi30(document) : document);
  if (output === undefined) {
    // The reader may close the pipe early, as in `waygate openapi | head`.
    process.stdout.once("error", () => {});
    process.stdout.write(text);
    return;
  }
  await writeFile(output, text).catch((error: unknown) => {
    throw new StartError(`${output} cannot be written: ${(error as Error).message}`, { cause: error });
  });
  console.error(`Written to ${output}.`);
}
