import type { Jid } from "../../../network/driver.ts";
import { withTimeout } from "../../../platform/limits/with-timeout.ts";
import type { IntegrationDeps } from "../integration-provider.ts";
import type { ChatwootPerson } from "./find-or-create-contact.ts";

const TIMEOUT_MS = 3_000;

/**
 * The URL of a person's picture, which Chatwoot fetches itself; undefined if the network does not return it
 * soon.
 */
export async function findProfilePicture(
  { findSession }: Pick<IntegrationDeps, "findSession">,
  instanceId: number,
  { jid, is_group }: ChatwootPerson,
): Promise<string | undefined> {
  if (is_group) return undefined;
  const query = findSession(instanceId).then((session) => session?.contacts.info(jid as Jid));
  const result = await withTimeout(
    query.catch(() => undefined),
    TIMEOUT_MS,
  );
  return result?.outcome === "done" ? (result.value.picture_url ?? undefined) : undefined;
}
