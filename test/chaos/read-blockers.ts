import { createClient } from "../../src/client/client.ts";

/** The keys of what /health names as in the way of production. */
export async function readBlockers(url: string): Promise<string[]> {
  const { production_blockers } = await createClient({ baseUrl: url }).health();
  return production_blockers.map(({ key }) => key);
}
