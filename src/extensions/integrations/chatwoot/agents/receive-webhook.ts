import { addJobs } from "../../../../engine/job-store.ts";
import { GatewayError } from "../../../../platform/gateway-error.ts";
import { parseJsonBody } from "../../../../platform/http/body/parse-json-body.ts";
import type { Handlers } from "../../../../platform/http/handler.ts";
import { cleanJson } from "../../../../platform/text/clean-text.ts";
import type { integrationsContract } from "../../contract.ts";
import { createTaskJob, type TaskOptions } from "../../delivery/complete-job.ts";
import type { IntegrationDeps } from "../../integration-provider.ts";
import { type Integration, openIntegration } from "../../integration-row.ts";
import { chatwootConfigOf, SOURCE_ID_PREFIX } from "../chatwoot-config.ts";
import { inboxKeyOf } from "../find-or-create-conversation.ts";
import {
  type AgentMessage,
  type ChatwootWebhookBody,
  isSignedBody,
  readWebhookBody,
  type TypingEvent,
  timingSafeEqualText,
} from "./chatwoot-webhook-body.ts";

type Handler = Handlers<typeof integrationsContract>["receiveChatwoot"];

/** Each message waits this long, so that two sent at once go out in message order, not in webhook order. */
export const REORDER_TIMING = { waitMs: 300 };
const LONGEST_DELIVERY_ID = 200;
/** A message with its conversation has some hundred values. */
const MOST_VALUES = 20_000;

/**
 * Receives Chatwoot's webhooks: verified before parsing, stored, answered at once, and processed by the lane.
 */
export function receiveWebhook(deps: IntegrationDeps): Handler {
  return async ({ input: { id, token }, bytes, headers }) => {
    const integration = await find(deps, id);
    const raw = bytes ?? Buffer.alloc(0);
    if (!integration || !isTrusted(integration, token, raw, headers)) throw refused();
    // While the integration is off, messages must not be marked as failed.
    const body = integration.enabled ? readWebhookBody(parseJsonBody(raw, MOST_VALUES)) : undefined;
    const options = body && taskOptionsOf(integration, body);
    if (body && options) {
      const delivery = String(headers["x-chatwoot-delivery"] ?? "").slice(0, LONGEST_DELIVERY_ID) || null;
      await store(deps, integration, { body, options, delivery });
    }
    return { received: true };
  };
}

async function find({ db, box }: IntegrationDeps, instanceId: number): Promise<Integration | undefined> {
  const row = await db
    .selectFrom("integration")
    .selectAll()
    .where("instance_id", "=", instanceId)
    .where("provider", "=", "chatwoot")
    .executeTakeFirst();
  return row && openIntegration(row, box);
}

/** Versions before 4.13 do not sign: then only the URL is secret. */
function isTrusted(
  { secrets }: Integration,
  token: string,
  bytes: Buffer,
  headers: Parameters<typeof isSignedBody>[2],
): boolean {
  const { our_webhook_token, webhook_secret } = secrets;
  if (our_webhook_token === undefined || !timingSafeEqualText(token, our_webhook_token)) return false;
  return webhook_secret === undefined || isSignedBody(webhook_secret, bytes, headers);
}

/** The same error for every reason, so that it does not reveal which instances exist. */
function refused(): GatewayError {
  return new GatewayError(
    "INVALID_CREDENTIALS",
    "The address or the signature of this webhook is wrong. Save the integration again to register the webhook anew.",
  );
}

/** Undefined for irrelevant webhooks, such as the echoes of posted messages. */
function taskOptionsOf(integration: Integration, body: ChatwootWebhookBody): TaskOptions | undefined {
  switch (body.event) {
    case "message_created":
    case "message_updated":
      return isOfAgent(integration, body)
        ? {
            inbound: true,
            grp: `conversation:${body.conversation.id}`,
            pos: body.id,
            run_at: new Date(Date.now() + REORDER_TIMING.waitMs),
          }
        : undefined;
    case "conversation_status_changed":
      return isOurInbox(integration, body.inbox_id)
        ? { inbound: true, grp: `status:${body.id}`, pos: Date.now() }
        : undefined;
    default:
      return isTyping(integration, body)
        ? { inbound: true, grp: `typing:${body.conversation.id}`, pos: Date.now() }
        : undefined;
  }
}

function isOfAgent(integration: Integration, body: AgentMessage): boolean {
  const { message_type, private: isPrivate, source_id, content_attributes } = body;
  if (body.account.id !== chatwootConfigOf(integration).account_id) return false;
  if (!isOurInbox(integration, body.inbox.id)) return false;
  if (message_type !== "outgoing" && message_type !== "template") return false;
  const isFromGateway = source_id?.startsWith(SOURCE_ID_PREFIX) === true;
  // Posted messages return as an echo, but agents may delete them.
  if (isFromGateway) return content_attributes?.deleted === true;
  return !isPrivate && content_attributes?.external_echo !== true;
}

function isOurInbox(integration: Integration, inboxId: number | null | undefined): boolean {
  return inboxId === chatwootConfigOf(integration).inbox_id;
}

function isTyping(integration: Integration, { user, is_private, conversation }: TypingEvent): boolean {
  const isAgent = user?.type === "user" && !is_private;
  return isAgent && chatwootConfigOf(integration).typing && isOurInbox(integration, conversation.inbox_id);
}

interface StoredWebhook {
  body: ChatwootWebhookBody;
  options: TaskOptions;
  /** The same when Chatwoot repeats the webhook. */
  delivery: string | null;
}

async function store(
  { db, engine }: IntegrationDeps,
  integration: Integration,
  { body, options, delivery }: StoredWebhook,
): Promise<void> {
  const { id: integration_id, account_id, inbound_lane } = integration;
  await db.transaction().execute(async (trx) => {
    const row = await trx
      .insertInto("integration_inbound")
      .values({ account_id, integration_id, delivery, body: JSON.stringify(cleanJson(body)) })
      .onConflict((conflict) => conflict.columns(["integration_id", "delivery"]).doNothing())
      .returning("id")
      .executeTakeFirst();
    if (row)
      await addJobs(trx, [
        createTaskJob(integration, { inbound: row.id, inbox: inboxKeyOf(integration) }, options),
      ]);
  });
  if (inbound_lane !== null) engine.wake([inbound_lane]);
}
