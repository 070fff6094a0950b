import type { Extension } from "../../core/extension.ts";
import { quickRepliesContract } from "./contract.ts";
import { findFilledReply } from "./find-filled-reply.ts";
import { quickReplyHandlers } from "./quick-replies.ts";

export const quickRepliesExtension: Extension = {
  name: "quick-replies",
  // Its texts are filled in with the fields of leads.
  needs: ["crm"],
  contract: quickRepliesContract,
  inStatements: { removal: { accountTables: ["quick_reply"] } },
  hooks: ({ requestDb }) => ({
    findQuickReply: (chat, text) => findFilledReply(requestDb, chat, text),
  }),
  open: ({ requestDb }) => ({ handlers: quickReplyHandlers(requestDb) }),
};
