import type { Extension } from "../../core/extension.ts";
import { WEBHOOK_FORMATS } from "./webhook-formats.ts";

export const webhookFormatsExtension: Extension = {
  name: "webhook-formats",
  hooks: () => ({ webhookFormats: WEBHOOK_FORMATS }),
};
