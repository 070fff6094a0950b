import { sql } from "kysely";
import type { Job, JobEnd } from "../../../engine/engine.ts";
import type { Jid } from "../../../network/driver.ts";
import { queueAction, selectMessages } from "../../messages/messages.ts";
import { findConversation } from "../chat-state.ts";
import { findProviderLinks, type Link } from "../links.ts";
import { settleJob } from "../settle-job.ts";
import { configOf } from "./config.ts";
import type { Desk } from "./desk.ts";
import { DELETED } from "./find-links.ts";
import { sendAgentMessage } from "./send-agent-message.ts";
import { type AgentMessage, readWebhookBody, type StatusChange, type Typing } from "./webhook-body.ts";

/** Works off one thing that Chatwoot has told. */
export async function takeTask(desk: Desk, job: Job, task: Record<string, unknown>): Promise<JobEnd> {
  const row = await desk.deps.db
    .selectFrom("integration_inbound")
    .select(["body", "created_at"])
    .where("id", "=", Number(task.inbound))
    .executeTakeFirst();
  const body = row && readWebhookBody(row.body);
  if (!body) return { end: "done" };
  switch (body.event) {
    case "message_created":
    case "message_updated":
      return takeMessage(desk, job, body);
    case "conversation_status_changed":
      return takeStatus(desk, body);
    default:
      return takeTyping(desk, body, row.created_at);
  }
}

const OLDEST_UPDATE_MS = 24 * 3_600_000;

/**
 * What we have seen before is not sent again, unless it has failed and the agent wants it once more. Webhooks come in any
 * order, and the first may never have come: an update can be the first word of a message.
 */
async function takeMessage(desk: Desk, job: Job, message: AgentMessage): Promise<JobEnd> {
  const links = await findProviderLinks(desk.deps.db, desk.integration.id, String(message.id));
  const { deleted, external_error } = message.content_attributes ?? {};
  if (deleted === true) return takeDeletion(desk, job, message, links);
  if (message.event === "message_created" && links.length > 0) return { end: "done" };
  if (message.event === "message_updated" && !isWanted(message, links, external_error))
    return { end: "done" };
  return sendAgentMessage(desk, job, message, links);
}

function isWanted(message: AgentMessage, links: readonly Link[], error: unknown): boolean {
  if (error !== undefined && error !== null) return false;
  if (links.length > 0) return links.some(({ status }) => status === "failed");
  return Date.now() - Date.parse(message.created_at ?? "") < OLDEST_UPDATE_MS;
}

const AGAIN_MS = 1_000;
const TRIES = 900;

/** Deletes every part for everyone; what was not sent yet is waited for. */
async function takeDeletion(
  desk: Desk,
  job: Job,
  message: AgentMessage,
  links: readonly Link[],
): Promise<JobEnd> {
  const { deps, integration } = desk;
  const ids = links.flatMap(({ message_id }) => (message_id === null ? [] : [message_id]));
  const rows =
    ids.length === 0
      ? []
      : await selectMessages(deps.db)
          .where("m.instance_id", "=", integration.instance_id)
          .where("m.message_id", "in", ids)
          .execute();
  if (rows.some(({ status }) => status === "pending") && job.attempts < TRIES)
    return { end: "retry", at: new Date(Date.now() + AGAIN_MS) };
  const there = rows.filter(({ status, deleted_at }) => status !== "failed" && deleted_at === null);
  const lane = there.length > 0 ? await findLane(desk) : undefined;
  return settleJob(deps, job, async (trx) => {
    await trx
      .insertInto("integration_link")
      .values({
        ...{ account_id: integration.account_id, integration_id: integration.id, chat: "", part: 0 },
        provider_conversation_id: String(message.conversation.id),
        provider_message_id: String(message.id),
        ...{ origin: "provider", status: "skipped", error: DELETED },
      })
      .onConflict((conflict) =>
        conflict
          .columns(["integration_id", "provider_message_id", "part"])
          .where("provider_message_id", "is not", null)
          .doUpdateSet({ error: DELETED }),
      )
      .execute();
    if (lane === undefined) return [];
    const instance = { id: integration.instance_id, account_id: integration.account_id, lane };
    for (const { message_id, jid } of there) {
      const targets = [{ id: message_id, from_me: true }];
      await queueAction(trx, instance, { action: "delete", jid, targets }, deps.sendHoldMs);
    }
    return [lane];
  });
}

async function findLane({ deps, integration }: Desk): Promise<number | undefined> {
  const row = await deps.db
    .selectFrom("instance")
    .select("lane")
    .where("id", "=", integration.instance_id)
    .where("removed_at", "is", null)
    .executeTakeFirst();
  return row?.lane;
}

/** Where resolved conversations stay closed, the next message begins another one. */
async function takeStatus({ deps, integration }: Desk, { id, status }: StatusChange): Promise<JobEnd> {
  if (status !== "resolved" || configOf(integration).reopen_conversation) return { end: "done" };
  await deps.db
    .updateTable("integration_chat")
    .set({ provider_conversation_id: null, updated_at: sql<Date>`now()` })
    .where("integration_id", "=", integration.id)
    .where("provider_conversation_id", "=", String(id))
    .execute();
  return { end: "done" };
}

const TYPING_IS_OVER_MS = 10_000;

/** Shown while somebody can be shown it; nothing waits for it. */
async function takeTyping(
  { deps, integration }: Desk,
  { event, conversation }: Typing,
  at: Date,
): Promise<JobEnd> {
  if (Date.now() - at.getTime() > TYPING_IS_OVER_MS) return { end: "done" };
  const chat = await findConversation(deps.db, integration, String(conversation.id));
  const session = chat && (await deps.reachSession(integration.instance_id));
  const presence = event === "conversation_typing_on" ? "typing" : "paused";
  await session?.setPresence?.(presence, chat?.chat as Jid)?.catch(() => {});
  return { end: "done" };
}
