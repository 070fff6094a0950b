import { z } from "zod";
import { recipientAliases, recipientFields } from "../../core/contacts/contract.ts";
import { instanceId } from "../../core/events/contract.ts";
import { SESSION_ERRORS } from "../../core/instances/contract.ts";
import { isoTime, pageInput, pagination, queryFlag, route } from "../../platform/http/route.ts";
import { named } from "../../platform/http/schema-name.ts";
import { boundedText, coercedText, trimmedText } from "../../platform/text/bounded-text.ts";

/** The network's colours have numbers. */
const COLORS = 20;

export const label = named("Label", z.object({ id: z.string(), name: z.string(), color: z.number().int() }));

const name = trimmedText(100).min(1);
const color = z.coerce
  .number()
  .int()
  .min(0)
  .max(COLORS - 1)
  .describe("Number of one of the 20 colours of the phone, from 0.");
const labelId = coercedText(64).min(1).describe("Of the label.");
const labelled = z.boolean().default(true).describe("false: takes the label away.");
const messageId = trimmedText(128).min(1);

const labelledRow = z.object({
  jid: z.string(),
  lid: z.string().nullable(),
  phone: z.string().nullable(),
  created_at: isoTime,
});

const SHARED = { access: "instance", tag: "Labels" } as const;
const CHANGE = { ...SHARED, requiresBody: true, errors: SESSION_ERRORS } as const;
const beside = z.object({ pagination });

export const labelsContract = {
  listLabels: route({
    http: "GET /api/v1/instances/:id/labels",
    ...SHARED,
    errors: SESSION_ERRORS,
    summary: "List the labels of the phone, the newest first; `refresh=true` reads them again",
    message: "Labels",
    input: z.object({ id: instanceId, refresh: queryFlag.default(false), ...pageInput }),
    output: z.array(label.extend({ chats: z.number().int(), messages: z.number().int() })),
    beside,
  }),
  createLabel: route({
    http: "POST /api/v1/instances/:id/labels",
    ...CHANGE,
    summary: "Create a label on the phone",
    message: "Label created",
    aliases: { color: ["colour"] },
    input: z.object({ id: instanceId, name, color: color.default(0) }),
    output: label,
  }),
  updateLabel: route({
    http: "PATCH /api/v1/instances/:id/labels/:labelId",
    ...CHANGE,
    summary: "Change the name or the colour of a label",
    message: "Label changed",
    aliases: { color: ["colour"] },
    example: { name: "Customer", color: 4 },
    input: z.object({ id: instanceId, labelId, name: name.optional(), color: color.optional() }),
    output: label,
  }),
  deleteLabel: route({
    http: "DELETE /api/v1/instances/:id/labels/:labelId",
    ...SHARED,
    errors: SESSION_ERRORS,
    summary: "Delete a label on the phone; its chats stay",
    message: "Label deleted",
    input: z.object({ id: instanceId, labelId }),
    output: z.object({ id: z.string() }),
  }),
  listLabelledChats: route({
    http: "GET /api/v1/instances/:id/labels/:labelId/chats",
    ...SHARED,
    summary: "List the chats that have a label, the newest first",
    message: "Chats",
    input: z.object({ id: instanceId, labelId, ...pageInput }),
    output: z.array(labelledRow),
    beside,
  }),
  labelChat: route({
    http: "POST /api/v1/instances/:id/labels/:labelId/chats",
    ...CHANGE,
    summary: "Give a label to a chat, or take it away",
    message: "Chat changed",
    aliases: { ...recipientAliases, labelled: ["labeled"] },
    input: z.object({ id: instanceId, labelId, ...recipientFields, labelled }),
    output: z.object({ jid: z.string(), labelled: z.boolean() }),
  }),
  listLabelledMessages: route({
    http: "GET /api/v1/instances/:id/labels/:labelId/messages",
    ...SHARED,
    summary: "List the messages that have a label, the newest first",
    message: "Messages",
    input: z.object({ id: instanceId, labelId, ...pageInput }),
    output: z.array(labelledRow.extend({ message_id: z.string() })),
    beside,
  }),
  labelMessage: route({
    http: "POST /api/v1/instances/:id/labels/:labelId/messages",
    ...CHANGE,
    errors: [...SESSION_ERRORS, "MESSAGE_NOT_FOUND"],
    summary: "Give a label to a message in the log, or take it away",
    message: "Message changed",
    aliases: { message_id: ["messageId", "key.id"], labelled: ["labeled"] },
    input: z.object({
      id: instanceId,
      labelId,
      message_id: messageId,
      jid: boundedText(120).optional().describe("Its chat, if several chats have a message with this id."),
      labelled,
    }),
    output: z.object({ jid: z.string(), message_id: z.string(), labelled: z.boolean() }),
  }),
};
