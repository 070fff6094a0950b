import { type RefusedField, type RefusedFields, refuseAll } from "../../platform/http/route.ts";

/*
 * What the clients of Evolution API, WAHA, uazapi and wuzapi send with a message, beside the aliases of the contract, and
 * what would change the message if it was ignored. `docs/start/migration.md` lists it, with the fields that are ignored.
 */

const isAbsent = (value: unknown) => value === undefined || value === null || value === "";

const isTrue = (value: unknown) => /^\s*(?:true|1)\s*$/i.test(shown(value));
const isFalse = (value: unknown) => /^\s*(?:false|0)\s*$/i.test(shown(value));

/** A name of all people in the chat. */
const isEveryone = (value: unknown) =>
  /^\s*(?:delete[ _-]?)?(?:for[ _-]?)?(?:everyone|everybody|all|revoke)\s*$/i.test(shown(value));

function shown(value: unknown): string {
  return typeof value === "object" ? "" : String(value).slice(0, 40);
}

const MENTIONS_ALL =
  "is not supported: a send mentions only the people that it names. Name the members of the group in mentions";

const namesEverybody: RefusedField = {
  issue: MENTIONS_ALL,
  isAsked: (value) =>
    [value].flat().some((one) => /^\s*@?(all|everyone)\s*$/i.test(String(one).slice(0, 20))),
};

/** Of every send. */
const OF_ALL: RefusedFields = {
  mentions: namesEverybody,
  mentioned: namesEverybody,
  mentionedJid: namesEverybody,
  mentionedList: namesEverybody,
  "options.mentionedList": namesEverybody,
  "options.mentioned_list": namesEverybody,
  "options.mentioned": namesEverybody,
  "options.mentions.mentioned": namesEverybody,
  "contextInfo.mentionedJid": namesEverybody,
  ...refuseAll(
    MENTIONS_ALL,
    "mentionsEveryOne",
    "mentionEveryone",
    "mentionAll",
    "mentionsAll",
    "everyOne",
    "everybody",
    "mentionEverybody",
    "tagAll",
    "hidetag",
    "ghostMention",
    "options.mentions.everyOne",
    "contextInfo.mentionAll",
  ),
  ...refuseAll(
    "is not supported: send forwarded, which counts one time, or use messages/forward",
    "forwardingScore",
    "contextInfo.forwardingScore",
  ),
  ...refuseAll(
    "is not supported in a send: mark the chat as read with POST chats/state, action read",
    "readchat",
    "readmessages",
  ),
  ...refuseAll(
    "is not supported: a message has the disappearing timer of its chat. Send it without this field",
    "ephemeral",
    "is_ephemeral",
    "expiration",
    "ephemeralExpiration",
    "ephemeralDuration",
    "disappearing",
    "disappearingTimer",
    "duration",
    "ttl",
    "contextInfo.expiration",
  ),
  // Two of them are written unlike the names that a send reads, which are not refused.
  ...refuseAll(
    "is not a name of the time of a send. Send it as send_at, such as 2026-11-20T12:00:00-03:00",
    "SendAt",
    "deliver_at",
    "date_to_send",
    "schedule",
    "schedule_at",
    "schedule_for",
    "schedule_to",
    "schedule_time",
    "schedule_date",
    "ScheduledAt",
    "scheduled_for",
  ),
  ...refuseAll(
    "is not supported: a send has one recipient. Send one request for each, or use a campaign",
    "numbers",
    "phones",
    "phoneNumbers",
    "jids",
    "chatIds",
    "recipients",
    "broadcast",
  ),
  ...refuseAll("is not supported: send the file itself with view_once", "viewOnceMessage"),
  ...refuseAll(
    "is not a field of a send, which makes a new message. Change one with POST messages/edit",
    "edit",
    "editMessageId",
  ),
  ...refuseAll(
    "is not supported: the message would go out. To try a send, use an instance on the sandbox network",
    "dry_run",
  ),
  ...refuseAll(
    "is not supported: buttons, lists and templates cannot be sent. Send a poll with POST send-poll, or write the choices into a text",
    "buttons",
    "buttonMessage",
    "buttonText",
    "imageButton",
    "listButton",
    "sections",
    "rows",
    "listMessage",
    "choices",
    "selectableCount",
    "poll",
    "pollMessage",
    "pollOptions",
    "question",
    "values",
    "cards",
    "carousel",
    "template",
    "templateMessage",
    "components",
    "event",
  ),
  ...refuseAll(
    "is not supported: a message has no header or footer. Write these words into its text or caption",
    "footer",
    "footerText",
    "header",
    "headerImage",
  ),
  ...refuseAll(
    "is not supported: statuses cannot be sent",
    "statusJidList",
    "allContacts",
    "backgroundColor",
    "font",
  ),
};

const WITHOUT_TITLE = refuseAll(
  "is not supported: the message has no title or description. Write these words into its text or caption",
  "title",
  "description",
);

/** The network chooses no id, and a client's own belongs into another field. */
const OWN_ID = refuseAll(
  "is not a field of this send. To reply, name the message as reply_to; send an id of your own as client_message_id",
  "messageId",
  "msgId",
  "Id",
);

const PREVIEW = refuseAll(
  "is not supported: a preview shows what the page of the link says. Send only link_preview",
  "linkPreviewTitle",
  "linkPreviewDescription",
  "linkPreviewImage",
  "preview",
);

/** Only true asks for it: a file may have one of these names. */
const AS_TYPE: RefusedFields = {
  ...refuseUnless(
    "is not a field of this send. Send type document for a file that phones must not show or shrink",
    isTrue,
    "asDocument",
    "sendAsDocument",
    "sendMediaAsDocument",
    "forceDocument",
    "isDocument",
    "document",
    "asFile",
    "sendAsFile",
    "hd",
    "asHd",
    "sendMediaAsHd",
  ),
  ...refuseUnless(
    "is not a field of this send. Send type sticker",
    isTrue,
    "asSticker",
    "sendAsSticker",
    "sendMediaAsSticker",
    "isSticker",
  ),
};

const ALBUM = refuseAll(
  "is not a field of this send. Send an album as items of send-media",
  "files",
  "medias",
);
const NO_ALBUM = refuseAll("is not supported here: send an album with send-media", "items");

const VIEW_ONCE_NAMES = ["view_once", "isViewOnce", "asViewOnce", "sendAsViewOnce"];

const NEVER_ONCE = refuseAll(
  "is not supported: only an image, a video or a voice note can be shown once. Send it without view_once",
  ...VIEW_ONCE_NAMES,
);

/** In a spelling that no alias has. */
const ONCE_MISSPELT = refuseAll(
  "is not a field of this send. Send view_once",
  ...VIEW_ONCE_NAMES.map((name) => name.replace("_", "").toLowerCase()),
);

const LIVE = refuseAll(
  "is not supported: the place would not move. Send it without this field to show a fixed place",
  "live",
  "isLive",
  "liveLocation",
  "live_period",
  "liveDuration",
);

/** Those that name parts of a poll are aliases there. */
const OF_POLL = Object.fromEntries(
  Object.entries(OF_ALL).filter(
    ([name]) => !["choices", "selectableCount", "poll", "question", "values"].includes(name),
  ),
);

export const REFUSED_FIELDS = {
  text: { ...OF_ALL, ...OWN_ID, ...PREVIEW, ...WITHOUT_TITLE, ...NEVER_ONCE },
  media: { ...OF_ALL, ...OWN_ID, ...AS_TYPE, ...ALBUM, ...WITHOUT_TITLE, ...ONCE_MISSPELT },
  location: { ...OF_ALL, ...OWN_ID, ...LIVE, ...NEVER_ONCE },
  contact: { ...OF_ALL, ...OWN_ID, ...NEVER_ONCE },
  reply: { ...OF_ALL, ...PREVIEW, ...WITHOUT_TITLE, ...NEVER_ONCE },
  poll: { ...OF_POLL, ...OWN_ID, ...NEVER_ONCE },
  any: { ...OF_ALL, ...PREVIEW, ...AS_TYPE, ...ALBUM, ...NO_ALBUM, ...LIVE, ...ONCE_MISSPELT },
} as const;

const FOR_WHOM = "send for_everyone, which is true unless only the phone shall lose the message";

/** Folded names that say whether everyone loses the message, who does, and that only one side does. */
const EVERYONE = /every(?:one|body)|forall|forboth|^all$|revoke/;
const WHOM = /^(?:delete)?(?:for|scope|type|mode)$/;
const ONLY_ME = /(?:for|only|just)(?:me|self|sender)|(?:me|self|local|sender)only|^local$|onlylocal|locally/;
/** The sender alone, whatever the field is called. */
const ME =
  /^\s*(?:delete[ _-]?)?(?:(?:for|only|just)[ _-]?){0,2}(?:me|self|myself|sender)(?:[ _-]?only)?\s*$/i;

/** Of a deletion, which nobody can take back: what is unclear, or asked for in other words, is refused. */
export function refusedInDelete(name: string, value: unknown): string | undefined {
  if (isAbsent(value)) return undefined;
  if (ONLY_ME.test(name)) return isFalse(value) ? undefined : `is not supported: ${FOR_WHOM}`;
  if (EVERYONE.test(name)) return isTrue(value) ? undefined : `must be true: ${FOR_WHOM}`;
  const isDenied = WHOM.test(name) ? !isEveryone(value) : ME.test(shown(value));
  return isDenied ? `must be everyone: ${FOR_WHOM}` : undefined;
}

function refuseUnless(issue: string, isAsked: RefusedField["isAsked"], ...names: string[]): RefusedFields {
  return Object.fromEntries(names.map((name) => [name, { issue, isAsked }]));
}

/** Of a presence. */
export const REFUSED_IN_PRESENCE: RefusedFields = {
  Media: {
    issue: "is not supported: send the presence recording",
    isAsked: (value) => typeof value === "string" && value.toLowerCase() === "audio",
  },
};

/** Of an edit. */
export const REFUSED_IN_EDIT: RefusedFields = {
  ...refuseAll("is not supported: an edit keeps the message's people and preview", "mentions", "mentioned"),
  ...PREVIEW,
};
