import type { Extension } from "../../core/extension.ts";
import { assistantToolsContract } from "./contract.ts";

export const assistantToolsExtension: Extension = {
  name: "assistant-tools",
  contract: assistantToolsContract,
  open: ({ serveMcp }) => ({ handlers: { mcp: serveMcp } }),
};
