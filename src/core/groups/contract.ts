import { z } from "zod";
import {
  isoTime,
  pageInput,
  pagination,
  queryFlag,
  route,
  searchAliases,
  searchInput,
  type UploadedFile,
} from "../../platform/http/route.ts";
import { named } from "../../platform/http/schema-name.ts";
import { rule } from "../../platform/issue-codes.ts";
import { boundedText, coercedText, trimmedText } from "../../platform/text/bounded-text.ts";
import { digitsOrJid } from "../contacts/contract.ts";
import { instanceId as id } from "../events/contract.ts";
import { SESSION_ERRORS } from "../instances/contract.ts";

/** Room for the largest picture, as base64 too. */
const PICTURE_BODY_BYTES = 24 * 1024 * 1024;

/** As on the network. */
const MAX_MEMBERS = 1024;

const groupJid = coercedText(120)
  .transform((text) => text.replace(/@g\.us$/i, ""))
  .pipe(z.string().regex(/^\d{5,25}(-\d{1,15})?$/, "must be the jid of a group"))
  .transform((digits) => `${digits}@g.us`);

const jid = groupJid.describe("Of the group.");

const name = trimmedText(100).min(1, "must not be empty");
const description = boundedText(2048);

const participants = z
  .array(z.union([digitsOrJid, z.object({ id: digitsOrJid }).transform((person) => person.id)]))
  .min(1, "must name at least one person")
  .max(MAX_MEMBERS, `may name ${MAX_MEMBERS} people`)
  .describe("Digits with country and area code, or jids.");

const image = z
  .union([
    boundedText(PICTURE_BODY_BYTES),
    z.custom<UploadedFile>(
      isUpload,
      rule("must be a file, an address or base64", "wrong_type", { expected: "file, text" }),
    ),
  ])
  .nullable()
  .optional()
  .describe("Address, base64, data URI, or a part of a form; cut to a square. null removes it.");

function isUpload(value: unknown): boolean {
  return typeof value === "object" && value !== null && "bytes" in value && value.bytes instanceof Uint8Array;
}

const jidAliases = [
  "groupJid",
  "groupjid",
  "group_jid",
  "group_id",
  "groupId",
  "chatId",
  "chat_id",
  "remoteJid",
  "recipient",
  "number",
  "phone",
  "Phone",
  "to",
];
const nameAliases = ["subject", "groupName"];
const participantAliases = ["numbers", "phones"];

const participant = named(
  "GroupParticipant",
  z.object({
    jid: z.string(),
    lid: z.string().nullable(),
    phone: z.string().nullable(),
    admin: z.enum(["admin", "superadmin"]).nullable(),
  }),
);

const group = named(
  "Group",
  z.object({
    jid: z.string(),
    name: z.string(),
    subject: z.string().describe("As `name`."),
    description: z.string().nullable(),
    owner: z.string().nullable(),
    size: z.number().int(),
    announce: z.boolean().describe("Whether only admins can send messages."),
    locked: z.boolean().describe("Whether only admins can change name, description and image."),
    join_approval: z.boolean().describe("Whether an admin must approve everybody who joins by the link."),
    members_can_add: z.boolean().describe("Whether all members can add people; false: only admins."),
    created_at: isoTime.nullable(),
    participants: z.array(participant),
    refreshed_at: isoTime.describe(
      "When the group was last fetched from the network; later changes that the network reported are included.",
    ),
  }),
);

const personResult = named(
  "ParticipantResult",
  z.object({
    jid: z.string(),
    status: z
      .number()
      .describe(
        "The network's status: 200 done, 403 does not accept invitations, 404 unknown, 409 already a member.",
      ),
    success: z.boolean(),
    error: z.string().nullable(),
  }),
);

const settingError = named(
  "SettingError",
  z.object({ setting: z.string(), code: z.string(), message: z.string() }),
);

const SETTINGS = "name, description, image, announce, locked, join_approval, members_can_add";

const code = trimmedText(200)
  .transform((text) =>
    text.replace(/^(https?:\/\/)?chat\.whatsapp\.com\/(invite\/)?/i, "").replace(/\/?([?#].*)?$/s, ""),
  )
  .pipe(z.string().regex(/^[\w-]{10,64}$/, "is not the code or link of an invitation"));

const codeAliases = ["invite", "invite_code", "inviteCode", "invitecode", "url", "link"];

const invitation = z.object({ jid: z.string(), code: z.string(), url: z.string() });

const preview = named(
  "GroupPreview",
  group.pick({
    jid: true,
    name: true,
    subject: true,
    description: true,
    owner: true,
    size: true,
    join_approval: true,
    created_at: true,
  }),
);

const joinRequest = named(
  "JoinRequest",
  participant.omit({ admin: true }).extend({
    push_name: z.string().nullable(),
    method: z
      .string()
      .nullable()
      .describe("The network's word for how the person asked, such as `invite_link`."),
    requested_at: isoTime.nullable(),
  }),
);

const tag = "Groups";
const access = "instance";

export const groupsContract = {
  listGroups: route({
    http: "GET /api/v1/instances/:id/groups",
    heavy: "search",
    errors: SESSION_ERRORS,
    access,
    tag,
    summary: "List the groups that the instance is in, as they are known; `refresh=true` asks the network",
    description:
      "The gateway asks the network at most once per minute; otherwise it returns the stored group with its age.",
    message: "Groups",
    aliases: { ...searchAliases, participants: ["getParticipants", "get_participants"] },
    input: z.object({
      id,
      ...searchInput,
      refresh: queryFlag.default(false),
      participants: queryFlag.default(true).describe("false: without them."),
    }),
    output: z.array(group),
    beside: z.object({ pagination, refreshed_at: isoTime.nullable() }),
  }),
  getGroup: route({
    http: "GET /api/v1/instances/:id/groups/:jid",
    errors: SESSION_ERRORS,
    access,
    tag,
    summary: "Get one group as it is known; `refresh=true` asks the network, once a minute at most",
    message: "Group",
    input: z.object({ id, jid, refresh: queryFlag.default(false) }),
    output: group,
  }),
  createGroup: route({
    http: "POST /api/v1/instances/:id/groups",
    errors: SESSION_ERRORS,
    access,
    tag,
    summary: "Make a group; each person has a result of their own",
    message: "Group created",
    aliases: { name: nameAliases, participants: participantAliases, description: ["desc", "topic"] },
    refuses: {
      promoteParticipants: {
        issue: "is not supported here: promote people with POST groups/participants, action promote",
      },
    },
    example: { name: "Team", participants: ["5511999990004"] },
    input: z.object({ id, name, participants, description: description.optional() }),
    output: group.extend({
      results: z.array(personResult),
      errors: z.array(settingError).describe("Settings of the new group that could not be applied."),
    }),
  }),
  updateGroupParticipants: route({
    http: "POST /api/v1/instances/:id/groups/participants",
    errors: SESSION_ERRORS,
    access,
    tag,
    summary: "Add, remove, promote or demote people; each has a result of their own",
    message: "Participants",
    aliases: { jid: jidAliases, participants: participantAliases },
    input: z.object({ id, jid, action: z.enum(["add", "remove", "promote", "demote"]), participants }),
    output: z.array(personResult),
  }),
  updateGroupSettings: route({
    http: "POST /api/v1/instances/:id/groups/settings",
    errors: SESSION_ERRORS,
    access,
    tag,
    summary: "Change name, description, image or permissions; returns which were applied and which refused",
    message: "Settings",
    upload: "image",
    bodyLimitBytes: PICTURE_BODY_BYTES,
    aliases: {
      jid: jidAliases,
      name: nameAliases,
      description: ["desc", "topic"],
      image: ["picture", "photo", "url", "base64", "file"],
    },
    example: { jid: "120363000000000001@g.us", announce: true },
    input: z
      .object({
        id,
        jid,
        name: name.optional(),
        description: description.optional().describe("An empty text removes it."),
        image,
        announce: z.boolean().optional().describe("Whether only admins can send messages."),
        locked: z
          .boolean()
          .optional()
          .describe("Whether only admins can change name, description and image."),
        join_approval: z
          .boolean()
          .optional()
          .describe("Whether an admin must approve everybody who joins by the link."),
        members_can_add: z
          .boolean()
          .optional()
          .describe("Whether all members can add people; false: only admins."),
      })
      .refine(
        ({ id: _, jid: __, ...settings }) => Object.values(settings).some((value) => value !== undefined),
        rule(`one of ${SETTINGS.replace(/, (\w+)$/, " and $1")} is required`, "one_of_required", {
          fields: SETTINGS,
        }),
      ),
    output: z.object({ jid: z.string(), applied: z.array(z.string()), errors: z.array(settingError) }),
  }),
  getGroupInvite: route({
    http: "GET /api/v1/instances/:id/groups/:jid/invite",
    errors: SESSION_ERRORS,
    access,
    tag,
    summary: "Get the invitation link of a group",
    message: "Invitation",
    input: z.object({ id, jid }),
    output: invitation,
  }),
  revokeGroupInvite: route({
    http: "POST /api/v1/instances/:id/groups/revoke-invite",
    errors: SESSION_ERRORS,
    access,
    tag,
    summary: "Make the invitation link of a group invalid and get a new one",
    message: "Invitation revoked",
    aliases: { jid: jidAliases },
    input: z.object({ id, jid }),
    output: invitation,
  }),
  previewGroup: route({
    http: "POST /api/v1/instances/:id/groups/preview",
    errors: SESSION_ERRORS,
    access,
    tag,
    summary: "See what an invitation link shows of its group, without joining",
    message: "Group",
    aliases: { code: codeAliases },
    input: z.object({ id, code }),
    output: preview,
  }),
  joinGroup: route({
    http: "POST /api/v1/instances/:id/groups/join",
    errors: SESSION_ERRORS,
    access,
    tag,
    summary: "Join a group by its invitation link or the code of it",
    message: "Group joined",
    aliases: { code: codeAliases },
    input: z.object({ id, code }),
    output: z.object({ jid: z.string() }),
  }),
  listJoinRequests: route({
    http: "GET /api/v1/instances/:id/groups/:jid/requests",
    errors: SESSION_ERRORS,
    access,
    tag,
    summary: "List the people who wait for an admin's approval to join",
    message: "Requests",
    input: z.object({ id, jid, ...pageInput }),
    output: z.array(joinRequest),
    beside: z.object({ pagination }),
  }),
  answerJoinRequests: route({
    http: "POST /api/v1/instances/:id/groups/:jid/requests",
    errors: SESSION_ERRORS,
    access,
    tag,
    summary: "Approve or reject people who want to join; each has a result of their own",
    message: "Requests answered",
    aliases: { participants: participantAliases },
    example: { action: "approve", participants: ["5511999990004"] },
    input: z.object({ id, jid, action: z.enum(["approve", "reject"]), participants }),
    output: z.array(personResult),
  }),
  leaveGroup: route({
    http: "POST /api/v1/instances/:id/groups/leave",
    errors: SESSION_ERRORS,
    access,
    tag,
    summary: "Leave a group",
    message: "Group left",
    aliases: { jid: jidAliases },
    input: z.object({ id, jid }),
    output: z.object({ jid: z.string() }),
  }),
};
