import { z } from "zod";
import {
  isoTime,
  pagination,
  refuseAll,
  removedRow,
  route,
  rowId,
  searchAliases,
  searchInput,
} from "../../platform/http/route.ts";
import { named } from "../../platform/http/schema-name.ts";
import { rule } from "../../platform/issue-codes.ts";
import { boundedText, countryCode, timeZoneText, trimmedText } from "../../platform/text/bounded-text.ts";
import { features, planLimits, retentionDays } from "../plans/contract.ts";

const account = named(
  "Account",
  z.object({
    id: z.number().int(),
    name: z.string(),
    account_type: z.enum(["owner", "reseller", "client"]),
    status: named("AccountStatus", z.enum(["active", "trial", "paused", "blocked", "expired", "cancelled"])),
  }),
);

const role = named("UserRole", z.enum(["super_admin", "admin", "agent"]));

const user = named(
  "User",
  z.object({
    id: z.number().int(),
    name: z.string(),
    email: z.string(),
    role,
    instance_ids: z
      .array(z.number().int())
      .nullable()
      .describe("The only instances of an agent; null: all of the account."),
    must_change_password: z
      .boolean()
      .describe("Somebody else has chosen the password, or the gateway: the panel asks for another."),
  }),
);

/** The defaults of an account's settings. */
export const DEFAULT_ACCOUNT_SETTINGS = {
  auto_create_leads: false,
  keys_manage_instances: true,
  lead_stages: [],
  time_zone: null,
  default_country: null,
  message_retention_days: null,
  campaign_retention_days: null,
  lead_retention_days: null,
  event_retention_days: null,
  log_retention_days: null,
} satisfies z.output<typeof accountSettings>;

/** Stages on the board of leads. */
export const MAX_STAGES = 50;
const stageNames = z.array(trimmedText(64).min(1)).max(MAX_STAGES);

export const accountSettings = named(
  "AccountSettings",
  z.object({
    auto_create_leads: z
      .boolean()
      .describe("Whether a contact who writes for the first time becomes a lead."),
    keys_manage_instances: z
      .boolean()
      .describe(
        "Whether each API key may list and create instances of the account, with `/instance/all` and `/instance/create`. Without it, a key with the scope `instance` lists its own instance only, and no key creates one.",
      ),
    lead_stages: stageNames
      .refine((names) => new Set(names).size === names.length, rule("names a stage twice", "duplicate"))
      .describe("Stages of the board of leads, in order; stages of leads that are not listed follow."),
    time_zone: timeZoneText()
      .nullable()
      .describe(
        "Campaigns without `quiet_hours` count days in it, and the panel suggests it to new ones; null: UTC.",
      ),
    default_country: countryCode()
      .nullable()
      .describe(
        "Country of phone numbers without a country code, in requests and files of the account; null: the gateway's default.",
      ),
    message_retention_days: retentionDays.describe(
      "Days after which messages and their files are deleted; null: the gateway's default. The plan's `max_message_retention_days` is the maximum; the other kinds of data have such a maximum too.",
    ),
    campaign_retention_days: retentionDays.describe(
      "Days after its end after which a campaign and its report are deleted.",
    ),
    lead_retention_days: retentionDays.describe(
      "Days after its last change and its last message after which a lead is deleted.",
    ),
    event_retention_days: retentionDays.describe(
      "Days after which events are deleted, if earlier than the gateway's own limit. An event with a pending delivery is not deleted.",
    ),
    log_retention_days: retentionDays.describe(
      "Days after which logs of requests, connections and deliveries are deleted, if earlier than the gateway's own limit.",
    ),
  }),
);

const inCamelCase = (name: string) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

/** A setting may stand outside of `settings`. */
const settingAliases = Object.fromEntries(
  Object.keys(accountSettings.shape).map((name) => {
    const other = inCamelCase(name);
    return [`settings.${name}`, [name, other, `settings.${other}`]];
  }),
);

const ownAccount = named(
  "OwnAccount",
  account.extend({
    settings: accountSettings,
    plan: planLimits.extend({ id: z.number().int(), name: z.string(), features }),
    used: z.object({
      instances: z.number().int(),
      users: z.number().int(),
      storage_bytes: z
        .number()
        .int()
        .describe(
          "Bytes of stored files, including those of pending sends. The plan allows `max_storage_mb` times 1,048,576 bytes.",
        ),
    }),
    trial_ends_at: isoTime.nullable(),
    created_at: isoTime,
  }),
);

const userRow = named("AccountUser", user.extend({ created_at: isoTime }));

const userName = trimmedText(100).min(1);
const email = trimmedText(320).min(3);
const newPassword = boundedText(1024).min(1).describe("12 to 1024 characters, not a common one.");
const mustChangePassword = z
  .boolean()
  .optional()
  .describe("Whether the panel asks for another password. Default with a password: `true`.");

/** Instances of one agent. */
const MAX_INSTANCES = 500;
const instanceIds = z
  .array(rowId)
  .max(MAX_INSTANCES)
  .nullish()
  .describe("Limits an agent to these instances; null: all of the account.");

const deviceToken = boundedText(200)
  .optional()
  .describe("The `device_token` that an earlier sign-in returned to this device.");

const userAliases = { must_change_password: ["mustChangePassword"], instance_ids: ["instanceIds"] };

const welcomeToken = boundedText(200).min(1).describe("The part of the printed link after `#`.");

const signedIn = named(
  "SignedIn",
  z.object({
    token: z.string().describe("The JWT, for `Authorization: Bearer`."),
    token_type: z.literal("Bearer"),
    expires_in: z.number().int().describe("Seconds."),
    device_token: z
      .string()
      .optional()
      .describe(
        "For programs; the panel has a cookie. Store it on this device and send it with the next sign-in or password change. Failed sign-ins from elsewhere then cannot delay it.",
      ),
    account,
    user,
  }),
);

const besideSignedIn = z.object({ token: z.string(), accountId: z.number().int() });

const count = z.number().int();

const accountRow = named(
  "ManagedAccount",
  account.extend({
    parent_id: z.number().int().nullable().describe("The reseller of this customer."),
    plan: z.object({ id: z.number().int(), name: z.string() }),
    trial_ends_at: isoTime.nullable(),
    users: count,
    instances: count,
    connected_instances: count,
    messages_month: count,
    storage_bytes: count.describe("Stored files."),
    created_at: isoTime,
  }),
);

const trialEnd = boundedText(64)
  .check(z.iso.datetime({ offset: true }))
  .transform((value) => new Date(value));

const accountFields = {
  plan_id: rowId.optional().describe("A reseller can choose only plans that allow no more than its own."),
  trial_ends_at: trialEnd.nullish().describe("From this time on, a trial is `expired`."),
  parent_id: rowId.nullish().describe("The reseller of the account. Only the owner can set it."),
};

const tag = "Account";

export const accountsContract = {
  login: route({
    http: "POST /api/auth/login",
    errors: ["INVALID_CREDENTIALS", "ACCOUNT_RESTRICTED"],
    access: "public",
    tag,
    summary: "Sign in and get an access token",
    message: "Signed in",
    aliases: {
      email: ["username", "login"],
      password: ["senha"],
      account_id: ["accountId"],
      device_token: ["deviceToken"],
    },
    example: { email: "owner@localhost", password: "the password that the first start printed" },
    input: z.object({
      email: trimmedText(320).min(1),
      password: boundedText(1024).min(1),
      account_id: rowId
        .optional()
        .describe("Required if the e-mail and password belong to users of several accounts."),
      device_token: deviceToken,
    }),
    output: signedIn,
    beside: besideSignedIn,
  }),
  readWelcomeLink: route({
    http: "POST /api/auth/welcome",
    errors: ["INVALID_TOKEN", "ACCOUNT_RESTRICTED"],
    access: "public",
    tag,
    summary: "Get the e-mail of the owner whose first password a printed link sets",
    message: "Link is valid",
    input: z.object({ token: welcomeToken }),
    output: z.object({ email: z.string() }),
  }),
  setFirstPassword: route({
    http: "POST /api/auth/welcome/password",
    errors: ["INVALID_TOKEN", "ACCOUNT_RESTRICTED"],
    access: "public",
    tag,
    summary: "Set the owner's first password by the printed link, and sign in",
    description:
      "Each start prints a link until the owner has signed in or set a password. A link works once and for 24 hours. Failed attempts count as failed sign-ins.",
    message: "Password set",
    aliases: { new_password: ["newPassword", "password"] },
    input: z.object({ token: welcomeToken, new_password: newPassword }),
    output: signedIn,
    beside: besideSignedIn,
  }),
  confirmPassword: route({
    http: "POST /api/auth/confirm",
    access: "account",
    keepsToInstances: true,
    tag,
    summary: "Confirm the password, which opens routes that return `PASSWORD_REQUIRED` for ten minutes",
    message: "Password confirmed",
    aliases: { password: ["senha"], device_token: ["deviceToken"] },
    input: z.object({ password: boundedText(1024).min(1), device_token: deviceToken }),
    output: z.object({}),
  }),
  logout: route({
    http: "POST /api/auth/logout",
    access: "account",
    keepsToInstances: true,
    tag,
    summary: "Sign out and revoke the token",
    message: "Signed out",
    input: z.object({}),
    output: z.object({}),
  }),
  startSession: route({
    http: "POST /api/auth/session",
    access: "account",
    keepsToInstances: true,
    tag,
    summary: "Keep this sign-in in a cookie, for the web panel",
    description:
      "Sets the cookie `__Host-waygate`, which scripts cannot read. The gateway accepts it only with the header `x-waygate-panel: 1`, from a page of its own origin, and without another credential. It ends with the sign-in. Programs send the token as `Authorization: Bearer` instead.",
    message: "Session started",
    input: z.object({}),
    output: z.object({ expires_in: z.number().int().describe("Seconds.") }),
  }),
  me: route({
    http: "GET /api/auth/me",
    access: "account",
    keepsToInstances: true,
    tag,
    summary: "Get the signed-in user",
    message: "Signed in",
    input: z.object({}),
    output: z.object({ account, user }),
  }),
  changePassword: route({
    http: "POST /api/auth/password",
    access: "account",
    keepsToInstances: true,
    tag,
    summary: "Change the password, revoke every token of the user and get a new one",
    message: "Password changed",
    aliases: {
      current_password: ["currentPassword", "old_password", "password"],
      new_password: ["newPassword"],
      device_token: ["deviceToken"],
    },
    input: z.object({
      current_password: boundedText(1024).min(1),
      new_password: newPassword,
      device_token: deviceToken,
    }),
    output: signedIn,
    beside: besideSignedIn,
  }),
  getAccount: route({
    http: "GET /api/account",
    access: "account",
    keepsToInstances: true,
    tag,
    summary: "Get the account with its settings, plan and usage",
    message: "Account",
    input: z.object({}),
    output: ownAccount,
  }),
  updateAccount: route({
    http: "PATCH /api/account",
    acts: {
      credential: ["settings.keys_manage_instances"],
      irreversible: [
        "settings.message_retention_days",
        "settings.campaign_retention_days",
        "settings.lead_retention_days",
        "settings.event_retention_days",
        "settings.log_retention_days",
      ],
    },
    access: "account",
    role: "admin",
    tag,
    summary: "Change the account's name and settings; omitted fields stay unchanged",
    message: "Account updated",
    aliases: {
      ...settingAliases,
      add_lead_stages: ["addLeadStages"],
      remove_lead_stages: ["removeLeadStages"],
    },
    example: { name: "Shop" },
    input: z.object({
      name: userName.optional(),
      settings: accountSettings.partial().optional(),
      add_lead_stages: stageNames
        .optional()
        .describe(
          "Stages to append to `lead_stages`, unless they are listed; keeps what others add meanwhile.",
        ),
      remove_lead_stages: stageNames
        .optional()
        .describe("Stages to take off `lead_stages`; one that is also added moves to its end."),
    }),
    output: ownAccount,
  }),
  listUsers: route({
    http: "GET /api/users",
    access: "account",
    role: "admin",
    tag,
    summary: "List the users of the account, newest first",
    message: "Users",
    aliases: searchAliases,
    input: z.object(searchInput),
    output: z.array(userRow),
    beside: z.object({ pagination }),
  }),
  createUser: route({
    http: "POST /api/users",
    acts: { credential: true },
    errors: ["CONFLICT"],
    access: "account",
    role: "admin",
    tag,
    summary: "Add a user to the account",
    message: "User created",
    aliases: userAliases,
    example: { name: "Ana", email: "ana@example.com", password: "correct horse battery staple" },
    input: z.object({
      name: userName,
      email,
      password: newPassword,
      must_change_password: mustChangePassword,
      role: role.default("agent"),
      instance_ids: instanceIds,
    }),
    output: userRow,
  }),
  updateUser: route({
    http: "PATCH /api/users/:id",
    acts: { credential: true },
    errors: ["CONFLICT"],
    access: "account",
    role: "admin",
    tag,
    summary: "Change another user; a new password or role ends that user's sign-ins",
    message: "User updated",
    aliases: userAliases,
    example: { name: "Ana" },
    input: z.object({
      id: rowId,
      name: userName.optional(),
      email: email.optional(),
      password: newPassword.optional(),
      must_change_password: mustChangePassword,
      role: role.optional(),
      instance_ids: instanceIds,
    }),
    output: userRow,
  }),
  recoverUser: route({
    http: "POST /api/admin/users/:id/recover",
    acts: { credential: true },
    errors: ["CONFLICT"],
    access: "owner",
    tag,
    summary:
      "Set a new password for another user of any account, return it once, and end the user's sign-ins",
    message: "Password replaced",
    input: z.object({ id: rowId }),
    output: z.object({
      user: user.extend({ account_id: z.number().int() }),
      password: z.string().describe("Returned only in this response."),
    }),
  }),
  deleteUser: route({
    http: "DELETE /api/users/:id",
    acts: { irreversible: true },
    errors: ["CONFLICT"],
    access: "account",
    role: "admin",
    tag,
    summary: "Remove another user and end that user's sign-ins",
    message: "User removed",
    input: z.object({ id: rowId }),
    output: removedRow,
  }),
  listAccounts: route({
    http: "GET /api/admin/accounts",
    heavy: "search",
    access: "manager",
    tag: "Administration",
    summary:
      "List accounts, newest first; a reseller sees its own customers. `q` searches names, and e-mails of users",
    message: "Accounts",
    aliases: searchAliases,
    input: z.object({
      ...searchInput,
      account_id: rowId.optional().describe("Only this account."),
      status: account.shape.status.optional(),
      account_type: account.shape.account_type.optional(),
      parent_id: rowId.optional().describe("Only customers of this reseller."),
    }),
    output: z.array(accountRow),
    beside: z.object({ pagination }),
  }),
  listAccountUsers: route({
    http: "GET /api/admin/accounts/:id/users",
    access: "owner",
    tag: "Administration",
    summary: "List the users of any account, newest first, for example to give one a new password",
    message: "Users",
    aliases: searchAliases,
    input: z.object({ id: rowId, ...searchInput }),
    output: z.array(userRow),
    beside: z.object({ pagination }),
  }),
  createAccount: route({
    http: "POST /api/admin/accounts",
    acts: { credential: true },
    errors: ["CONFLICT"],
    access: "manager",
    tag: "Administration",
    summary: "Create an account with its first user; a reseller creates its own customer",
    message: "Account created",
    aliases: {
      account_type: ["type", "accountType"],
      plan_id: ["planId"],
      parent_id: ["parentId"],
      must_change_password: ["mustChangePassword"],
      default_country: ["defaultCountry", "settings.default_country", "settings.defaultCountry"],
    },
    refuses: refuseAll(
      "is not a field of a new account. Change it with PATCH /api/account in the account",
      ...Object.keys(accountSettings.shape)
        .filter((name) => name !== "default_country")
        .flatMap((name) => [name, `settings.${name}`, `settings.${inCamelCase(name)}`]),
    ),
    example: { name: "Shop", email: "shop@example.com" },
    input: z.object({
      name: userName,
      account_type: z.enum(["reseller", "client"]).default("client"),
      status: z
        .enum(["active", "trial"])
        .optional()
        .describe("Default: `trial` if `trial_ends_at` is set, otherwise `active`."),
      ...accountFields,
      default_country: accountSettings.shape.default_country.optional(),
      email,
      password: newPassword.optional().describe("Default: the gateway generates one and returns it once."),
      must_change_password: mustChangePassword,
      user_name: userName.optional(),
    }),
    output: accountRow.extend({
      user,
      password: z.string().optional().describe("Returned once, and only if the gateway generated it."),
      hint: z
        .string()
        .optional()
        .describe("Present with the second account: outgoing requests to this machine end."),
    }),
  }),
  removeAccount: route({
    http: "DELETE /api/admin/accounts/:id",
    acts: { irreversible: true },
    errors: ["CONFLICT"],
    access: "owner",
    tag: "Administration",
    summary: "Remove an account and all its data permanently",
    description:
      "The account disappears immediately: its users cannot sign in and its keys stop working. The gateway then logs out its instances, and deletes their messages, files, webhooks and logs, then all other data. A crash does not stop this. The audit log keeps its entries without the callers' addresses, and gets `account.removed` at the end. Returns `CONFLICT` for the owner's account and for a reseller with customers.",
    message: "Account is being removed",
    input: z.object({ id: rowId }),
    output: z.object({
      id: z.number().int(),
      instances: z.number().int().describe("Number of instances that are removed with the account."),
    }),
  }),
  changeAccount: route({
    http: "PATCH /api/admin/accounts/:id",
    acts: { credential: true },
    errors: ["CONFLICT"],
    access: "manager",
    tag: "Administration",
    summary: "Change, suspend or reactivate an account; takes effect within 5 seconds",
    message: "Account updated",
    aliases: { plan_id: ["planId"], parent_id: ["parentId"] },
    example: { name: "Shop", status: "active" },
    input: z.object({
      id: rowId,
      name: userName.optional(),
      status: account.shape.status.optional(),
      ...accountFields,
    }),
    output: accountRow,
  }),
};
