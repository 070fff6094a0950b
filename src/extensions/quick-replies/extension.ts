import type { Extension } from "../../core/extension.ts";
import { quickRepliesContract } from "./contract.ts";
import { findQuickReply, quickReplyHandlers } from "./quick-replies.ts";

export const quickRepliesExtension: Extension = {
  name: "quick-replies",
  contract: quickRepliesContract,
  inStatements: { removal: { accountTables: ["quick_reply"] } },
  hooks: ({ requestDb }) => ({
    findQuickReply: (accountId, text) => findQuickReply(requestDb, accountId, text),
  }),
  open: ({ requestDb }) => ({ handlers: quickReplyHandlers(requestDb) }),
};
