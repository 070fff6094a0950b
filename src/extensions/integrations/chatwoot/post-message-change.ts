import type { Job, JobResult } from "../../../engine/engine.ts";
import type { EventWork } from "../integration-provider.ts";
import { findProviderMessageLinks, updateMessageLink } from "../message-link.ts";
import { chatwootConfigOf } from "./chatwoot-config.ts";
import { type ChatwootContext, endWithError, isTransientForUpdate } from "./chatwoot-context.ts";
import { DELETED_MARK, findLinkOfMessage } from "./find-link-of-message.ts";
import {
  attributesOf,
  chatwootPersonOf,
  isForwardedChat,
  messageDirectionOf,
  postOnce,
} from "./post-message.ts";
import { type EventMessage, withSpeaker } from "./render-message.ts";
import { toMarkdown } from "./to-markdown.ts";

type Event = EventWork["event"];
type Speaker = NonNullable<EventMessage["sender"]>;

/** Posts the edited text as a reply: Chatwoot messages cannot be edited. */
export async function postEdit(context: ChatwootContext, job: Job, event: Event): Promise<JobResult> {
  const { text, by } = event.data as { text: string | null; by: Speaker };
  // Its new words are not known, and nothing else may pass for them.
  if (text === null) return { end: "done" };
  return postNote(context, job, event, by, `✏️ ${toMarkdown(text)}`);
}

export async function postReaction(context: ChatwootContext, job: Job, event: Event): Promise<JobResult> {
  const { reaction, removed, sender } = event.data as { reaction: string; removed: boolean; sender: Speaker };
  return removed ? { end: "done" } : postNote(context, job, event, sender, reaction);
}

/** Deletes the message in Chatwoot too, or posts that it was deleted, as configured. */
export async function postDeletion(context: ChatwootContext, job: Job, event: Event): Promise<JobResult> {
  const { db } = context.deps;
  const { message_id, by } = event.data as { message_id: string; by: Speaker };
  const link = await findLinkOfMessage(db, context.integration, message_id);
  if (!link?.provider_message_id || link.error === DELETED_MARK) return { end: "done" };
  if (chatwootConfigOf(context.integration).keep_deleted)
    return postNote(context, job, event, by, "🗑️ The message was deleted.");
  const parts = await findProviderMessageLinks(db, context.integration.id, link.provider_message_id);
  // The other parts of the message still exist.
  if (parts.length > 1) return postNote(context, job, event, by, "🗑️ A part of the message was deleted.");
  await updateMessageLink(db, link.id, { error: DELETED_MARK });
  const conversation = Number(link.provider_conversation_id);
  const deleted = await context.chatwoot.deleteMessage(conversation, link.provider_message_id);
  if (deleted.ok || !isTransientForUpdate(deleted.error)) return { end: "done" };
  await updateMessageLink(db, link.id, { error: null });
  return endWithError(context, job, deleted.error, event.recorded_at);
}

/** Posts a change of a message in the log as a reply to that message. */
async function postNote(
  context: ChatwootContext,
  job: Job,
  event: Event,
  by: Speaker,
  text: string,
): Promise<JobResult> {
  const message = event.data.message as EventMessage | undefined;
  // Nothing is known of a message that is not in the log.
  if (!message) return { end: "done" };
  const person = chatwootPersonOf(event);
  const from_me = isOwn(event, by);
  const direction = messageDirectionOf(context, { from_me, origin: "phone" });
  if (!direction || !isForwardedChat(context, person)) return { end: "done" };
  const changed = { ...message, from_me, timestamp: event.recorded_at.toISOString() };
  return postOnce(context, job, {
    key: event.event_id,
    person,
    post: {
      content: withSpeaker(changed, by, text),
      ...direction,
      ...(await attributesOf(context, changed, message.message_id)),
    },
    since: event.recorded_at,
  });
}

/** Whether the instance's own phone or the gateway made the change. */
function isOwn({ body }: Event, by: Speaker): boolean {
  const { instance } = JSON.parse(body.toString("utf8")) as { instance: { phone: string | null } };
  return instance.phone !== null && by.phone === instance.phone;
}
