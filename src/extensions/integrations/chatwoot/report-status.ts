import { selectMessages } from "../../../core/messages/messages.ts";
import type { Job, JobResult } from "../../../engine/engine.ts";
import type { EventWork } from "../integration-provider.ts";
import { findProviderMessageLinks, type MessageLink, updateMessageLink } from "../message-link.ts";
import { chatwootConfigOf, chatwootStateOf, SOURCE_ID_PREFIX } from "./chatwoot-config.ts";
import {
  type ChatwootContext,
  endWithError,
  isTransientError,
  isTransientForUpdate,
} from "./chatwoot-context.ts";
import { findLinkOfMessage } from "./find-link-of-message.ts";
import { isAtLeast } from "./private-network-warning.ts";
import type { EventMessage } from "./render-message.ts";

type Event = EventWork["event"];

const RANK = ["pending", "sent", "delivered", "read", "played"];

/**
 * Shows agents the status of their messages; a message of several parts has the status of its slowest part.
 */
export async function reportStatus(context: ChatwootContext, job: Job, event: Event): Promise<JobResult> {
  const { message_ids, direction } = event.data as { message_ids: string[]; direction: string };
  const { sync_status } = chatwootConfigOf(context.integration);
  if (direction !== "outbound" || !sync_status || !acceptsStatus(context)) return { end: "done" };
  const reported = new Set<string>();
  for (const id of message_ids) {
    const link = await findLinkOfMessage(context.deps.db, context.integration, id);
    if (!link?.provider_message_id || reported.has(link.provider_message_id)) continue;
    reported.add(link.provider_message_id);
    const end = await report(context, job, event, link, link.provider_message_id);
    if (end) return end;
  }
  return { end: "done" };
}

/** Versions before 4.2 have no route for it. */
function acceptsStatus({ integration }: ChatwootContext): boolean {
  return isAtLeast(chatwootStateOf(integration).version, 4, 2);
}

async function report(
  context: ChatwootContext,
  job: Job,
  event: Event,
  link: MessageLink,
  providerId: string,
): Promise<JobResult | undefined> {
  const parts = await findProviderMessageLinks(context.deps.db, context.integration.id, providerId);
  const status = await lowestStatus(context, parts);
  if (status === undefined) return undefined;
  const response = await context.chatwoot.setStatus(Number(link.provider_conversation_id), providerId, {
    status,
  });
  // A deleted message needs no status.
  if (response.ok || !isTransientForUpdate(response.error)) return undefined;
  return endWithError(context, job, response.error, event.recorded_at);
}

/** Undefined while there is nothing to report. */
async function lowestStatus(
  { deps, integration }: ChatwootContext,
  parts: readonly MessageLink[],
): Promise<"delivered" | "read" | undefined> {
  const ids = parts.flatMap(({ message_id }) => (message_id === null ? [] : [message_id]));
  if (ids.length === 0) return undefined;
  const rows = await selectMessages(deps.db)
    .where("m.instance_id", "=", integration.instance_id)
    .where("m.message_id", "in", ids)
    .where("m.from_me", "=", true)
    .execute();
  if (rows.length < ids.length) return undefined;
  const lowest = Math.min(...rows.map((row) => RANK.indexOf(row.status)));
  return lowest >= 3 ? "read" : lowest === 2 ? "delivered" : undefined;
}

/** Shows an agent's failed message with the reason, until the agent presses Retry. */
export async function reportFailure(context: ChatwootContext, job: Job, event: Event): Promise<JobResult> {
  const { message, error } = event.data as { message: EventMessage; error: { message: string } | null };
  const link = await findLinkOfMessage(context.deps.db, context.integration, message.message_id);
  if (link?.origin !== "provider" || !link.provider_message_id) return { end: "done" };
  const external_error = error?.message ?? "The message was not sent.";
  await updateMessageLink(context.deps.db, link.id, { status: "failed", error: external_error });
  return showFailure(context, job, event.recorded_at, {
    conversation: Number(link.provider_conversation_id),
    message: link.provider_message_id,
    external_error,
  });
}

/** Marks an agent's message as failed; versions without a route for that get a private note. */
export async function showFailure(
  context: ChatwootContext,
  job: Job,
  since: Date,
  failed: { conversation: number; message: string; external_error: string },
): Promise<JobResult> {
  const { conversation, message, external_error } = failed;
  if (acceptsStatus(context)) {
    const response = await context.chatwoot.setStatus(conversation, message, {
      status: "failed",
      external_error,
    });
    if (response.ok || !isTransientForUpdate(response.error)) return { end: "done" };
    return endWithError(context, job, response.error, since);
  }
  const note = await context.chatwoot.postMessage(conversation, {
    content: `⚠️ ${external_error}`,
    message_type: "outgoing",
    private: true,
    source_id: `${SOURCE_ID_PREFIX}failed:${message}`,
    content_attributes: { in_reply_to: Number(message) },
  });
  return note.ok || !isTransientError(note.error)
    ? { end: "done" }
    : endWithError(context, job, note.error, since);
}
