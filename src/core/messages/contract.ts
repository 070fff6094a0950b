import { z } from "zod";
import { sendError } from "../../platform/http/reason-schemas.ts";
import {
  pageInput,
  pagination,
  route,
  rowId,
  type SpooledUpload,
  type UploadedFile,
} from "../../platform/http/route.ts";
import { named } from "../../platform/http/schema-name.ts";
import { rule } from "../../platform/issue-codes.ts";
import { boundedText, fileText, trimmedText, unionErrorMessage } from "../../platform/text/bounded-text.ts";
import { digitsOrJid, recipientAliases, recipientFields } from "../contacts/contract.ts";
import { instanceId } from "../events/contract.ts";
import { SESSION_ERRORS } from "../instances/contract.ts";
import { media, mimeType } from "../media/contract.ts";
import { REFUSED_FIELDS, REFUSED_IN_EDIT, REFUSED_IN_PRESENCE, refusedInDelete } from "./refused-fields.ts";

// Checks the size before the values, since a check of half a million values is slow.
const jsonObject = z
  .custom<Record<string, z.core.util.JSONType>>(
    isObject,
    rule("must be an object", "wrong_type", { expected: "object" }),
  )
  .refine(
    (value) => JSON.stringify(value).length <= 8192,
    rule("is larger than 8 KiB", "too_large", { max: 8, unit: "KiB" }),
  )
  .meta({ type: "object", additionalProperties: true });

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Ids in the formats of other gateways: `true_<chat>_<id>_<participant>`, `<owner>:<id>`, `me:<id>`. */
const PEER_ID = /^(?:(?:true|false)_[^_]+_([^_]+)(?:_.*)?|(?:\d{7,15}|me):(.+))$/;

const messageId = trimmedText(200)
  .min(1)
  .transform((id) => {
    const [, waha, uazapi] = PEER_ID.exec(id) ?? [];
    return waha ?? uazapi ?? id;
  });
const caption = boundedText(65_536);
const text = boundedText(65_536)
  .min(1, "must not be empty")
  .regex(/\S/, "must not be blank: white space alone shows nothing");

function splitList(text: string): string[] {
  return text
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "");
}

const mentions = named(
  "Mentions",
  z
    .union([
      z.array(digitsOrJid).max(1024),
      boundedText(32_768)
        .transform(splitList)
        .pipe(z.array(boundedText(200)).max(1024)),
    ])
    .describe("People mentioned in the text; or one string, separated by commas."),
);

const moment = boundedText(64).check(
  z.iso.datetime({
    offset: true,
    error: "must be a time with a zone such as 2026-11-20T12:00:00-03:00",
  }),
);
const sendAt = moment.describe(
  "Schedules the message for this time, at most a year from now; the response is 202. Not for a synchronous send.",
);
const expiresAt = moment.describe(
  "With `send_at`: if the message could not begin by then, it fails. Default: after the hold time of queued sends.",
);

const clientMessageId = named(
  "ClientMessageId",
  boundedText(200)
    .min(1)
    .describe("Your own id of the message. A request with the same id within 24 hours does not send again."),
);

/** The options of every send besides its content. */
const sendOptions = {
  async: z.boolean().optional().describe("true: return 202 immediately; an event reports the outcome."),
  async_send: z.boolean().optional().describe("As `async`."),
  send_async: z.boolean().optional().describe("As `async`."),
  mode: z.enum(["async", "sync"]).optional().describe("`async`: as `async: true`."),
  delay: z.coerce
    .number()
    .int()
    .min(0)
    .max(60_000)
    .optional()
    .describe("Milliseconds to show typing before the message is sent."),
  send_at: sendAt.optional(),
  expires_at: expiresAt.optional(),
  mentions: mentions.optional(),
  reply_to: messageId.optional().describe("`message_id` of the message to quote."),
  client_message_id: clientMessageId.optional(),
  track_id: boundedText(200).min(1).optional().describe("Returned in the events of the message."),
  metadata: jsonObject.optional().describe("Stored with the message."),
};

/** The fields of every send with content of its own. */
export const sendFields = {
  ...recipientFields,
  ...sendOptions,
  forwarded: z.boolean().optional().describe("true: phones show the message as forwarded."),
};

const inOptions = (name: string) => `options.${name}`;
const andInOptions = (...names: string[]) => [...names, ...names.map(inOptions)];

export const sendAliases = {
  ...recipientAliases,
  client_message_id: ["clientMessageId"],
  track_id: ["trackId"],
  reply_to: [
    inOptions("reply_to"),
    ...andInOptions("replyTo", "reply_id", "replyid", "replyId", "reply_to_id", "replyToId"),
    ...andInOptions("reply_message_id", "replyMessageId", "reply_to_message_id", "replyToMessageId"),
    ...andInOptions("quoted_message_id", "quotedMessageId", "quotedMsgId", "quotedMsg", "quote"),
    ...andInOptions("quoted_id", "quotedId", "in_reply_to", "inReplyTo"),
    "context.message_id",
    "context.id",
    "options.quoted.key.id",
    "contextInfo.stanzaId",
    "contextInfo.quotedMessageId",
    "ContextInfo.StanzaId",
    "quoted.key.id",
    "quoted.id",
    "quoted",
  ],
  mentions: [
    "mentioned",
    "mentionedJid",
    "mentioned_jid",
    ...andInOptions("mentionedList", "mentioned_list"),
    "options.mentioned",
    "options.mentions.mentioned",
    "contextInfo.mentionedJid",
    "ContextInfo.MentionedJID",
  ],
  delay: ["options.delay"],
  forwarded: [
    "forward",
    "forwardMessage",
    "is_forwarded",
    "isForwarded",
    "contextInfo.isForwarded",
    "ContextInfo.IsForwarded",
  ],
  send_at: [inOptions("send_at"), ...andInOptions("sendAt", "scheduled_at", "scheduledAt")],
  expires_at: ["expiresAt", inOptions("expires_at")],
};

const messageIdAliases = { message_id: ["id", "messageId", "key.id", "Id"] };

const quickReply = boundedText(70)
  .min(1)
  .optional()
  .describe("Shortcut of a quick reply, instead of `text`.");

const textFields = {
  text: text.describe("The text. With `link_preview` the gateway reads its first link."),
  link_preview: z
    .boolean()
    .default(false)
    .describe(
      "true: show a preview of the first http(s) link, which the gateway fetches within 2.5 seconds. If that fails, the text is sent without a preview.",
    ),
};
const textAliases = {
  text: ["message", "body", "Body", "textMessage.text"],
  link_preview: ["linkPreview", "preview_url", "previewUrl", "LinkPreview", "options.linkPreview"],
};

export const UNSUPPORTED_REASONS = ["unknown_kind", "masked", "view_once", "undecryptable"] as const;
const MEDIA_TYPES = ["image", "video", "audio", "document", "sticker", "ptt", "ptv"] as const;

const PRESENCES = [
  "available",
  "unavailable",
  "typing",
  "composing",
  "recording",
  "recording_audio",
  "paused",
] as const;

/** The media type names of other gateways. */
const PEER_MEDIA_TYPES = { videoplay: "video", myaudio: "ptt" } as const;
const mediaType = z.union(
  [z.enum(MEDIA_TYPES), z.enum(["videoplay", "myaudio"]).transform((alias) => PEER_MEDIA_TYPES[alias])],
  unionErrorMessage(`must be one of ${MEDIA_TYPES.join(", ")}`),
);

const mediaFields = {
  url: fileText()
    .min(1)
    .optional()
    .describe("Address of the file, which the gateway fetches; or a data URI."),
  base64: fileText()
    .min(1)
    .optional()
    .describe("The file in base64; or a data URI or an address. In JSON you can also name it `file`."),
  file: z
    .union([
      z.custom<UploadedFile | SpooledUpload>(
        isUpload,
        rule("must be a file or text", "wrong_type", { expected: "file, text" }),
      ),
      fileText().min(1),
      // Its parts are aliases of the other fields.
      z.union([z.object({ url: fileText() }), z.object({ data: fileText() })]).transform(() => undefined),
    ])
    .optional()
    .describe("The file as a part of a multipart/form-data body."),
  type: mediaType.optional().describe("Default: detected from `mime_type` or the content."),
  mime_type: mimeType.optional(),
  file_name: boundedText(255).min(1).optional(),
  caption: caption.optional(),
  ptt: z.boolean().optional().describe("true: a voice note."),
  ptv: z.boolean().optional().describe("true: a round video note, as `type: ptv`."),
  gif_playback: z
    .boolean()
    .optional()
    .describe("true: a video that plays in a loop without sound, like a GIF."),
  view_once: z
    .boolean()
    .optional()
    .describe("true: phones show or play it only once. For an image, a video or a voice note."),
  pack_name: boundedText(128).optional().describe("Of a sticker: the name of its pack, which phones show."),
  pack_publisher: boundedText(128).optional(),
  emojis: z
    .array(boundedText(64).refine(isOneEmoji, rule("must be one emoji or empty", "wrong_format")))
    .max(3)
    .optional()
    .describe("Of a sticker: up to three emojis, under which phones find it."),
};

const albumItem = named(
  "NewAlbumItem",
  z.strictObject({
    url: mediaFields.url,
    base64: mediaFields.base64,
    type: z.enum(["image", "video"]).optional(),
    mime_type: mimeType.optional(),
    file_name: mediaFields.file_name,
    caption: mediaFields.caption,
  }),
);

/** Names of a file that also say its type. */
const STICKERS = ["sticker", "Sticker", "stickerMessage.image"];
const VOICE_NOTES = ["audio", "Audio", "audioMessage.audio"];

const impliedByFile = {
  ...Object.fromEntries(STICKERS.map((name) => [name, { type: "sticker" }])),
  ...Object.fromEntries(VOICE_NOTES.map((name) => [name, { type: "ptt", ptt: true }])),
};

const captionAliases = ["text", "Caption", "mediaMessage.caption"];

const mediaAliases = {
  url: ["mediaUrl", "file.url"],
  base64: [
    "media_url",
    "link",
    "media",
    "data",
    "file.data",
    "mediaMessage.media",
    "Image",
    "Video",
    "Document",
    ...STICKERS,
    ...VOICE_NOTES,
  ],
  type: ["mediatype", "media_type", "mediaMessage.mediatype"],
  mime_type: ["mimeType", "mimetype", "file.mimetype", "MimeType"],
  file_name: ["fileName", "filename", "docName", "file.filename", "FileName", "mediaMessage.fileName"],
  ptt: ["PTT", ...andInOptions("sendAudioAsVoice", "asVoice", "sendAsVoice", "isPtt", "voice")],
  ptv: ["asNote", ...andInOptions("isPtv", "asVideoNote")],
  gif_playback: ["gif", "gifPlayback", ...andInOptions("sendVideoAsGif", "asGif", "sendAsGif", "isGif")],
  view_once: [
    ...andInOptions("viewOnce", "isViewOnce", "asViewOnce", "sendAsViewOnce"),
    "ViewOnce",
    "mediaMessage.viewOnce",
  ],
  pack_name: ["packName", "PackName"],
  pack_publisher: ["packPublisher", "PackPublisher"],
  emojis: ["Emojis"],
};

function isUpload(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return "bytes" in value ? value.bytes instanceof Uint8Array : "read" in value;
}

/** A number, also as text; rejects everything else. */
const degrees = (limit: number) =>
  z
    .union(
      [
        z.number(),
        trimmedText(64)
          .regex(/^[+-]?\d{1,3}(\.\d+)?$/, "must be a number")
          .transform(Number),
      ],
      unionErrorMessage(`must be degrees from -${limit} to ${limit} with a decimal point, such as -23.5`),
    )
    .pipe(z.number().min(-limit).max(limit));

const locationAliases = {
  latitude: ["Latitude", "locationMessage.latitude"],
  longitude: ["Longitude", "locationMessage.longitude"],
  name: ["title", "Name", "locationMessage.name"],
  address: ["locationMessage.address"],
};

const locationFields = {
  latitude: degrees(90),
  longitude: degrees(180),
  name: boundedText(1000).optional(),
  address: boundedText(1000).optional(),
};

/** Text on a contact card is one line: a line break would begin another vCard property. */
export const cardName = trimmedText(200)
  .min(1)
  .regex(/^[^\p{Cc}\u2028\u2029]*$/u, "must be one line");

/** Of one message. */
const MOST_CARDS = 20;

const vcardText = boundedText(10_000).min(1);

const cardDetails = {
  organization: boundedText(200).optional(),
  email: boundedText(254).optional(),
  url: boundedText(2000).optional(),
};

/** Also as the clients of other gateways write it. */
const namedCard = z.union([
  z.object({ name: cardName, phone: digitsOrJid, ...cardDetails }),
  z
    .object({ fullName: cardName, phoneNumber: digitsOrJid, ...cardDetails })
    .transform(({ fullName, phoneNumber, ...rest }) => ({ name: fullName, phone: phoneNumber, ...rest })),
]);

const wholeVcard = z.object({ vcard: vcardText });

/** A vCard is an alias of the field `vcard`. */
const card = named("ContactCard", z.union([namedCard, wholeVcard.transform(() => undefined)]));
const cards = named(
  "ContactCards",
  z
    .array(z.union([namedCard, wholeVcard]))
    .min(1)
    .max(MOST_CARDS),
);

const cardFields = {
  name: cardName.optional(),
  contact: z
    .union([card, cards])
    .optional()
    .describe(
      "The contact card, if `phone` names the recipient; or several, which you can also name `contacts`.",
    ),
  vcard: vcardText
    .optional()
    .describe(
      "A complete vCard, which is sent with all its properties; the gateway reads name and phone from it.",
    ),
};
const cardAliases = {
  name: ["fullName", "contact_name", "Name"],
  phone: ["phoneNumber", "contact_phone"],
  contact: ["contacts", "contactMessage"],
  vcard: ["Vcard", "contact.vcard"],
};

/** Present if a file goes out in another form, since phones would not show or play it. */
const conversion = {
  converted: z
    .object({ from: z.string(), to: z.string() })
    .optional()
    .describe("The type of the given file, and the type that was sent; or `document`."),
  hint: z.string().optional().describe("What was converted, and why."),
};

export const pollOption = named(
  "PollOption",
  z.object({ id: z.string().describe("SHA-256 of the text, in hex."), text: z.string() }),
);

/** Present if the message is a poll, or asks a question. */
const sentPoll = {
  poll: z.object({ options: z.array(pollOption) }).optional(),
  ask_id: z.string().optional(),
};

const assumed_country = z
  .string()
  .optional()
  .describe("Present if the number had no country code: the `default_country` that completed it.");

const sentItems = z
  .array(
    named(
      "SentAlbumItem",
      z.object({
        message_id: z.string(),
        id: z.number().int(),
        status: z.string(),
        ...conversion,
        error: z.object({ code: z.string(), message: z.string() }).optional(),
      }),
    ),
  )
  .optional()
  .describe("The messages of an album, in order. One whose outcome is not known yet is `pending`.");

const sentMessage = named(
  "SentMessage",
  z.object({
    message_id: z.string().describe("The network's id."),
    providerMessageId: z.string().describe("As `message_id`."),
    id: z.number().int(),
    jid: z.string(),
    status: z.enum(["pending", "sent", "delivered", "read", "played", "failed", "cancelled"]),
    timestamp: z.iso.datetime(),
    ...conversion,
    ...sentPoll,
    assumed_country,
    items: sentItems,
  }),
);

const queued = {
  queued: z.literal(true),
  jobId: z.string(),
  pendingMessageId: z.string().describe("The network's id, which the gateway has already chosen."),
};

const accepted = {
  output: named(
    "QueuedMessage",
    z.object({
      ...queued,
      message_id: z.string().describe("As `pendingMessageId`, and as in the response to a synchronous send."),
      message: z.object({
        id: z.number().int(),
        status: z.enum(["pending", "scheduled"]),
        send_at: z.iso.datetime().optional().describe("Present if the message is scheduled."),
      }),
      ...conversion,
      ...sentPoll,
      assumed_country,
      items: sentItems,
    }),
  ),
  beside: z.object(queued),
  isRequested: ({ async, async_send, send_async, mode, send_at }: Readonly<Record<string, unknown>>) =>
    Boolean(async || async_send || send_async || mode === "async" || send_at !== undefined),
};

export const sender = named(
  "Sender",
  z.object({
    jid: z.string(),
    lid: z.string().nullable(),
    phone: z.string().nullable(),
    push_name: z.string().nullable(),
  }),
);

/** Unknown values are null in the view of a message. */
const nullableText = z.string().nullable();

/** A person with all known addresses. */
export const person = named("Person", z.object({ jid: z.string(), lid: nullableText, phone: nullableText }));

const quotedMessage = named(
  "QuotedMessage",
  z.object({
    id: z.string(),
    from_me: z.boolean(),
    sender: z.string().optional(),
    text: z.string().optional().describe("Text or caption of the quoted message, up to 4,096 characters."),
    chat: z.string().optional().describe("Chat of the quoted message, if it is in another chat."),
    content: z
      .object({
        kind: z.enum(["media", "location", "contact"]),
        media_type: z.string().optional(),
        mime_type: z.string().optional(),
        file_name: z.string().optional(),
        size: z.number().optional(),
        sha256: z.string().optional(),
        seconds: z.number().optional(),
        latitude: z.number().optional(),
        longitude: z.number().optional(),
        name: z.string().optional(),
        address: z.string().optional(),
        phone: z.string().optional(),
      })
      .optional()
      .describe("Type of the quoted message, unless it is a text."),
  }),
);

const choice = named(
  "Choice",
  z.object({
    kind: z.enum(["button", "template_button", "list", "flow"]),
    id: nullableText.describe("Of the chosen button or row."),
    name: nullableText.describe("Of a form."),
    params: nullableText.describe("The values of a form: JSON as text, at most 8,192 characters."),
  }),
);

const unsupported = named(
  "UnsupportedContent",
  z.object({
    kind: z.string().describe("The network's name of the content, such as `requestPhoneNumber`."),
    reason: z
      .enum(UNSUPPORTED_REASONS)
      .describe(
        "`masked`: a code that only the phone itself shows. `view_once`: a file that linked devices do not get. `undecryptable`: the message that the sender's phone sends again replaces it; only in the log, without an event. `unknown_kind`: anything else.",
      ),
  }),
);

const adReferral = named(
  "AdReferral",
  z.object({
    source_type: nullableText,
    source_id: nullableText,
    source_url: nullableText,
    source_app: nullableText,
    entry_point: nullableText,
    title: nullableText,
    body: nullableText,
    media_url: nullableText,
    thumbnail_url: nullableText,
    ctwa_clid: nullableText.describe("Meta's id of the click."),
    ref: nullableText,
  }),
);

const groupInvite = named(
  "GroupInvite",
  z.object({
    group: z.string(),
    code: z.string(),
    name: nullableText,
    expires_at: z.iso.datetime().nullable(),
  }),
);

const poll = named(
  "Poll",
  z.object({
    question: z.string(),
    options: z.array(pollOption),
    selectable_count: z.number().describe("How many options a person may choose; 0: any number."),
    hide_voters: z.boolean(),
    ends_at: z.iso.datetime().nullable(),
  }),
);

/** A message as events and reads show it. */
export const message = named(
  "Message",
  z.object({
    id: z.number().int(),
    message_id: z.string(),
    direction: z.enum(["inbound", "outbound"]),
    from_me: z.boolean(),
    jid: z.string(),
    lid: z.string().nullable(),
    phone: z.string().nullable(),
    chat_type: z.enum(["contact", "group"]),
    is_group: z.boolean(),
    sender: sender.nullable(),
    type: z.string(),
    text: z.string().nullable(),
    caption: z.string().nullable(),
    quoted: quotedMessage.nullable(),
    mentions: z.array(z.string()),
    mentioned: z
      .array(person)
      .describe(
        "The people in `mentions` with all known addresses. The text contains one of the addresses after an `@`.",
      ),
    media: media.nullable(),
    album: named(
      "AlbumItem",
      z.object({
        id: z.string().describe("The same for all items."),
        position: z.number().int().nullable().describe("From 0; null: the sender does not say it."),
      }),
    )
      .optional()
      .describe("Present if phones show the file in an album."),
    location: z.unknown(),
    contacts: z.unknown(),
    choice: choice.nullable().describe("A reply to buttons, a list or a form."),
    group_invite: groupInvite.nullable(),
    poll: poll.optional().describe("Present if the message is a poll; its text has the same words."),
    unsupported: unsupported
      .nullable()
      .describe(
        "Present if `type` is `unsupported`: phones show the message, and the gateway cannot read it.",
      ),
    ad: adReferral.nullable().describe("The advertisement that led the contact to write."),
    is_forwarded: z.boolean(),
    forwarding_score: z
      .number()
      .describe("How often the message was forwarded, as the network counts. From 5, phones say so."),
    status: named(
      "MessageStatus",
      z.enum([
        "scheduled",
        "pending",
        "sent",
        "delivered",
        "read",
        "played",
        "failed",
        "cancelled",
        "received",
      ]),
    ),
    origin: z.enum(["api", "panel", "campaign", "inbox", "chatbot", "phone", "contact"]),
    timestamp: z.iso.datetime(),
    track_id: z.string().nullable(),
  }),
);

const reaction = named(
  "MessageReaction",
  z.object({
    reaction: z.string().describe("One emoji."),
    sender,
    at: z.iso.datetime(),
  }),
);

/** A message as reads show it, including its later changes. */
export const storedMessage = message.extend({
  send_at: z.iso.datetime().nullable().describe("When a scheduled message goes out, or was to go out."),
  edited_at: z.iso.datetime().nullable(),
  deleted_at: z.iso
    .datetime()
    .nullable()
    .describe("When the message was deleted for everyone; its text stays in this log."),
  reactions: z.array(reaction).describe("The latest reaction of each person, oldest first; at most 1,000."),
  pinned_until: z.iso
    .datetime()
    .nullable()
    .describe("Until when the message is pinned in its chat; null: it is not."),
  starred: z.boolean().describe("Whether the phone has starred the message."),
});

const scheduledMessage = named(
  "ScheduledMessage",
  storedMessage.extend({
    expires_at: z.iso.datetime().nullable().describe("If the message could not begin by then, it fails."),
  }),
);

const receivedAt = z.iso.datetime().nullable();

const memberReceipt = named(
  "MemberReceipt",
  z.object({
    jid: z.string(),
    lid: nullableText,
    phone: nullableText,
    status: z.enum(["sent", "delivered", "read", "played"]),
    delivered_at: receivedAt,
    read_at: receivedAt,
    played_at: receivedAt,
  }),
);

const tag = "Messages";

export const send = {
  access: "instance",
  sends: true,
  tag,
  message: "Message sent",
  idempotent: true,
  errors: [
    ...SESSION_ERRORS,
    "MESSAGE_NOT_FOUND",
    "MEDIA_DOWNLOAD_FAILED",
    "STORAGE_FULL",
    "MESSAGE_QUOTA_EXCEEDED",
    "REACHOUT_TIMELOCK",
  ],
  output: sentMessage,
  accepted,
} as const;

const acted = named(
  "MessageAction",
  z.object({ message_id: z.string(), jid: z.string(), status: z.string() }),
);

const act = {
  access: "instance",
  tag,
  errors: [...SESSION_ERRORS, "MESSAGE_NOT_FOUND"],
  output: acted,
} as const;

/** One day, seven and thirty: what the apps offer. */
const PIN_SECONDS: readonly number[] = [86_400, 604_800, 2_592_000];

const scheduledTarget = { id: instanceId, messageId: boundedText(128).min(1) };

const actionTarget = { id: instanceId, ...recipientFields, message_id: messageId };
const actionAliases = {
  number: [...recipientAliases.number, "key.remoteJid", "Chat", "ChatPhone"],
  ...messageIdAliases,
};

export const messagesContract = {
  sendText: route({
    http: "POST /api/v1/instances/:id/send-text",
    requiresBody: true,
    summary: "Send a text; responds after the network's acknowledgement, or immediately with `async`",
    ...send,
    aliases: { ...sendAliases, ...textAliases },
    refuses: REFUSED_FIELDS.text,
    input: z.object({
      id: instanceId,
      ...sendFields,
      ...textFields,
      text: text
        .optional()
        .describe(
          "A text that is only `/shortcut` sends the quick reply of that name. With `link_preview` the gateway reads the first link.",
        ),
      quick_reply: quickReply,
    }),
  }),
  sendMedia: route({
    http: "POST /api/v1/instances/:id/send-media",
    requiresBody: true,
    summary:
      "Send a file by address, base64 or upload: image, video, audio, voice note, sticker or document; or an album",
    ...send,
    cost: 5,
    upload: "file",
    spooled: true,
    aliases: { ...sendAliases, ...mediaAliases, caption: captionAliases },
    refuses: REFUSED_FIELDS.media,
    implies: impliedByFile,
    input: z.object({
      id: instanceId,
      ...sendFields,
      ...mediaFields,
      items: z
        .array(albumItem)
        .min(2)
        .max(30)
        .optional()
        .describe("An album of images and videos, in place of one file. Nothing is sent if one is refused."),
    }),
  }),
  sendLocation: route({
    http: "POST /api/v1/instances/:id/send-location",
    summary: "Send a location",
    ...send,
    aliases: { ...sendAliases, ...locationAliases },
    refuses: REFUSED_FIELDS.location,
    input: z.object({ id: instanceId, ...sendFields, ...locationFields }),
  }),
  sendContact: route({
    http: "POST /api/v1/instances/:id/send-contact",
    requiresBody: true,
    summary: "Send a contact card; `phone` belongs to the card, so name the recipient with `number` or `jid`",
    ...send,
    aliases: { ...sendAliases, ...cardAliases },
    refuses: REFUSED_FIELDS.contact,
    example: { number: "5511999990004", contact: { name: "Bia Souza", phone: "5511977771234" } },
    input: z.object({ id: instanceId, ...sendFields, ...cardFields, ...cardDetails }),
  }),
  sendReply: route({
    http: "POST /api/v1/instances/:id/send-reply",
    summary: "Reply to a message with a text that quotes it",
    ...send,
    aliases: { ...sendAliases, ...textAliases, ...messageIdAliases },
    refuses: REFUSED_FIELDS.reply,
    input: z.object({
      id: instanceId,
      ...sendFields,
      ...textFields,
      message_id: messageId,
    }),
  }),
  send: route({
    http: "POST /api/v1/send",
    requiresBody: true,
    ...send,
    summary: "Send a message of any type; the type is given or inferred from the fields",
    access: "key",
    keepsToInstances: true,
    upload: "file",
    spooled: true,
    aliases: {
      ...sendAliases,
      ...textAliases,
      ...mediaAliases,
      caption: ["Caption", "mediaMessage.caption"],
      ...locationAliases,
      ...cardAliases,
      name: [...new Set([...cardAliases.name, ...locationAliases.name])],
      ...messageIdAliases,
      instance_id: ["instanceId", "instance"],
    },
    refuses: REFUSED_FIELDS.any,
    implies: impliedByFile,
    example: { number: "5511999990004", text: "Hello" },
    input: z.object({
      ...sendFields,
      ...mediaFields,
      ...z.object(locationFields).partial().shape,
      ...cardFields,
      organization: cardDetails.organization,
      email: cardDetails.email,
      instance_id: rowId.optional().describe("Default: the instance of the key."),
      type: z.enum(["text", "media", "location", "contact", "reply", ...MEDIA_TYPES]).optional(),
      text: text.optional().describe("With `link_preview` the gateway reads the first link."),
      quick_reply: quickReply,
      link_preview: textFields.link_preview,
      message_id: messageId.optional(),
    }),
  }),
  forwardMessage: route({
    http: "POST /api/v1/instances/:id/messages/forward",
    ...send,
    summary: "Forward a message of the log to another chat; its file is not uploaded again",
    aliases: { ...sendAliases, ...messageIdAliases },
    errors: [...send.errors, "MEDIA_EXPIRED"],
    input: z.object({ id: instanceId, ...recipientFields, ...sendOptions, message_id: messageId }),
  }),
  react: route({
    http: "POST /api/v1/instances/:id/messages/react",
    ...act,
    summary: "React to a message; an empty reaction removes it",
    message: "Reaction sent",
    aliases: { ...actionAliases, reaction: ["emoji", "text", "Body"] },
    input: z.object({
      ...actionTarget,
      reaction: boundedText(64).refine(isOneEmoji, rule("must be one emoji or empty", "wrong_format")),
    }),
  }),
  markRead: route({
    http: "POST /api/v1/instances/:id/messages/read",
    requiresBody: true,
    ...act,
    summary: "Mark messages as read, or voice notes as played",
    message: "Marked as read",
    aliases: {
      ...actionAliases,
      number: [...actionAliases.number, "readMessages.0.remoteJid", "read_messages.0.remoteJid"],
      message_ids: ["messageIds", "ids", "readMessages", "read_messages"],
    },
    example: { message_ids: ["3EB0C431D2A5F96B7E8812"] },
    input: z.object({
      ...actionTarget,
      message_id: z.union([messageId, z.array(messageId).min(1).max(100)]).optional(),
      message_ids: z
        .array(z.union([messageId, z.object({ id: messageId }).transform((key) => key.id)]))
        .min(1)
        .max(100)
        .optional(),
      played: z.boolean().optional().describe("true: also as played. For voice notes."),
    }),
    output: acted.extend({ message_ids: z.array(z.string()) }),
  }),
  editMessage: route({
    http: "POST /api/v1/instances/:id/messages/edit",
    ...act,
    summary: "Edit the text of a message that this instance sent, or the caption of its file",
    message: "Message edited",
    aliases: { ...actionAliases, text: [...textAliases.text, "caption"] },
    refuses: REFUSED_IN_EDIT,
    input: z.object({ ...actionTarget, text }),
  }),
  deleteMessage: route({
    http: "POST /api/v1/instances/:id/messages/delete",
    ...act,
    summary: "Delete a message for everyone in the chat, or on the phone only",
    message: "Message deleted",
    aliases: { ...actionAliases, for_everyone: ["forEveryone"] },
    refusesOthers: refusedInDelete,
    input: z.object({
      ...actionTarget,
      for_everyone: z
        .boolean()
        .default(true)
        .describe(
          "true: a message that this instance sent, or in a group of which it is an admin any message. false: only the phone and its devices lose it. The log keeps it.",
        ),
    }),
  }),
  pinMessage: route({
    http: "POST /api/v1/instances/:id/messages/pin",
    ...act,
    summary: "Pin a message in its chat for everyone, or unpin it",
    message: "Message pinned",
    aliases: { ...actionAliases, seconds: ["duration", "time"], pinned: ["pin"] },
    input: z.object({
      ...actionTarget,
      pinned: z.boolean().default(true).describe("false: unpins it."),
      seconds: z.coerce
        .number()
        .refine(
          (seconds) => PIN_SECONDS.includes(seconds),
          rule("must be 86400, 604800 or 2592000", "unknown_value", { values: PIN_SECONDS.join(", ") }),
        )
        .default(604_800)
        .describe("How long: 86400, 604800 or 2592000, which is one day, seven or thirty."),
    }),
  }),
  starMessage: route({
    http: "POST /api/v1/instances/:id/messages/star",
    ...act,
    summary: "Star a message on the phone, or remove the star",
    message: "Message starred",
    aliases: { ...actionAliases, starred: ["star"] },
    input: z.object({
      ...actionTarget,
      starred: z.boolean().default(true).describe("false: removes the star."),
    }),
  }),
  setPresence: route({
    http: "POST /api/v1/instances/:id/presence",
    errors: SESSION_ERRORS,
    access: "instance",
    tag,
    summary: "Set the presence: available or unavailable, or in a chat typing, recording or paused",
    message: "Presence set",
    aliases: {
      ...recipientAliases,
      presence: ["state", "type", "status", "State", "options.presence"],
      duration_ms: ["delay", "durationMs", "options.delay"],
    },
    refuses: REFUSED_IN_PRESENCE,
    input: z.object({
      id: instanceId,
      ...recipientFields,
      presence: z.union(
        [
          z.enum(PRESENCES),
          z
            .enum(["online", "offline"])
            .transform((alias) => (alias === "online" ? "available" : "unavailable")),
        ],
        unionErrorMessage(`must be one of ${PRESENCES.join(", ")}, online, offline`),
      ),
      duration_ms: z.coerce
        .number()
        .int()
        .min(0)
        .max(60_000)
        .optional()
        .describe("After this time the presence becomes `paused`."),
    }),
    output: z.object({ presence: z.string(), jid: z.string().nullable() }),
  }),
  getMessage: route({
    http: "GET /api/v1/instances/:id/messages/:messageId",
    access: "instance",
    tag,
    summary: "Get one message; `:messageId` accepts `message_id` or the numeric `id`",
    message: "Message",
    input: z.object({ id: instanceId, messageId: boundedText(128).min(1) }),
    output: storedMessage.extend({
      error: sendError.nullable(),
      client_message_id: z.string().nullable(),
      metadata: z.unknown(),
    }),
  }),
  listScheduled: route({
    http: "GET /api/v1/instances/:id/scheduled",
    access: "instance",
    tag,
    summary: "List the scheduled messages of an instance, the next one first",
    message: "Scheduled messages",
    input: z.object({ id: instanceId, ...pageInput }),
    output: z.array(scheduledMessage),
    beside: z.object({ pagination }),
  }),
  changeScheduled: route({
    http: "PATCH /api/v1/instances/:id/scheduled/:messageId",
    errors: ["MESSAGE_NOT_FOUND", "CONFLICT"],
    access: "instance",
    tag,
    summary: "Move a scheduled message to another time",
    message: "Scheduled message changed",
    aliases: { send_at: sendAliases.send_at, expires_at: sendAliases.expires_at },
    example: { send_at: "2026-11-20T12:00:00-03:00" },
    input: z.object({
      ...scheduledTarget,
      send_at: sendAt,
      expires_at: expiresAt.optional(),
    }),
    output: scheduledMessage,
  }),
  cancelScheduled: route({
    http: "DELETE /api/v1/instances/:id/scheduled/:messageId",
    errors: ["MESSAGE_NOT_FOUND", "CONFLICT"],
    access: "instance",
    tag,
    summary: "Cancel a scheduled message; the event message.failed reports it with status cancelled",
    message: "Scheduled message cancelled",
    input: z.object(scheduledTarget),
    output: acted,
  }),
  getMessageReceipts: route({
    http: "GET /api/v1/instances/:id/messages/:messageId/receipts",
    errors: ["CONFLICT"],
    access: "instance",
    tag,
    summary: "List who has received, read or played a message that this instance sent",
    message: "Receipts",
    input: z.object({ id: instanceId, messageId: boundedText(128).min(1) }),
    output: z.object({
      message_id: z.string(),
      jid: z.string(),
      status: message.shape.status,
      addressees: z
        .number()
        .nullable()
        .describe(
          "Members of the group when the message was sent, without this instance; null: not known. 1 in other chats.",
        ),
      delivered: z
        .number()
        .describe("People who have received the message, including those who read or played it."),
      read: z.number().int(),
      played: z.number().int(),
      receipts: z
        .array(memberReceipt)
        .describe("One entry per person, those with the most advanced status first."),
    }),
  }),
};

/** One grapheme that is drawn as an emoji, or nothing. */
function isOneEmoji(reaction: string): boolean {
  if (reaction === "") return true;
  // Reads only the first grapheme: the time for a list of all grows with the square of the length.
  const [first] = new Intl.Segmenter().segment(reaction);
  return (
    first?.segment === reaction && /\p{Extended_Pictographic}|\p{Regional_Indicator}|\u20e3/u.test(reaction)
  );
}
