import type { Job, JobEnd } from "../../../engine/engine.ts";
import { findProviderLinks, setLink } from "../links.ts";
import type { EventWork } from "../provider.ts";
import { configOf } from "./config.ts";
import { type Desk, endRefused, isPassingForChange } from "./desk.ts";
import { DELETED, findLinkOf } from "./find-links.ts";
import { toMarkdown } from "./markup.ts";
import { attributesOf, isWanted, personOf, postOnce, wayOf } from "./post-message.ts";
import { inGroup, type ToldMessage } from "./render.ts";

type Event = EventWork["event"];
type Speaker = NonNullable<ToldMessage["sender"]>;

/** Messages of Chatwoot cannot be edited: what it says now is an answer to it. */
export async function postEdit(desk: Desk, job: Job, event: Event): Promise<JobEnd> {
  const { text, by } = event.data as { text: string; by: Speaker };
  return postNote(desk, job, event, by, `✏️ ${toMarkdown(text)}`);
}

export async function postReaction(desk: Desk, job: Job, event: Event): Promise<JobEnd> {
  const { reaction, removed, sender } = event.data as { reaction: string; removed: boolean; sender: Speaker };
  return removed ? { end: "done" } : postNote(desk, job, event, sender, reaction);
}

/** Deletes it there too, or says that it was deleted, as configured. */
export async function postDeletion(desk: Desk, job: Job, event: Event): Promise<JobEnd> {
  const { db } = desk.deps;
  const { message_id, by } = event.data as { message_id: string; by: Speaker };
  const link = await findLinkOf(db, desk.integration, message_id);
  if (!link?.provider_message_id || link.error === DELETED) return { end: "done" };
  if (configOf(desk.integration).keep_deleted)
    return postNote(desk, job, event, by, "🗑️ The message was deleted.");
  const parts = await findProviderLinks(db, desk.integration.id, link.provider_message_id);
  // The other parts of it are still there.
  if (parts.length > 1) return postNote(desk, job, event, by, "🗑️ A part of the message was deleted.");
  await setLink(db, link.id, { error: DELETED });
  const conversation = Number(link.provider_conversation_id);
  const deleted = await desk.chatwoot.deleteMessage(conversation, link.provider_message_id);
  if (deleted.ok || !isPassingForChange(deleted.refusal)) return { end: "done" };
  await setLink(db, link.id, { error: null });
  return endRefused(desk, job, deleted.refusal, event.recorded_at);
}

/** Something that happened to a message of the log, as an answer to that message. */
async function postNote(desk: Desk, job: Job, event: Event, by: Speaker, words: string): Promise<JobEnd> {
  const message = event.data.message as ToldMessage | undefined;
  // Of a message that is not in the log nobody knows anything.
  if (!message) return { end: "done" };
  const person = personOf(event);
  const from_me = isOwn(event, by);
  const way = wayOf(desk, { from_me, origin: "phone" });
  if (!way || !isWanted(desk, person)) return { end: "done" };
  const told = { ...message, from_me, timestamp: event.recorded_at.toISOString() };
  return postOnce(desk, job, {
    key: event.event_id,
    person,
    post: {
      content: inGroup(told, by, words),
      ...way,
      ...(await attributesOf(desk, told, message.message_id)),
    },
    since: event.recorded_at,
  });
}

/** Whether the phone of the instance did it, or the gateway for it. */
function isOwn({ body }: Event, by: Speaker): boolean {
  const { instance } = JSON.parse(body.toString("utf8")) as { instance: { phone: string | null } };
  return instance.phone !== null && by.phone === instance.phone;
}
