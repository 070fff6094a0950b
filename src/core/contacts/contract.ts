import { z } from "zod";
import { issueReason } from "../../platform/http/reason-schemas.ts";
import {
  isoTime,
  pagination,
  queryFlag,
  route,
  searchAliases,
  searchInput,
} from "../../platform/http/route.ts";
import { named } from "../../platform/http/schema-name.ts";
import { boundedText, trimmedText, unionErrorMessage } from "../../platform/text/bounded-text.ts";
import { instanceId as id } from "../events/contract.ts";
import { SESSION_ERRORS } from "../instances/contract.ts";

export const digitsOrJid = named(
  "PhoneOrJid",
  z
    .union(
      [boundedText(200).min(1), z.number().int().positive().transform(String)],
      unionErrorMessage("must be digits with country and area code, or a jid, of at most 200 characters"),
    )
    .describe("Digits with country and area code, or a jid."),
);

/** An empty cell of a table is an invalid number, and no reason to refuse the others. */
const checkedNumber = z.union([digitsOrJid, z.literal(""), z.null().transform(() => "")]);

/** One of number, phone or jid names the recipient; several must name the same one. */
export const recipientFields = {
  number: digitsOrJid.optional(),
  phone: digitsOrJid.optional(),
  jid: digitsOrJid.optional(),
};

export const recipientAliases = {
  number: ["to", "chatId", "chat_id", "remoteJid", "recipient", "Phone", "groupJid", "group_id"],
};

/** Why a number is refused, or what is assumed about it. */
export const numberWarning = named(
  "NumberWarning",
  z.object({
    line: z.number().int().describe("Line of the file; in a body its position, from 1."),
    value: z.string(),
    ...issueReason,
    issue: z.string(),
    suggestion: z
      .string()
      .describe("The digits that `confirm_assumed` takes, unless the code is `ambiguous_...`."),
  }),
);

export const confirm_assumed = queryFlag
  .optional()
  .describe(
    "true: numbers without a country code get the code of the country that the gateway assumes. Otherwise they are only listed.",
  );

export const assumed_country = z
  .string()
  .nullable()
  .describe(
    "Country of numbers without a country code: a `default_country`, or the one of the linked phone.",
  );

const addresses = {
  jid: z.string().describe("The JID with the phone if it is known, otherwise the LID."),
  lid: z.string().nullable(),
  phone: z.string().nullable().describe("Digits; never those of a LID."),
};

const contact = named(
  "Contact",
  z.object({
    id: z.number().int(),
    ...addresses,
    name: z.string().nullable().describe("In the phone's address book."),
    push_name: z.string().nullable().describe("The name that the contact has chosen."),
    verified_name: z.string().nullable().describe("The verified name of a business."),
    is_business: z.boolean().nullable(),
    picture_url: z.string().nullable(),
    is_blocked: z.boolean(),
    updated_at: isoTime,
  }),
);

const checked = named(
  "NumberCheck",
  z.object({
    query: z.string(),
    exists: z.boolean(),
    is_in_whatsapp: z.boolean().describe("As `exists`."),
    jid: z.string().nullable(),
    lid: z.string().nullable(),
    phone: z.string().nullable(),
    verified_name: z.string().nullable(),
    reason: z
      .string()
      .optional()
      .describe("Why `query` cannot be read as a person; absent if the network was asked."),
    code: issueReason.code.optional(),
    params: issueReason.params.optional(),
    checked_at: isoTime.nullable().describe("When the network returned this result."),
  }),
);

const tag = "Contacts";
const access = "instance";

export const contactsContract = {
  listContacts: route({
    http: "GET /api/v1/instances/:id/contacts",
    heavy: "search",
    errors: SESSION_ERRORS,
    access,
    tag,
    summary: "List known contacts, the newest first; `synchronise=true` asks the phone for its address book",
    message: "Contacts",
    aliases: { ...searchAliases, synchronise: ["synchronize", "sync"] },
    input: z.object({
      id,
      ...searchInput,
      synchronise: queryFlag.default(false).describe("The contacts of the phone arrive some seconds later."),
    }),
    output: z.array(contact),
    beside: z.object({ pagination }),
  }),
  checkContacts: route({
    http: "POST /api/v1/instances/:id/contacts/check",
    requiresBody: true,
    errors: SESSION_ERRORS,
    access,
    cost: 3,
    tag,
    summary: "Check whether numbers are on the network; returns one row per number, in order",
    description:
      "Results are cached: for 30 days if the number is on the network, otherwise for one day. `refresh` skips the cache. " +
      "If a number has two formats (Brazil's ninth digit, Mexico's 1, Argentina's 9), both are checked, and `jid` " +
      "is the one that the network knows; if it knows both, the given one. A number that cannot be read has `exists: false` and a `reason`; as the only `number` it is refused.",
    message: "Numbers checked",
    aliases: { number: ["phone", "jid", ...recipientAliases.number], numbers: ["phones", "jids"] },
    example: { numbers: ["5511999990004"] },
    input: z.object({
      id,
      numbers: z.array(checkedNumber).min(1).max(500).optional(),
      number: digitsOrJid.optional(),
      refresh: z.boolean().default(false).describe("true: ask the network even if a result is cached."),
    }),
    output: z.array(checked),
    beside: z.object({
      exists: z.boolean().optional().describe("The result, if the request names a single number."),
    }),
  }),
  contactInfo: route({
    http: "POST /api/v1/instances/:id/contacts/info",
    requiresBody: true,
    errors: SESSION_ERRORS,
    access,
    tag,
    summary: "Read name, picture, about and business data of a contact from the network",
    message: "Contact",
    aliases: { number: [...recipientAliases.number, "contactId"] },
    input: z.object({ id, ...recipientFields }),
    output: z.object({
      ...addresses,
      name: z.string().nullable(),
      push_name: z.string().nullable(),
      verified_name: z.string().nullable(),
      is_business: z.boolean(),
      business: z.unknown(),
      about: z.string().nullable(),
      status: z.string().nullable().describe("As `about`."),
      picture_url: z.string().nullable(),
      is_blocked: z.boolean(),
    }),
  }),
  saveContact: route({
    http: "POST /api/v1/instances/:id/contacts",
    errors: SESSION_ERRORS,
    access,
    tag,
    summary: "Add a person to the phone's address book, or rename one there",
    message: "Contact saved",
    aliases: {
      number: [...recipientAliases.number, "contactId"],
      first_name: ["firstName", "name"],
      last_name: ["lastName"],
    },
    example: { phone: "5511999990004", first_name: "Ana", last_name: "Souza" },
    input: z.object({
      id,
      ...recipientFields,
      first_name: trimmedText(100).min(1, "must not be empty"),
      last_name: trimmedText(100).optional(),
    }),
    output: z.object({ ...addresses, name: z.string().nullable() }),
  }),
  subscribePresence: route({
    http: "POST /api/v1/instances/:id/presence/subscribe",
    requiresBody: true,
    errors: SESSION_ERRORS,
    access,
    tag,
    summary: "Follow the presence of a person, or of the members of a group, for an hour",
    description:
      "Each change is an event `presence.changed`. Subscribe again to go on. An instance follows 200 chats at once, and " +
      "continues after a reconnect, but not after a restart of the gateway. WhatsApp reports presence only to an instance that " +
      "is online itself: set `mark_online` or the presence `available`.",
    message: "Presence is followed",
    aliases: recipientAliases,
    example: { number: "5511999990004" },
    input: z.object({ id, ...recipientFields }),
    output: z.object({ jid: z.string(), expires_at: isoTime }),
  }),
  blockContact: route({
    http: "POST /api/v1/instances/:id/contacts/block",
    requiresBody: true,
    errors: SESSION_ERRORS,
    access,
    tag,
    summary: "Block or unblock a contact",
    message: "Contact blocked or unblocked",
    aliases: { number: [...recipientAliases.number, "contactId"], action: ["status"] },
    example: { number: "5511999990004", action: "block" },
    input: z.object({
      id,
      ...recipientFields,
      action: z.enum(["block", "unblock"]).optional(),
      block: z.boolean().optional().describe("Alternative to `action`: true blocks, false unblocks."),
    }),
    output: z.object({ ...addresses, action: z.enum(["block", "unblock"]), is_blocked: z.boolean() }),
  }),
};
