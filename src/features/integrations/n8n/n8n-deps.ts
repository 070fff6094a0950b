import type { IntegrationHealth } from "../health.ts";
import type { IntegrationDeps } from "../provider.ts";
import type { FileResponseLimit } from "./file-answers.ts";

export interface N8nDeps extends IntegrationDeps {
  health: IntegrationHealth;
  fileAnswers: FileResponseLimit;
}
