import { unregisterInbox } from "./chatwoot/register-inbox.ts";
import type { IntegrationDeps } from "./integration-provider.ts";
import { openIntegration, selectIntegrations } from "./integration-row.ts";

type UnregisterDeps = Pick<IntegrationDeps, "db" | "box" | "outgoing" | "log">;

/** Has the other sides tell nothing more to an instance that is about to go, as far as they can be reached. */
export async function unregisterIntegrations(deps: UnregisterDeps, instanceId: number): Promise<void> {
  const rows = await selectIntegrations(deps.db, instanceId)
    .where("provider", "=", "chatwoot")
    .where("enabled", "=", true)
    .execute();
  for (const row of rows) await unregisterInbox(deps, openIntegration(row, deps.box));
}
