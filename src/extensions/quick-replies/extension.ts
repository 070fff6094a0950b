import type { Extension } from "../../core/extension.ts";
import { eraseValue, numberedName, reworded } from "../../core/personal-data/personal-data.ts";
import { quickRepliesContract } from "./contract.ts";
import { findFilledReply } from "./find-filled-reply.ts";
import { quickReplyHandlers } from "./quick-replies.ts";

export const quickRepliesExtension: Extension = {
  name: "quick-replies",
  // Its texts are filled in with the fields of leads.
  needs: ["crm"],
  contract: quickRepliesContract,
  tables: {
    quick_reply: {
      plain: "id account_id created_at updated_at",
      personal: {
        shortcut: numberedName("account"),
        title: eraseValue("account"),
        content: reworded("account"),
        media_url: eraseValue("account"),
      },
      foundBy: "account_id",
      exportedAs: "quickReplies",
    },
  },
  hooks: ({ requestDb }) => ({
    findQuickReply: (chat, text) => findFilledReply(requestDb, chat, text),
  }),
  open: ({ requestDb }) => ({ handlers: quickReplyHandlers(requestDb) }),
};
