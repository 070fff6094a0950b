import { buffer } from "node:stream/consumers";
import { GatewayError } from "../../../platform/gateway-error.ts";
import type { EventWork, IntegrationDeps } from "../integration-provider.ts";
import type { N8nConfig } from "./n8n-config.ts";

/** In base64 a file grows by a third, and n8n accepts events of 16 MB by default. */
const LARGEST_BYTES = 5 * 1024 * 1024;

/** The file of an event in base64, if configured; undefined if it is too large or not available in time. */
export async function readInlineFile(
  { openFile }: Pick<IntegrationDeps, "openFile">,
  { data }: EventWork["event"],
  { media }: N8nConfig,
): Promise<string | undefined> {
  const id: string | null | undefined = data.message?.media?.id;
  if (media !== "base64" || !id) return undefined;
  try {
    const { size, read } = await openFile(id);
    return size > LARGEST_BYTES ? undefined : (await buffer(await read())).toString("base64");
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return undefined;
  }
}
