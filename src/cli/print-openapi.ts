import { writeFile } from "node:fs/promises";
import { contract } from "../contract.ts";
import { formatOpenApi } from "../platform/openapi/format-openapi.ts";
import { describeApi } from "../processes/describe-api.ts";
import { StartError } from "../processes/start-error.ts";

/** Prints the OpenAPI document of the HTTP API, or writes it to a file. Throws StartError. */
export async function printOpenApi(output: string | undefined): Promise<void> {
  const text = formatOpenApi(describeApi(contract));
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
