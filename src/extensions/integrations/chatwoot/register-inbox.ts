import { randomBytes } from "node:crypto";
import { GatewayError, invalidField } from "../../../platform/gateway-error.ts";
import { parseUrlOrigin } from "../../../platform/urls/parse-url-origin.ts";
import type { IntegrationDeps, IntegrationDraft, PreparedIntegration } from "../integration-provider.ts";
import type { Integration } from "../integration-row.ts";
import {
  type ChatwootAccess,
  type ChatwootApi,
  type ChatwootInbox,
  type ChatwootResult,
  type ChatwootTransport,
  createChatwootApi,
} from "./api/chatwoot-api.ts";
import type { ChatwootError } from "./api/chatwoot-error.ts";
import {
  type ChatwootConfig,
  type ChatwootState,
  chatwootConfigOf,
  webhookUrlOf,
} from "./chatwoot-config.ts";
import { privateNetworkWarning } from "./private-network-warning.ts";

/**
 * Checks the configuration from URL to inbox, and sets the inbox's webhook to this gateway. Throws
 * VALIDATION_ERROR with the wrong field, CONNECT_FAILED, or CONFLICT if the inbox belongs to another gateway.
 */
export async function registerInbox(
  deps: IntegrationDeps,
  draft: IntegrationDraft,
): Promise<PreparedIntegration> {
  const config = withInbox(draft);
  const { instance_id } = draft;
  const chatwoot = createChatwootApi({ outgoing: deps.outgoing, instance_id }, accessTo(config));
  const { version } = unwrapResult(await chatwoot.version(), "url");
  await requireAdministrator(chatwoot, config);
  const our_webhook_token = doorTokenOf(draft) ?? randomBytes(24).toString("base64url");
  const webhook_base = `${deps.baseUrl}/webhooks/chatwoot/${instance_id}/`;
  const webhook_url = `${webhook_base}${our_webhook_token}`;
  const inbox = await openInbox(deps, draft, { config, chatwoot, webhook_url });
  const { id, inbox_identifier, hmac_token, secret } = inbox;
  const state: ChatwootState = {
    inbox_identifier: inbox_identifier ?? "",
    version,
    webhook_base,
  };
  const now = { ...config, inbox_id: id, auto_create: false, force: false };
  const lock = await unlock({ outgoing: deps.outgoing, instance_id }, now, inbox);
  await leaveOldInbox(deps, draft.before, now);
  return {
    state: { ...state },
    secrets: {
      our_webhook_token,
      ...(secret && { webhook_secret: secret }),
      ...(hmac_token && { hmac_token }),
    },
    config: now,
    warnings: [lock, privateNetworkWarning(version, deps.baseUrl)].filter((one) => one !== undefined),
    isElsewhere: draft.before !== undefined && chatwootConfigOf(draft.before).url !== now.url,
  };
}

/** Stays while the origin does: another Chatwoot must not learn the token that the previous one uses. */
function doorTokenOf({ before, config }: IntegrationDraft): string | undefined {
  return parseUrlOrigin(before?.config.url) === parseUrlOrigin(config.url)
    ? before?.secrets.our_webhook_token
    : undefined;
}

/** Saved again without an inbox, the created one stays. */
function withInbox({ config, before }: IntegrationDraft): ChatwootConfig {
  const requested = config as ChatwootConfig;
  const old = before && chatwootConfigOf(before);
  const isSameAccount = old?.url === requested.url && old.account_id === requested.account_id;
  return requested.inbox_id === undefined && isSameAccount
    ? { ...requested, inbox_id: old.inbox_id }
    : requested;
}

function accessTo({ url, access_token, account_id, inbox_id = 0 }: ChatwootConfig): ChatwootAccess {
  return { url, access_token, account_id, inbox_id, inbox_identifier: "", hmac_token: undefined };
}

/** The value of a response; throws its rejection as a validation error. */
function unwrapResult<T>(result: ChatwootResult<T>, field: string): T {
  if (result.ok) return result.value;
  throw toError(result.error, field);
}

const FIELD: Partial<Record<ChatwootError["reason"], string>> = {
  token: "access_token",
  role: "access_token",
  suspended: "account_id",
};

function toError({ reason, text, failure }: ChatwootError, field: string): GatewayError {
  const known = FIELD[reason];
  if (known) return invalidField(known, text, "refused_by_other");
  if (reason === "not_found") return invalidField(field, "was not found in Chatwoot", "not_found");
  if (failure.final || reason === "unreadable") return invalidField(field, text, "refused_by_other");
  return new GatewayError("CONNECT_FAILED", `Chatwoot cannot be reached: ${text}`);
}

async function requireAdministrator(chatwoot: ChatwootApi, { account_id }: ChatwootConfig): Promise<void> {
  const { accounts } = unwrapResult(await chatwoot.profile(), "access_token");
  const account = accounts.find(({ id }) => id === account_id);
  if (!account)
    throw invalidField("account_id", "is not an account of the user that owns the token", "not_found");
  if (account.role === "administrator") return;
  const message =
    "belongs to a user who is not an administrator of the account. Use an administrator's token: registering the webhook needs it";
  throw invalidField("access_token", message, "refused_by_other");
}

interface NewInboxInput {
  config: ChatwootConfig;
  chatwoot: ChatwootApi;
  webhook_url: string;
}

/** The inbox with its webhook set to this gateway, with its secret. */
async function openInbox(
  deps: IntegrationDeps,
  draft: IntegrationDraft,
  opening: NewInboxInput,
): Promise<ChatwootInbox> {
  const { config, chatwoot, webhook_url } = opening;
  if (config.inbox_id === undefined) {
    const { inbox_name: name, reopen_conversation: lock_to_single_conversation } = config;
    const created = await chatwoot.createInbox({ name, webhook_url, lock_to_single_conversation });
    const { id } = unwrapResult(created, "inbox_name");
    const transport = { outgoing: deps.outgoing, instance_id: draft.instance_id };
    const chatwootOfInbox = createChatwootApi(transport, accessTo({ ...config, inbox_id: id }));
    return unwrapResult(await chatwootOfInbox.inbox(), "inbox_id");
  }
  const inbox = unwrapResult(await chatwoot.inbox(), "inbox_id");
  if (inbox.channel_type !== "Channel::Api")
    throw invalidField("inbox_id", wrongChannel(inbox), "not_supported");
  if (inbox.webhook_url === webhook_url) return inbox;
  if (inbox.webhook_url && !config.force) requireOurs(deps, draft, inbox.webhook_url);
  unwrapResult(await chatwoot.updateInbox({ channel: { webhook_url } }), "inbox_id");
  return unwrapResult(await chatwoot.inbox(), "inbox_id");
}

/**
 * An inbox with one conversation per contact would reopen a resolved one, whatever the configuration says.
 */
async function unlock(
  transport: ChatwootTransport,
  config: ChatwootConfig,
  { name, lock_to_single_conversation }: ChatwootInbox,
): Promise<string | undefined> {
  if (config.reopen_conversation || !lock_to_single_conversation) return undefined;
  const chatwoot = createChatwootApi(transport, accessTo(config));
  unwrapResult(await chatwoot.updateInbox({ lock_to_single_conversation: false }), "reopen_conversation");
  return `The inbox "${name}" had a single conversation per contact. The gateway disabled this in Chatwoot, because \`reopen_conversation\` is false.`;
}

export function wrongChannel({ name, channel_type }: ChatwootInbox): string {
  return `is the inbox "${name}" of the type ${channel_type}; it must be an API inbox (Channel::Api)`;
}

/** Set by this gateway before, under another URL or another token. */
function requireOurs(
  { baseUrl }: IntegrationDeps,
  { instance_id, before }: IntegrationDraft,
  found: string,
): void {
  const isOfInstance = found.startsWith(`${baseUrl}/webhooks/chatwoot/${instance_id}/`);
  if (isOfInstance || (before && found === webhookUrlOf(before))) return;
  const host = URL.canParse(found) ? new URL(found).host : "another address";
  throw new GatewayError(
    "CONFLICT",
    `The inbox already has a webhook to ${host}. Remove that webhook in Chatwoot, or save with "force": true to replace it.`,
    { details: { reason: "webhook_taken", host } },
  );
}

/** Removes the webhook from an inbox that is no longer used. */
async function leaveOldInbox(
  deps: IntegrationDeps,
  before: Integration | undefined,
  now: ChatwootConfig,
): Promise<void> {
  if (!before?.enabled) return;
  const old = chatwootConfigOf(before);
  const isSame = old.url === now.url && old.account_id === now.account_id && old.inbox_id === now.inbox_id;
  if (!isSame) await unregisterInbox(deps, before);
}

/** Removes the webhook from the inbox if it is ours; errors are only logged. */
export async function unregisterInbox(
  deps: Pick<IntegrationDeps, "outgoing" | "log">,
  integration: Integration,
): Promise<void> {
  const { instance_id } = integration;
  const chatwoot = createChatwootApi(
    { outgoing: deps.outgoing, instance_id },
    accessTo(chatwootConfigOf(integration)),
  );
  const inbox = await chatwoot.inbox();
  if (inbox.ok && inbox.value.webhook_url !== webhookUrlOf(integration)) return;
  const removed = inbox.ok ? await chatwoot.updateInbox({ channel: { webhook_url: "" } }) : inbox;
  if (removed.ok) return;
  deps.log.warn(
    { instance_id, reason: removed.error.text },
    "the webhook of a Chatwoot inbox was not removed",
  );
}
