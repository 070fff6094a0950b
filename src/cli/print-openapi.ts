import { writeFile } from "node:fs/promises";
import { readOpenApiFile } from "../platform/openapi/openapi-file.ts";
import { StartError } from "../processes/start-error.ts";

export interface PrintOptions {
  output?: string;
}

/** Prints the OpenAPI document of the HTTP API, or writes it to a file. Throws StartError. */
export async function printOpenApi({ output }: PrintOptions): Promise<void> {
  const text = readOpenApiFile();
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
