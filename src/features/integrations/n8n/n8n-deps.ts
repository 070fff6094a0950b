import type { Health } from "../health.ts";
import type { IntegrationDeps } from "../provider.ts";
import type { FileAnswers } from "./file-answers.ts";

export interface N8nDeps extends IntegrationDeps {
  health: Health;
  fileAnswers: FileAnswers;
}
