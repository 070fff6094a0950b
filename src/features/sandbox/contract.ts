import { z } from "zod";
import { route } from "../../platform/route.ts";
import { instanceId } from "../events/contract.ts";

const digits = z.coerce
  .string()
  .trim()
  .transform((given) => given.replace(/(:\d+)?@(s\.whatsapp\.net|c\.us)$/i, "").replace(/[\s().+-]/g, ""))
  .pipe(z.string().regex(/^\d{7,15}$/, "must be a phone of 7 to 15 digits"));

const groupJid = z.coerce
  .string()
  .trim()
  .transform((given) => given.replace(/@g\.us$/i, ""))
  .pipe(z.string().regex(/^\d{5,25}(-\d{1,15})?$/, "must be the jid of a group"));

const messageId = z.string().trim().min(1).max(128);

/** Absent fields come as null from some clients. */
const optional = <T extends z.ZodType>(type: T) => type.nullish().transform((value) => value ?? undefined);

const actor = {
  id: instanceId,
  from: digits.describe("The other person; with `from_me` the chat in which the paired phone acts."),
  push_name: optional(z.string().max(100)),
  group_jid: optional(groupJid).describe("Acts in this group and not in the chat with `from`."),
  from_me: z.boolean().default(false).describe("The paired phone itself acts, not the other person."),
};

const media = z
  .object({
    url: optional(z.string().trim().max(2048)).describe("The gateway fetches it."),
    base64: optional(z.string()).describe("The file, also as a data URI."),
    type: optional(z.enum(["image", "video", "audio", "document", "sticker", "ptt"])),
    mime_type: optional(z.string().trim().max(200)),
    file_name: optional(z.string().max(255)),
    caption: optional(z.string().max(65_536)),
  })
  .refine(
    ({ url, base64 }) => (url === undefined) !== (base64 === undefined),
    "takes exactly one of url and base64",
  );

const location = z.object({
  latitude: z.number().min(-90).max(90),
  longitude: z.number().min(-180).max(180),
  name: optional(z.string().max(1000)),
  address: optional(z.string().max(1000)),
});

const contact = z.object({
  name: z.string().trim().min(1).max(200),
  phone: digits,
  vcard: optional(z.string().max(65_536)),
});

const receiveInput = z
  .object({
    ...actor,
    reply_to: optional(messageId),
    text: optional(z.string().min(1).max(65_536)),
    media: optional(media),
    location: optional(location),
    contact: optional(contact),
  })
  .refine(
    (input) =>
      [input.text, input.media, input.location, input.contact].filter((part) => part !== undefined).length ===
      1,
    "exactly one of text, media, location and contact is required",
  );

const readInput = z
  .object({
    ...actor,
    message_id: optional(messageId),
    message_ids: optional(z.array(messageId).min(1).max(1000)),
  })
  .refine((input) => input.message_id ?? input.message_ids, "one of message_id and message_ids is required");

const from = ["number", "phone", "jid"];
const message_id = ["messageId", "key.id"];
const actorAliases = { from, push_name: ["pushName"], group_jid: ["groupJid"], from_me: ["fromMe"] };
const messageAliases = { ...actorAliases, message_id };

const message = z.object({ message_id: z.string() });
const tag = "Sandbox";
const access = "instance";

export const sandboxContract = {
  sandboxScan: route({
    http: "POST /api/v1/instances/:id/sandbox/scan",
    access,
    tag,
    summary:
      "Scan the QR (or enter the pairing code) with a phone of the sandbox network; connects first if needed",
    message: "Scanned",
    aliases: { phone: ["number"] },
    input: z.object({
      id: instanceId,
      phone: optional(digits).describe("Absent: a number of its own."),
    }),
    output: z.object({
      phone: z.string(),
      jid: z.string().nullable(),
      lid: z.string().nullable(),
      status: z.string().describe("Of the instance, once it has heard of the scan."),
    }),
  }),
  sandboxReceive: route({
    http: "POST /api/v1/instances/:id/sandbox/receive",
    access,
    tag,
    summary: "Let somebody write to the instance",
    message: "Message handed to the sandbox network",
    aliases: { ...actorAliases, reply_to: ["replyTo"], text: ["message", "body"] },
    input: receiveInput,
    output: message,
  }),
  sandboxReact: route({
    http: "POST /api/v1/instances/:id/sandbox/react",
    access,
    tag,
    summary: "Let somebody react to a message; an empty reaction removes it",
    message: "Reaction handed to the sandbox network",
    aliases: { ...messageAliases, reaction: ["emoji", "text"] },
    input: z.object({ ...actor, message_id: messageId, reaction: z.string().max(64) }),
    output: message,
  }),
  sandboxEdit: route({
    http: "POST /api/v1/instances/:id/sandbox/edit",
    access,
    tag,
    summary: "Let the writer of a message edit it",
    message: "Edit handed to the sandbox network",
    aliases: messageAliases,
    input: z.object({ ...actor, message_id: messageId, text: z.string().min(1).max(65_536) }),
    output: message,
  }),
  sandboxDelete: route({
    http: "POST /api/v1/instances/:id/sandbox/delete",
    access,
    tag,
    summary: "Let the writer of a message delete it for everyone",
    message: "Deletion handed to the sandbox network",
    aliases: messageAliases,
    input: z.object({ ...actor, message_id: messageId }),
    output: message,
  }),
  sandboxRead: route({
    http: "POST /api/v1/instances/:id/sandbox/read",
    access,
    tag,
    summary: "Let somebody read messages of the instance",
    message: "Read receipt handed to the sandbox network",
    aliases: { ...messageAliases, message_ids: ["messageIds"] },
    input: readInput,
    output: z.object({ message_id: z.string(), message_ids: z.array(z.string()) }),
  }),
  sandboxCall: route({
    http: "POST /api/v1/instances/:id/sandbox/call",
    access,
    tag,
    summary: "Let somebody call the instance",
    message: "Call handed to the sandbox network",
    aliases: actorAliases,
    input: z.object({ ...actor, video: z.boolean().default(false) }),
    output: z.object({ call_id: z.string() }),
  }),
  sandboxDrop: route({
    http: "POST /api/v1/instances/:id/sandbox/drop",
    access,
    tag,
    summary: "Cut the instance's connection; it comes back by itself",
    message: "Connection dropped",
    input: z.object({ id: instanceId }),
    output: z.object({ phone: z.string() }),
  }),
  sandboxBan: route({
    http: "POST /api/v1/instances/:id/sandbox/ban",
    access,
    tag,
    summary: "Let the network ban the instance's number",
    message: "Number banned",
    input: z.object({ id: instanceId }),
    output: z.object({ phone: z.string() }),
  }),
};
