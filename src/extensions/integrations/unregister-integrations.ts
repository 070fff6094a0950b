import { unregisterInbox } from "./chatwoot/register-inbox.ts";
import type { IntegrationDeps } from "./integration-provider.ts";
import { openIntegration, selectIntegrations } from "./integration-row.ts";

type UnregisterDeps = Pick<IntegrationDeps, "db" | "box" | "outgoing" | "log">;

/** Unregisters the webhooks of an instance that will be removed, if the other sides are reachable. */
export async function unregisterIntegrations(deps: UnregisterDeps, instanceId: number): Promise<void> {
  const rows = await selectIntegrations(deps.db, instanceId)
    .where("provider", "=", "chatwoot")
    .where("enabled", "=", true)
    .execute();
  for (const row of rows) await unregisterInbox(deps, openIntegration(row, deps.box));
}
