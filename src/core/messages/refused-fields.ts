import { type RefusedField, type RefusedFields, refuseAll } from "../../platform/http/route.ts";

/*
 * What the clients of Evolution API, WAHA, uazapi and wuzapi send with a message, beside the aliases of the contract, and
 * what would change the message if it was ignored. `docs/start/migration.md` lists it, with the fields that are ignored.
 */

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
  ...refuseAll(
    MENTIONS_ALL,
    "mentionsEveryOne",
    "mentionEveryone",
    "mentionAll",
    "mentionsAll",
    "everyOne",
    "hidetag",
    "ghostMention",
    "options.mentions.everyOne",
    "ContextInfo.MentionAll",
  ),
  ...refuseAll(
    "is not supported: the message would not be marked as forwarded. Send it without this field",
    "forward",
    "forwarded",
    "is_forwarded",
    "forwardingScore",
    "contextInfo.isForwarded",
    "contextInfo.forwardingScore",
    "ContextInfo.IsForwarded",
    "ContextInfo.ForwardingScore",
  ),
  ...refuseAll(
    "is not supported in a send: mark the chat as read with POST chats/state, action read",
    "readchat",
    "readmessages",
  ),
  ...refuseAll(
    "is not supported: a message has the disappearing timer of its chat. Send it without this field",
    "ephemeral",
    "expiration",
    "ephemeralExpiration",
    "ContextInfo.Expiration",
  ),
  ...refuseAll(
    "is not supported: a send goes out at once. Use a campaign with scheduled_at to send later",
    "send_at",
    "deliver_at",
    "date_to_send",
    "schedule",
    "schedule_at",
    "schedule_for",
    "scheduled_at",
    "scheduled_for",
  ),
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
    "is not supported: buttons, lists, polls and templates cannot be sent. Write the choices into a text",
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
  "Id",
);

const PREVIEW = refuseAll(
  "is not supported: a preview shows what the page of the link says. Send only link_preview",
  "linkPreviewTitle",
  "linkPreviewDescription",
  "linkPreviewImage",
  "preview",
);

const VIEW_ONCE = refuseAll(
  "is not supported: the file would stay visible. Send it without view_once",
  "view_once",
  "isViewOnce",
  "viewOnceMessage",
  "mediaMessage.viewOnce",
);

const AS_DOCUMENT = refuseAll(
  "is not a field of this send. Send type document for a file that phones must not show or shrink",
  "asDocument",
  "sendMediaAsDocument",
  "hd",
);

const ALBUM = refuseAll("is not supported: send one file per request", "items", "files", "medias");

const LIVE = refuseAll(
  "is not supported: the place would not move. Send it without this field to show a fixed place",
  "live",
  "isLive",
  "liveLocation",
  "live_period",
  "liveDuration",
);

const MORE_CARDS = refuseAll(
  "is not supported: send one card per request",
  "contact.1",
  "contacts.1",
  "contactMessage.1",
);

export const REFUSED_FIELDS = {
  text: { ...OF_ALL, ...OWN_ID, ...PREVIEW, ...WITHOUT_TITLE },
  media: { ...OF_ALL, ...OWN_ID, ...VIEW_ONCE, ...AS_DOCUMENT, ...ALBUM, ...WITHOUT_TITLE },
  location: { ...OF_ALL, ...OWN_ID, ...LIVE },
  contact: { ...OF_ALL, ...OWN_ID, ...MORE_CARDS },
  reply: { ...OF_ALL, ...PREVIEW, ...WITHOUT_TITLE },
  any: { ...OF_ALL, ...PREVIEW, ...VIEW_ONCE, ...AS_DOCUMENT, ...ALBUM, ...LIVE, ...MORE_CARDS },
} as const;

const isAbsent = (value: unknown) => value === undefined || value === null || value === "";

/** Every value but true, which "off", 2 or a list of nothing may deny. */
const isNotTrue = (value: unknown) => !isAbsent(value) && !/^\s*(?:true|1)\s*$/i.test(shown(value));

/** Every value but a name of all people in the chat. */
const isNotEveryone = (value: unknown) =>
  !isAbsent(value) &&
  !/^\s*(?:delete[ _-]?)?(?:for[ _-]?)?(?:everyone|everybody|all|revoke)\s*$/i.test(shown(value));

function shown(value: unknown): string {
  return typeof value === "object" ? "" : String(value).slice(0, 40);
}

const ONLY_FOR_EVERYONE = "a message can be deleted only for everyone in the chat";

/** Of a deletion, which nobody can take back: what is unclear is refused too. */
export const REFUSED_IN_DELETE: RefusedFields = {
  ...refuseUnless(
    `must be true: ${ONLY_FOR_EVERYONE}`,
    isNotTrue,
    "for_everyone",
    "everyone",
    "deleteForEveryone",
    "for_all",
    "deleteForAll",
    "revoke",
  ),
  ...refuseUnless(
    `must be everyone: ${ONLY_FOR_EVERYONE}`,
    isNotEveryone,
    "scope",
    "type",
    "deleteType",
    "mode",
  ),
  ...refuseAll(
    `is not supported: ${ONLY_FOR_EVERYONE}`,
    "for_me",
    "deleteForMe",
    "onlyMe",
    "onlyForMe",
    "local",
    "onlyLocal",
    "localOnly",
    "onlySenderDelete",
  ),
};

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
