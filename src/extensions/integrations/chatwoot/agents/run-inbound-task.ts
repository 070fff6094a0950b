import { sql } from "kysely";
import { queueAction, selectMessages } from "../../../../core/messages/messages.ts";
import type { Job, JobResult } from "../../../../engine/engine.ts";
import type { Jid } from "../../../../network/driver.ts";
import type { Db } from "../../../../platform/db/database.ts";
import { completeJob } from "../../delivery/complete-job.ts";
import { findChatByConversation } from "../../integration-chat.ts";
import { findProviderMessageLinks, type MessageLink, updateMessageLink } from "../../message-link.ts";
import { chatwootConfigOf } from "../chatwoot-config.ts";
import type { ChatwootContext } from "../chatwoot-context.ts";
import { DELETED_MARK } from "../find-link-of-message.ts";
import { inboxKeyOf } from "../find-or-create-conversation.ts";
import {
  type AgentMessage,
  type ConversationStatusChange,
  readWebhookBody,
  type TypingEvent,
} from "./chatwoot-webhook-body.ts";
import { recordUnsentMessage } from "./record-unsent-message.ts";
import { sendAgentMessage } from "./send-agent-message.ts";

/** Processes one webhook of Chatwoot. */
export async function runInboundTask(
  context: ChatwootContext,
  job: Job,
  task: Record<string, unknown>,
): Promise<JobResult> {
  const row = await context.deps.db
    .selectFrom("integration_inbound")
    .select(["body", "created_at"])
    .where("id", "=", Number(task.inbound))
    .executeTakeFirst();
  const body = row && readWebhookBody(row.body);
  if (!body) return { end: "done" };
  // In the inbox that has been saved since, its ids would mean other messages.
  if (task.inbox !== inboxKeyOf(context.integration)) return dropForOldInbox(context);
  switch (body.event) {
    case "message_created":
    case "message_updated":
      return handleMessage(context, job, body);
    case "conversation_status_changed":
      return handleStatus(context, body);
    default:
      return handleTyping(context, body, row.created_at);
  }
}

async function dropForOldInbox({ deps, integration }: ChatwootContext): Promise<JobResult> {
  await deps.health.warn(integration, "Messages that agents wrote in the former inbox were not sent.");
  return { end: "done" };
}

const OLDEST_UPDATE_MS = 24 * 3_600_000;

/**
 * A known message is not sent again, unless it has failed and the agent retries it. Webhooks arrive in any
 * order, and the first may be lost: an update can be the first webhook of a message.
 */
async function handleMessage(context: ChatwootContext, job: Job, message: AgentMessage): Promise<JobResult> {
  const links = await findProviderMessageLinks(context.deps.db, context.integration.id, String(message.id));
  if (message.content_attributes?.deleted === true) return deleteParts(context, job, message, links);
  if (message.event === "message_updated") return handleUpdate(context, job, message, links);
  if (links.length === 0) return sendAgentMessage(context, job, message);
  // An earlier attempt of this job failed, and Chatwoot did not store the reason.
  const isUntold = job.attempts > 0 && links.some(({ status }) => status === "failed");
  return isUntold ? sendAgentMessage(context, job, message, links) : { end: "done" };
}

async function handleUpdate(
  context: ChatwootContext,
  job: Job,
  message: AgentMessage,
  links: readonly MessageLink[],
): Promise<JobResult> {
  const error = message.content_attributes?.external_error;
  if (error !== undefined && error !== null) return { end: "done" };
  if (links.length === 0)
    return isUnprocessed(message) ? sendAgentMessage(context, job, message) : { end: "done" };
  const parts = await resolveDelivered(context, links);
  return parts.some(({ status }) => status === "failed")
    ? sendAgentMessage(context, job, message, parts)
    : { end: "done" };
}

/**
 * Whether the message is unprocessed. Retry empties the attributes. A message that was ever shown as sent,
 * delivered or failed has the error attribute, even if that integration was removed.
 */
function isUnprocessed({ created_at, content_attributes }: AgentMessage): boolean {
  const isRecent = Date.now() - Date.parse(created_at ?? "") < OLDEST_UPDATE_MS;
  return isRecent && !Object.hasOwn(content_attributes ?? {}, "external_error");
}

/** A receipt may arrive after a send was abandoned: a message that arrived is not sent again. */
async function resolveDelivered(
  { deps, integration }: ChatwootContext,
  links: readonly MessageLink[],
): Promise<MessageLink[]> {
  const failed = links.filter(({ status }) => status === "failed");
  const ids = failed.flatMap(({ message_id }) => message_id ?? []);
  const rows = ids.length === 0 ? [] : await selectByIds(deps.db, integration.instance_id, ids);
  const delivered = new Set<string | null>(
    rows.flatMap(({ status, message_id }) => (status === "failed" ? [] : message_id)),
  );
  const resolved = failed.filter(({ message_id }) => delivered.has(message_id));
  for (const { id } of resolved) await updateMessageLink(deps.db, id, { status: "done", error: null });
  return links.map((link) => (resolved.includes(link) ? { ...link, status: "done" } : link));
}

function selectByIds(db: Db, instanceId: number, ids: string[]) {
  return selectMessages(db)
    .where("m.instance_id", "=", instanceId)
    .where("m.message_id", "in", ids)
    .execute();
}

const AGAIN_MS = 1_000;
const MAX_ATTEMPTS = 900;

/** Deletes every part for everyone; waits for parts that are still being sent. */
async function deleteParts(
  context: ChatwootContext,
  job: Job,
  message: AgentMessage,
  links: readonly MessageLink[],
): Promise<JobResult> {
  const { deps, integration } = context;
  // The gateway deleted it in Chatwoot, because it was deleted on WhatsApp.
  if (links.some(({ error }) => error === DELETED_MARK)) return { end: "done" };
  const ids = links.flatMap(({ message_id }) => message_id ?? []);
  const rows = ids.length === 0 ? [] : await selectByIds(deps.db, integration.instance_id, ids);
  if (rows.some(({ status }) => status === "pending") && job.attempts < MAX_ATTEMPTS)
    return { end: "retry", at: new Date(Date.now() + AGAIN_MS) };
  const there = rows.filter(
    ({ from_me, status, deleted_at }) => from_me && status !== "failed" && deleted_at === null,
  );
  const lane = there.length > 0 ? await findLane(context) : undefined;
  return completeJob(deps, job, async (trx) => {
    await recordUnsentMessage(trx, integration, message, { status: "skipped", error: DELETED_MARK });
    if (lane === undefined) return [];
    const instance = { id: integration.instance_id, account_id: integration.account_id, lane };
    for (const { message_id, jid } of there) {
      const targets = [{ id: message_id, from_me: true }];
      await queueAction(trx, instance, { action: "delete", jid, targets }, deps.sendHoldMs);
    }
    return [lane];
  });
}

async function findLane({ deps, integration }: ChatwootContext): Promise<number | undefined> {
  const row = await deps.db
    .selectFrom("instance")
    .select("lane")
    .where("id", "=", integration.instance_id)
    .where("removed_at", "is", null)
    .executeTakeFirst();
  return row?.lane;
}

/** Where resolved conversations stay closed, the next message starts a new one. */
async function handleStatus(
  { deps, integration }: ChatwootContext,
  { id, status }: ConversationStatusChange,
): Promise<JobResult> {
  if (status !== "resolved" || chatwootConfigOf(integration).reopen_conversation) return { end: "done" };
  await deps.db
    .updateTable("integration_chat")
    .set({ provider_conversation_id: null, updated_at: sql<Date>`now()` })
    .where("integration_id", "=", integration.id)
    .where("provider_conversation_id", "=", String(id))
    .execute();
  return { end: "done" };
}

const TYPING_IS_OVER_MS = 10_000;

/** Shows typing if the session allows it now; nothing waits for it. */
async function handleTyping(
  { deps, integration }: ChatwootContext,
  { event, conversation }: TypingEvent,
  at: Date,
): Promise<JobResult> {
  if (Date.now() - at.getTime() > TYPING_IS_OVER_MS) return { end: "done" };
  const chat = await findChatByConversation(deps.db, integration, String(conversation.id));
  const session = chat && (await deps.findSession(integration.instance_id));
  const presence = event === "conversation_typing_on" ? "typing" : "paused";
  await session?.setPresence(presence, chat?.chat as Jid).catch(() => {});
  return { end: "done" };
}
