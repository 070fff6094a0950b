import { z } from "zod";
import { instanceId } from "../../core/events/contract.ts";
import { SESSION_ERRORS } from "../../core/instances/contract.ts";
import { messagesContract, person } from "../../core/messages/contract.ts";
import { isoTime, pageInput, pagination, route } from "../../platform/http/route.ts";
import { named } from "../../platform/http/schema-name.ts";
import { rule } from "../../platform/issue-codes.ts";
import { boundedText, coercedText, trimmedText } from "../../platform/text/bounded-text.ts";

/** More people than a person knows; each gets a message of their own. */
export const MAX_AUDIENCE = 1000;

/** Those of the phone. */
const FONTS = [0, 1, 2, 6, 7, 8, 9, 10] as const;

const NO_QUEUE = { issue: "is not supported: a story is sent at once" };

const { url, base64, mime_type, file_name } = messagesContract.sendMedia.input.shape;

const status = named(
  "Status",
  z.object({
    id: z.number().int(),
    message_id: z.string(),
    type: z.string(),
    text: z.string().nullable(),
    caption: z.string().nullable(),
    mime_type: z.string().nullable(),
    background_color: z.string().nullable(),
    font: z.number().int().nullable(),
    audience: z.number().int().describe("How many people it was sent to."),
    views: z.number().int(),
    sent_at: isoTime.nullable().describe("null: the network has not confirmed it."),
    created_at: isoTime,
  }),
);

const SHARED = { access: "instance", tag: "Stories" } as const;

export const statusesContract = {
  sendStatus: route({
    http: "POST /api/v1/instances/:id/send-status",
    ...SHARED,
    requiresBody: true,
    cost: 5,
    errors: [...SESSION_ERRORS, "MEDIA_DOWNLOAD_FAILED"],
    summary: "Post a story that its audience sees for a day",
    description:
      "A reply to a story is a `message.received` that quotes its `message_id`. Repeating a request posts another story.",
    message: "Story sent",
    aliases: {
      background_color: ["backgroundColor"],
      url: ["mediaUrl", "media_url"],
      mime_type: ["mimetype", "mimeType"],
      file_name: ["fileName"],
      type: ["media_type", "mediatype"],
      audience: ["statusJidList"],
    },
    refuses: { async: NO_QUEUE, async_send: NO_QUEUE, send_async: NO_QUEUE, send_at: NO_QUEUE },
    example: { text: "Open today until six", background_color: "#1e6e4f", audience: ["5511999990004"] },
    input: z.object({
      id: instanceId,
      text: trimmedText(700).min(1).optional(),
      background_color: boundedText(7)
        .regex(/^#[0-9a-f]{6}$/i, "must be a colour such as #1e6e4f")
        .optional(),
      font: z.coerce
        .number()
        .int()
        .refine(
          (font) => (FONTS as readonly number[]).includes(font),
          rule("must be 0, 1, 2, or 6 to 10", "unknown_value", { values: FONTS.join(", ") }),
        )
        .optional()
        .describe("Number of one of the phone's fonts: 0, 1, 2, or 6 to 10."),
      url,
      base64,
      mime_type,
      file_name,
      type: z.enum(["image", "video", "ptt"]).optional().describe("`ptt`: a voice note."),
      caption: trimmedText(700).min(1).optional(),
      audience: z
        .union([
          z.literal("contacts"),
          z
            .array(coercedText(120).min(1))
            .min(1, "names nobody")
            .max(MAX_AUDIENCE, `names more than ${MAX_AUDIENCE} people`),
        ])
        .default("contacts")
        .describe(
          `Numbers or JIDs, or \`contacts\`: the address book of the phone. At most ${MAX_AUDIENCE}.`,
        ),
    }),
    output: z.object({
      id: z.number().int(),
      message_id: z.string(),
      jid: z.string(),
      status: z.literal("sent"),
      timestamp: isoTime,
      audience: z.number().int(),
    }),
  }),
  listStatuses: route({
    http: "GET /api/v1/instances/:id/statuses",
    ...SHARED,
    summary: "List the stories of the instance of the last 30 days, the newest first",
    message: "Stories",
    input: z.object({ id: instanceId, ...pageInput }),
    output: z.array(status),
    beside: z.object({ pagination }),
  }),
  listStatusViews: route({
    http: "GET /api/v1/instances/:id/statuses/:messageId/views",
    ...SHARED,
    summary: "List who has seen a story, the latest first",
    message: "Views",
    input: z.object({ id: instanceId, messageId: trimmedText(128).min(1), ...pageInput }),
    output: z.array(person.extend({ viewed_at: isoTime })),
    beside: z.object({ pagination }),
  }),
};
