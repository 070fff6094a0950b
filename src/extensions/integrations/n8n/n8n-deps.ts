import type { IntegrationHealth } from "../delivery/integration-health.ts";
import type { IntegrationDeps } from "../integration-provider.ts";
import type { FileResponseLimit } from "./file-response-limit.ts";

export interface N8nDeps extends IntegrationDeps {
  health: IntegrationHealth;
  fileResponseLimit: FileResponseLimit;
}
