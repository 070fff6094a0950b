import type { CallOptions, Client } from "../client/client.ts";
import { readPages } from "./read-pages.ts";

/**
 * The instance that a key opens, identified by the end of its masked key; undefined if none or several match.
 */
export async function findOwnInstance(
  client: Client,
  { apiKey, options }: { apiKey: string; options: CallOptions },
): Promise<number | undefined> {
  const masked = `wg_****${apiKey.slice(-4)}`;
  const { data } = await readPages(
    (page) => client.listAllInstances(page, options),
    () => {},
  );
  const [own, ...others] = data.filter(({ token }) => token === masked);
  return others.length === 0 ? own?.id : undefined;
}
