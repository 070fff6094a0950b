import type { Extension } from "../../core/extension.ts";
import { COMPATIBILITY_FORMATS } from "./webhook-formats.ts";

export const webhookFormatsExtension: Extension = {
  name: "webhook-formats",
  hooks: () => ({ webhookFormats: COMPATIBILITY_FORMATS }),
};
