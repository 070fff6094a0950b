import { sql } from "kysely";
import type { JobResult } from "../../../engine/engine.ts";
import type { Trx } from "../../../platform/db/database.ts";
import { completeJob } from "../delivery/complete-job.ts";
import { readIntegrationChat, saveIntegrationChat } from "../integration-chat.ts";
import type { EventWork, IntegrationDeps } from "../integration-provider.ts";
import { type BotChat, currentSession, inMinutes } from "./bot-chat.ts";
import { savedTypebotConfig } from "./typebot-config.ts";

/** A person has written in the chat: the bot pauses, and its queued replies are withdrawn. */
export async function pauseBotForAgent(
  deps: IntegrationDeps,
  { job, integration, event }: EventWork,
): Promise<JobResult> {
  const { message } = event.data;
  const config = savedTypebotConfig.parse(integration.config);
  if (config.pause_on_human_minutes === 0) return { end: "done" };
  const known = await readIntegrationChat<BotChat>(deps.db, integration, {
    chat: message.jid,
    lid: message.lid,
  });
  const now = new Date();
  const session = currentSession(known.state, config, now);
  if (!session) return { end: "done" };
  const paused_until = inMinutes(now, config.pause_on_human_minutes);
  // The flow keeps its position from the take-over, however long it lasts.
  const state = { ...known.state, session: { ...session, at: paused_until }, paused_until };
  const lanes: number[] = [];
  const end = await completeJob(deps, job, async (trx) => {
    lanes.push(...(await discardBotReplies(trx, integration.instance_id, message.jid)));
    await saveIntegrationChat(trx, integration, { ...known, state });
    return [];
  });
  deps.engine.wake(lanes, { changed: true });
  return end;
}

/** Withdraws the bot's queued replies in a chat; returns the lanes to wake, as changed, after the commit. */
export async function discardBotReplies(trx: Trx, instanceId: number, chat: string): Promise<number[]> {
  const { rows } = await sql<{ lane: number }>`
    with waiting as (
      select m.id, j.id as job, j.lane, m.content ->> 'upload' as upload
      from instance i
      join job j on j.lane = i.lane and j.grp = ${chat} and j.ref ->> 'do' = 'send'
      join message m on m.id = (j.ref ->> 'message')::bigint
      where i.id = ${instanceId} and m.origin = 'chatbot' and m.outcome_at is null and m.submitted_at is null
      order by m.id for update of m
    ), cancelled as (
      update message m set status = 'cancelled', outcome_at = now(), content = m.content - 'upload'
      from waiting w where m.id = w.id
    ), unqueued as (
      delete from job using waiting w where job.id = w.job
    ), dropped as (
      delete from outgoing_media using waiting w where outgoing_media.id::text = w.upload
    )
    select distinct lane from waiting`.execute(trx);
  return rows.map(({ lane }) => lane);
}
