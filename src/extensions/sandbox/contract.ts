import { z } from "zod";
import { instanceId } from "../../core/events/contract.ts";
import { UNSUPPORTED_REASONS } from "../../core/messages/contract.ts";
import { isoTime, route } from "../../platform/http/route.ts";
import { named } from "../../platform/http/schema-name.ts";
import { rule, valueIssue } from "../../platform/issue-codes.ts";
import { foldPhoneText } from "../../platform/phone/fold-phone-text.ts";
import { pointInTime } from "../../platform/point-in-time.ts";
import { boundedText, coercedText, trimmedText } from "../../platform/text/bounded-text.ts";

const digits = coercedText(120)
  .transform((text, context) => {
    const folded = foldPhoneText(text.replace(/(:\d+)?@(s\.whatsapp\.net|c\.us)$/i, ""));
    if ("digits" in folded && folded.context === undefined) return folded.digits;
    const { issue: message, ...params } =
      "issue" in folded
        ? folded
        : valueIssue("must be a whole number, without a phone-context", "not_a_number");
    context.addIssue({ code: "custom", message, params });
    return z.NEVER;
  })
  .pipe(z.string().regex(/^\d{7,15}$/, "must be a phone of 7 to 15 digits"));

const groupJid = coercedText(120)
  .transform((text) => text.replace(/@g\.us$/i, ""))
  .pipe(z.string().regex(/^\d{5,25}(-\d{1,15})?$/, "must be the jid of a group"));

/** The largest text that a body of these routes can contain. */
const BODY_CHARACTERS = 1_048_576;

const messageId = trimmedText(128).min(1);

/** Some clients send null for absent fields. */
const optional = <T extends z.ZodType>(type: T) => type.nullish().transform((value) => value ?? undefined);

const actor = {
  id: instanceId,
  from: digits.describe(
    "Number of the other person; with `from_me` the chat in which the paired phone acts.",
  ),
  push_name: optional(boundedText(100)),
  group_jid: optional(groupJid).describe("The action happens in this group instead of the chat with `from`."),
  from_me: z.boolean().default(false).describe("true: the paired phone acts instead of the other person."),
};

const media = named(
  "SandboxFile",
  z
    .object({
      url: optional(trimmedText(2048)).describe("The gateway fetches it."),
      base64: optional(boundedText(BODY_CHARACTERS)).describe("The file, also as a data URI."),
      type: optional(z.enum(["image", "video", "audio", "document", "sticker", "ptt"])),
      mime_type: optional(trimmedText(200)),
      file_name: optional(boundedText(255)),
      caption: optional(boundedText(65_536)),
    })
    .refine(
      ({ url, base64 }) => (url === undefined) !== (base64 === undefined),
      rule("needs exactly one of url and base64", "one_of_required", { fields: "url, base64" }),
    ),
);

const location = z.object({
  latitude: z.number().min(-90).max(90),
  longitude: z.number().min(-180).max(180),
  name: optional(boundedText(1000)),
  address: optional(boundedText(1000)),
});

const contact = z.object({
  name: trimmedText(200).min(1),
  phone: digits,
  vcard: optional(boundedText(65_536)),
});

const unsupported = z
  .object({ kind: trimmedText(200).min(1), reason: z.enum(UNSUPPORTED_REASONS) })
  .describe("Content that the gateway cannot read.");

const poll = z.object({
  question: boundedText(255).min(1),
  options: z.array(boundedText(100).min(1)).min(2).max(12),
  selectable_count: z.number().int().min(0).max(12).default(1),
});

const receiveInput = z
  .object({
    ...actor,
    reply_to: optional(messageId),
    text: optional(boundedText(65_536).min(1)),
    media: optional(media),
    location: optional(location),
    contact: optional(contact),
    poll: optional(poll),
    unsupported: optional(unsupported),
  })
  .refine(
    ({ text, media, location, contact, poll, unsupported }) =>
      [text, media, location, contact, poll, unsupported].filter((part) => part !== undefined).length === 1,
    rule(
      "exactly one of text, media, location, contact, poll and unsupported is required",
      "one_of_required",
      {
        fields: "text, media, location, contact, poll, unsupported",
      },
    ),
  );

const readInput = z
  .object({
    ...actor,
    message_id: optional(messageId),
    message_ids: optional(z.array(messageId).min(1).max(1000)),
  })
  .refine(
    (input) => input.message_id ?? input.message_ids,
    rule("one of message_id and message_ids is required", "one_of_required", {
      fields: "message_id, message_ids",
    }),
  );

const from = ["number", "phone", "jid"];
const message_id = ["messageId", "key.id"];
const actorAliases = { from, push_name: ["pushName"], group_jid: ["groupJid"], from_me: ["fromMe"] };
const groupAliases = { from: ["number", "phone"], group_jid: ["groupJid", "jid"] };
const messageAliases = { ...actorAliases, message_id };

const text = (max: number) => trimmedText(max).min(1);

const product = named(
  "SandboxProduct",
  z.object({
    id: text(100),
    name: text(200),
    description: boundedText(2000).nullable().default(null),
    price: z.number().nonnegative().nullable().default(null),
    currency: boundedText(3).nullable().default(null),
    url: boundedText(2048).nullable().default(null),
    image_url: boundedText(2048).nullable().default(null),
    retailer_id: boundedText(100).nullable().default(null),
    is_hidden: z.boolean().default(false),
  }),
);

const person = {
  name: text(100).nullable().optional().describe("In the address book of the paired phone."),
  push_name: text(100).nullable().optional().describe("The name that the person has chosen."),
  about: text(139).nullable().optional(),
  picture_url: boundedText(2048)
    .check(z.url({ protocol: /^https?$/ }))
    .nullable()
    .optional(),
  verified_name: text(100).nullable().optional().describe("The verified name of a business."),
  business: z
    .object({
      description: boundedText(512).optional(),
      category: boundedText(100).optional(),
      email: boundedText(254).optional(),
      website: z.array(boundedText(256)).max(5).optional(),
      address: boundedText(512).optional(),
      hours: z
        .object({
          timezone: boundedText(100).nullable().default(null),
          days: z
            .array(
              z.object({
                day: boundedText(20),
                mode: boundedText(40),
                opens: boundedText(5).nullable().default(null),
                closes: boundedText(5).nullable().default(null),
              }),
            )
            .max(50),
        })
        .optional(),
    })
    .nullable()
    .optional(),
  catalog: z
    .array(product)
    .max(500)
    .nullable()
    .optional()
    .describe("The products of a business; null: none."),
  known: z
    .enum(["both", "phone", "lid"])
    .optional()
    .describe(
      "Which addresses of the person the instance receives from now on: `both` reveals a hidden one.",
    ),
};

const chatState = {
  archived: z.boolean().optional(),
  pinned: z.boolean().optional(),
  muted_until: pointInTime.nullable().optional().describe("null: not muted."),
  unread: z.boolean().optional(),
};

const message = named("SandboxMessage", z.object({ message_id: z.string() }));
const tag = "Sandbox";
const access = "instance";

export const sandboxContract = {
  sandboxScan: route({
    http: "POST /api/v1/instances/:id/sandbox/scan",
    errors: ["CONFLICT", "CONNECT_FAILED"],
    access,
    tag,
    summary: "Scan the QR code or enter the pairing code with a sandbox phone; connects first if needed",
    message: "Scanned",
    aliases: { phone: ["number"] },
    input: z.object({
      id: instanceId,
      phone: optional(digits).describe("Default: a new number."),
    }),
    output: z.object({
      phone: z.string(),
      jid: z.string().nullable(),
      lid: z.string().nullable(),
      status: z.string().describe("Status of the instance after the scan."),
    }),
  }),
  sandboxReceive: route({
    http: "POST /api/v1/instances/:id/sandbox/receive",
    errors: ["CONFLICT", "INSTANCE_NOT_CONNECTED", "MEDIA_DOWNLOAD_FAILED"],
    access,
    tag,
    summary: "Let a sandbox contact send a message to the instance",
    message: "Message handed to the sandbox network",
    aliases: { ...actorAliases, reply_to: ["replyTo"], text: ["message", "body"] },
    example: { from: "5511977771234", text: "Hello" },
    input: receiveInput,
    output: message,
  }),
  sandboxStatus: route({
    http: "POST /api/v1/instances/:id/sandbox/status",
    requiresBody: true,
    errors: ["CONFLICT", "INSTANCE_NOT_CONNECTED", "MEDIA_DOWNLOAD_FAILED"],
    access,
    tag,
    summary: "Let a sandbox contact post a story, or with `message_id` see one of the instance",
    message: "Story handed to the sandbox network",
    aliases: messageAliases,
    example: { from: "5511977771234", text: "Open today" },
    input: z
      .object({
        id: instanceId,
        from: digits,
        push_name: optional(boundedText(100)),
        text: optional(boundedText(700).min(1)),
        media: optional(media),
        message_id: optional(messageId).describe("The story of the instance that the contact sees."),
      })
      .refine(
        ({ text, media, message_id }) =>
          [text, media, message_id].filter((part) => part !== undefined).length === 1,
        rule("exactly one of text, media and message_id is required", "one_of_required", {
          fields: "text, media, message_id",
        }),
      ),
    output: message,
  }),
  sandboxReact: route({
    http: "POST /api/v1/instances/:id/sandbox/react",
    errors: ["CONFLICT", "INSTANCE_NOT_CONNECTED"],
    access,
    tag,
    summary: "Let a sandbox contact react to a message; an empty reaction removes it",
    message: "Reaction handed to the sandbox network",
    aliases: { ...messageAliases, reaction: ["emoji", "text"] },
    input: z.object({ ...actor, message_id: messageId, reaction: boundedText(64) }),
    output: message,
  }),
  sandboxVote: route({
    http: "POST /api/v1/instances/:id/sandbox/vote",
    errors: ["CONFLICT", "INSTANCE_NOT_CONNECTED", "MESSAGE_NOT_FOUND"],
    access,
    tag,
    summary: "Let a sandbox contact vote on a poll; no options withdraw the vote",
    message: "Vote handed to the sandbox network",
    aliases: messageAliases,
    example: { from: "5511977771234", message_id: "3EB0C431D2A5F96B7E8812", options: ["Pizza"] },
    input: z.object({
      ...actor,
      message_id: messageId,
      options: z.array(boundedText(100)).max(12).describe("Texts or ids of options."),
    }),
    output: message,
  }),
  sandboxEdit: route({
    http: "POST /api/v1/instances/:id/sandbox/edit",
    errors: ["CONFLICT", "INSTANCE_NOT_CONNECTED"],
    access,
    tag,
    summary: "Let the writer of a message edit it",
    message: "Edit handed to the sandbox network",
    aliases: messageAliases,
    input: z.object({ ...actor, message_id: messageId, text: boundedText(65_536).min(1) }),
    output: message,
  }),
  sandboxDelete: route({
    http: "POST /api/v1/instances/:id/sandbox/delete",
    errors: ["CONFLICT", "INSTANCE_NOT_CONNECTED"],
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
    errors: ["CONFLICT", "INSTANCE_NOT_CONNECTED"],
    access,
    tag,
    summary: "Let a sandbox contact read messages of the instance",
    message: "Read receipt handed to the sandbox network",
    aliases: { ...messageAliases, message_ids: ["messageIds"] },
    example: { from: "5511977771234", message_ids: ["3EB0C431D2A5F96B7E8812"] },
    input: readInput,
    output: z.object({ message_id: z.string(), message_ids: z.array(z.string()) }),
  }),
  sandboxCall: route({
    http: "POST /api/v1/instances/:id/sandbox/call",
    errors: ["CONFLICT", "INSTANCE_NOT_CONNECTED"],
    access,
    tag,
    summary: "Let a sandbox contact call the instance",
    message: "Call handed to the sandbox network",
    aliases: actorAliases,
    input: z.object({ ...actor, video: z.boolean().default(false) }),
    output: z.object({ call_id: z.string() }),
  }),
  sandboxPresence: route({
    http: "POST /api/v1/instances/:id/sandbox/presence",
    errors: ["CONFLICT", "INSTANCE_NOT_CONNECTED"],
    access,
    tag,
    summary: "Let a sandbox contact come online, go or write, for an instance that follows the presence",
    message: "Presence handed to the sandbox network",
    aliases: actorAliases,
    input: z.object({
      ...actor,
      presence: z.enum(["available", "unavailable", "typing", "recording", "paused"]),
      last_seen_at: pointInTime.nullable().optional().describe("With `unavailable`; null: hidden."),
    }),
    output: z.object({ presence: z.string() }),
  }),
  sandboxDrop: route({
    http: "POST /api/v1/instances/:id/sandbox/drop",
    errors: ["CONFLICT", "INSTANCE_NOT_CONNECTED"],
    access,
    tag,
    summary: "Drop the instance's connection; it reconnects by itself",
    message: "Connection dropped",
    input: z.object({ id: instanceId }),
    output: z.object({ phone: z.string() }),
  }),
  sandboxBan: route({
    http: "POST /api/v1/instances/:id/sandbox/ban",
    errors: ["CONFLICT", "INSTANCE_NOT_CONNECTED"],
    access,
    tag,
    summary: "Let the network ban the instance's number",
    message: "Number banned",
    input: z.object({ id: instanceId }),
    output: z.object({ phone: z.string() }),
  }),
  sandboxContact: route({
    http: "POST /api/v1/instances/:id/sandbox/contact",
    errors: ["CONFLICT", "INSTANCE_NOT_CONNECTED"],
    access,
    tag,
    summary: "Change a sandbox contact on the network and the paired phone, and notify the instance",
    message: "Contact changed",
    aliases: { from },
    input: z.object({ id: instanceId, from: digits, ...person }),
    output: z.object({
      jid: z.string(),
      lid: z.string(),
      name: z.string().nullable(),
      push_name: z.string().nullable(),
      about: z.string().nullable(),
      picture_url: z.string().nullable(),
      verified_name: z.string().nullable(),
      business: z.unknown(),
      catalog: z.unknown(),
      known: z.enum(["both", "phone", "lid"]),
      is_blocked: z.boolean().describe("By the paired phone."),
    }),
  }),
  sandboxChat: route({
    http: "POST /api/v1/instances/:id/sandbox/chat",
    requiresBody: true,
    errors: ["CONFLICT", "INSTANCE_NOT_CONNECTED"],
    access,
    tag,
    summary: "Read or change a chat on the paired phone, and notify the instance",
    message: "Chat as the phone shows it",
    aliases: { from, group_jid: actorAliases.group_jid },
    example: { from: "5511977771234", archived: true },
    input: z
      .object({ id: instanceId, from: optional(digits), group_jid: optional(groupJid), ...chatState })
      .refine(
        (input) => input.from ?? input.group_jid,
        rule("one of from and group_jid is required", "one_of_required", { fields: "from, group_jid" }),
      ),
    output: z.object({
      archived: z.boolean(),
      pinned: z.boolean(),
      muted_until: isoTime.nullable(),
      unread: z.boolean(),
    }),
  }),
  sandboxLabel: route({
    http: "POST /api/v1/instances/:id/sandbox/label",
    requiresBody: true,
    errors: ["CONFLICT", "INSTANCE_NOT_CONNECTED"],
    access,
    tag,
    summary: "Change a label on the paired phone, or give it to a chat or a message, and notify the instance",
    message: "Label changed on the phone",
    aliases: { from, group_jid: actorAliases.group_jid, message_id },
    example: { label_id: "7", name: "New customer", color: 2 },
    input: z
      .object({
        id: instanceId,
        label_id: coercedText(64).min(1),
        name: optional(text(100)).describe("Creates the label, or changes it."),
        color: z.number().int().min(0).max(19).default(0),
        deleted: z.boolean().default(false),
        from: optional(digits).describe("Instead of a name: the chat that gets the label."),
        group_jid: optional(groupJid),
        message_id: optional(messageId),
        labelled: z.boolean().default(true).describe("false: the chat or the message loses the label."),
      })
      .refine(
        (input) => input.name ?? input.from ?? input.group_jid,
        rule("one of name, from and group_jid is required", "one_of_required", {
          fields: "name, from, group_jid",
        }),
      ),
    output: z.object({ label_id: z.string() }),
  }),
  sandboxGroup: route({
    http: "POST /api/v1/instances/:id/sandbox/group",
    errors: ["CONFLICT", "INSTANCE_NOT_CONNECTED"],
    access,
    tag,
    summary: "Let a sandbox contact create a group with the instance in it",
    message: "Group made",
    aliases: { from, subject: ["name"] },
    input: z.object({
      id: instanceId,
      from: digits.describe("Number of the creator, who is an admin."),
      subject: text(100),
      participants: z.array(digits).max(1022).default([]).describe("Numbers of the other members."),
      admin: z.boolean().default(false).describe("Whether the instance is an admin too."),
    }),
    output: z.object({ jid: z.string() }),
  }),
  sandboxGroupParticipants: route({
    http: "POST /api/v1/instances/:id/sandbox/group-participants",
    errors: ["CONFLICT", "INSTANCE_NOT_CONNECTED"],
    access,
    tag,
    summary: "Let an admin of a group add, remove, promote or demote members, including the instance",
    message: "Group changed",
    aliases: groupAliases,
    input: z.object({
      id: instanceId,
      from: digits,
      group_jid: groupJid,
      action: z.enum(["add", "remove", "promote", "demote"]),
      participants: z.array(digits).min(1).max(1024),
    }),
    output: z.array(z.object({ jid: z.string(), status: z.number() })),
  }),
  sandboxGroupJoin: route({
    http: "POST /api/v1/instances/:id/sandbox/group-join",
    errors: ["CONFLICT", "INSTANCE_NOT_CONNECTED"],
    access,
    tag,
    summary: "Let a sandbox contact use the invitation link of a group",
    message: "Invitation used",
    aliases: groupAliases,
    input: z.object({ id: instanceId, from: digits, group_jid: groupJid }),
    output: z.object({
      jid: z.string(),
      is_waiting: z.boolean().describe("Whether an admin of the group must approve it first."),
    }),
  }),
  sandboxGroupSettings: route({
    http: "POST /api/v1/instances/:id/sandbox/group-settings",
    errors: ["CONFLICT", "INSTANCE_NOT_CONNECTED"],
    access,
    tag,
    summary: "Let a member of a group change its settings",
    message: "Group changed",
    aliases: { ...groupAliases, subject: ["name"] },
    input: z.object({
      id: instanceId,
      from: digits,
      group_jid: groupJid,
      subject: text(100).optional(),
      description: boundedText(2048).optional(),
      announce: z.boolean().optional(),
      locked: z.boolean().optional(),
      join_approval: z.boolean().optional(),
      members_can_add: z.boolean().optional(),
    }),
    output: z.object({ jid: z.string() }),
  }),
  getSandboxPicture: route({
    http: "GET /sandbox/pictures/:pictureId",
    access: "public",
    tag,
    summary: "Get a profile picture of the sandbox network",
    input: z.object({ pictureId: boundedText(64) }),
    output: z.never(),
    raw: "image/jpeg",
  }),
};
