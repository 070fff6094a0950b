import type { TestReport } from "../contract.ts";
import type { IntegrationDeps } from "../integration-provider.ts";
import type { Integration } from "../integration-row.ts";
import {
  type ChatwootInbox,
  type ChatwootResult,
  chatwootAccessOf,
  createChatwootApi,
} from "./api/chatwoot-api.ts";
import type { ChatwootError } from "./api/chatwoot-error.ts";
import { IDENTITY_CHANGED } from "./api/explain-identity-error.ts";
import { chatwootConfigOf, chatwootStateOf, webhookUrlOf } from "./chatwoot-config.ts";
import { privateNetworkWarning } from "./private-network-warning.ts";
import { wrongChannel } from "./register-inbox.ts";

/** What one step found wrong. */
interface InboxProblem {
  message: string;
  status_code: number | null;
}

/** Runs all checks of a save without changes, and describes the one that fails. */
export async function checkInbox(deps: IntegrationDeps, integration: Integration): Promise<TestReport> {
  const began = performance.now();
  const { webhook_base } = chatwootStateOf(integration);
  const details: Record<string, unknown> = webhook_base ? { webhook_url: `${webhook_base}****` } : {};
  const fault = await findFault(deps, integration, details);
  return {
    success: fault === undefined,
    message:
      fault?.message ??
      `Chatwoot ${details.version} accepts messages and reports the agents' replies to this gateway.`,
    status_code: fault ? fault.status_code : 200,
    duration_ms: Math.round(performance.now() - began),
    details,
  };
}

async function findFault(
  deps: IntegrationDeps,
  integration: Integration,
  details: Record<string, unknown>,
): Promise<InboxProblem | undefined> {
  if (!integration.enabled) return problem("The integration is disabled.");
  const { instance_id } = integration;
  const chatwoot = createChatwootApi({ outgoing: deps.outgoing, instance_id }, chatwootAccessOf(integration));
  const reached = await chatwoot.version();
  if (!reached.ok) return faultOf(reached.error, "There is no Chatwoot at this `url`.");
  details.version = reached.value.version;
  const profile = await chatwoot.profile();
  if (!profile.ok) return faultOf(profile.error, "The response did not come from Chatwoot.");
  const account = profile.value.accounts.find(({ id }) => id === chatwootConfigOf(integration).account_id);
  if (!account) return problem("The user of the access token is not in the account `account_id`.");
  details.role = account.role;
  if (account.role !== "administrator")
    return problem(
      "The access token is right, but its user is not an administrator of the account. Use an administrator's token.",
    );
  const inbox: ChatwootResult<ChatwootInbox> = await chatwoot.inbox();
  if (!inbox.ok) return faultOf(inbox.error, "The account has no inbox `inbox_id`.");
  details.inbox = inbox.value.name;
  return faultOfInbox(deps, integration, inbox.value, reached.value.version);
}

function faultOfInbox(
  { baseUrl }: IntegrationDeps,
  integration: Integration,
  inbox: ChatwootInbox,
  version: string,
): InboxProblem | undefined {
  if (inbox.channel_type !== "Channel::Api") return problem(`\`inbox_id\` ${wrongChannel(inbox)}.`);
  if (inbox.webhook_url !== webhookUrlOf(integration))
    return problem(
      "The webhook of the inbox no longer leads to this gateway, so agents' replies do not arrive. Save the integration again.",
    );
  if ((inbox.secret || undefined) !== integration.secrets.webhook_secret)
    return problem(
      "The secret of the inbox was changed, so its webhooks are rejected. Save the integration again.",
    );
  if ((inbox.hmac_token || undefined) !== integration.secrets.hmac_token) return problem(IDENTITY_CHANGED);
  if (inbox.lock_to_single_conversation && !chatwootConfigOf(integration).reopen_conversation)
    return problem(
      "The inbox has a single conversation per contact, but `reopen_conversation` is false. Save the integration again.",
    );
  const trap = privateNetworkWarning(version, baseUrl);
  return trap === undefined ? undefined : problem(trap);
}

function faultOf({ reason, text, status_code }: ChatwootError, notFound: string): InboxProblem {
  return { message: reason === "not_found" ? notFound : text, status_code };
}

function problem(message: string): InboxProblem {
  return { message, status_code: 200 };
}
