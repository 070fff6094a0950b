import { z } from "zod";
import {
  isoTime,
  pagination,
  removedRow,
  route,
  rowId,
  searchAliases,
  searchInput,
} from "../../platform/http/route.ts";
import { named } from "../../platform/http/schema-name.ts";
import { boundedText, trimmedText } from "../../platform/text/bounded-text.ts";

export const shortcut = trimmedText(65)
  .transform((text) => text.replace(/^\//, "").toLowerCase())
  .pipe(boundedText(64).regex(/^[\p{L}\p{N}_-]+$/u, "may hold letters, digits, - and _ only"));

const quickReply = named(
  "QuickReply",
  z.object({
    id: z.number().int(),
    shortcut: z.string(),
    title: z.string().nullable(),
    content: z.string(),
    media_url: z.string().nullable(),
    created_at: isoTime,
    updated_at: isoTime,
  }),
);

const SHARED = { access: "account", tag: "CRM", feature: "crm" } as const;

export const quickRepliesContract = {
  listQuickReplies: route({
    http: "GET /api/quick-replies",
    ...SHARED,
    heavy: "search",
    keepsToInstances: true,
    summary: "List the quick replies of the account",
    message: "Quick replies",
    aliases: searchAliases,
    input: z.object(searchInput),
    output: z.array(quickReply),
    beside: z.object({ pagination }),
  }),

  saveQuickReply: route({
    http: "POST /api/quick-replies",
    ...SHARED,
    summary:
      "Create a quick reply, or change the one with this shortcut; omitted fields stay unchanged, null removes a field",
    description:
      "To send it, set `text` to exactly `/shortcut`, or set `quick_reply`. With `media_url` the message is a file with `content` as its caption. Variables are filled in as in a campaign; an unknown one stays.",
    message: "Quick reply saved",
    input: z.object({
      shortcut: shortcut.describe("The name without the slash; case does not matter."),
      content: trimmedText(65_536).describe("Empty only with a file."),
      title: trimmedText(200).nullable().optional(),
      media_url: trimmedText(2048)
        .regex(/^https?:\/\//i, "must be an http or https address")
        .nullable()
        .optional(),
    }),
    aliases: { content: ["text", "message"], media_url: ["mediaUrl"] },
    output: quickReply,
  }),

  deleteQuickReply: route({
    http: "DELETE /api/quick-replies/:id",
    ...SHARED,
    summary: "Remove a quick reply",
    message: "Quick reply removed",
    input: z.object({ id: rowId }),
    output: removedRow,
  }),
};
