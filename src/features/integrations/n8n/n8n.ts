import type { JobEnd } from "../../../engine/engine.ts";
import { GatewayError } from "../../../platform/errors.ts";
import { faultPoint } from "../../../platform/fault-point.ts";
import type { FetchOutcome } from "../../../platform/safe-fetch.ts";
import type { IntegrationStatus } from "../../../tables.ts";
import { recordEvents } from "../../events/events.ts";
import { readChat } from "../chat-state.ts";
import { type CallVerdict, retryDelayMs } from "../error-policy.ts";
import { createHealth, type Health } from "../health.ts";
import type { EventWork, IntegrationDeps, Provider } from "../provider.ts";
import { findRoute, queueReplies } from "../queue-replies.ts";
import { dropReplies, toReplies } from "../reply-content.ts";
import { countReply, isReplyPaused } from "../reply-limit.ts";
import { settleJob } from "../settle-job.ts";
import { N8N_ALIASES, type N8nConfig, n8nConfig } from "./config.ts";
import { deliver } from "./deliver.ts";
import { explain, isNotActive } from "./explain.ts";
import { readInline } from "./inline-file.ts";
import { toPayload } from "./payload.ts";
import { readReplies, type WorkflowReply } from "./read-reply.ts";
import { testWorkflow } from "./test-workflow.ts";

/** Then the rest of the chat no longer waits for an event that only this one seems to fail with. */
const PARK_AFTER = 3;
/** Each may have run the workflow, as far as anybody knows. */
const MOST_TRIES = 10;
const GIVE_UP_AFTER_MS = 24 * 3_600_000;
/** The workflow may be switched on at any moment, so it is looked at now and then. */
const NOT_ACTIVE_MS = [30_000, 60_000, 300_000, 600_000];
const NOT_ACTIVE_TRIES = 4;

/** Workflows of n8n: they get the events of the instance, and answer through the API or with their HTTP response. */
export function createN8n(deps: IntegrationDeps): Provider {
  const health = createHealth(deps.db);
  return {
    name: "n8n",
    config: n8nConfig,
    aliases: N8N_ALIASES,
    secrets: ["token"],
    address: "webhook_url",
    wants(config) {
      const { events, include_from_me, include_groups } = n8nConfig.parse(config);
      const all =
        include_from_me && !events.includes("message.sent") ? [...events, "message.sent" as const] : events;
      return { events: all, exclude: include_groups ? [] : ["groups"] };
    },
    async prepare({ config }) {
      return { warnings: warningsOf(n8nConfig.parse(config)) };
    },
    test: (integration) => testWorkflow(deps, health, integration),
    onEvent: (work) => runDelivery(deps, health, work),
  };
}

function warningsOf({ webhook_url, token }: N8nConfig): string[] {
  const isTest = new URL(webhook_url).pathname.includes("/webhook-test/");
  return [
    ...(isTest
      ? [
          "This is the test address: it answers one call while the editor listens. Use the production URL (/webhook/).",
        ]
      : []),
    ...(token === undefined
      ? ["Without a token anybody who knows the address can start the workflow; verify the signature in it."]
      : []),
  ];
}

async function runDelivery(deps: IntegrationDeps, health: Health, work: EventWork): Promise<JobEnd> {
  const { job, integration, event } = work;
  const config = n8nConfig.parse(integration.config);
  const message = event.data.message;
  if (message?.from_me && !config.include_from_me && !config.events.includes("message.sent"))
    return { end: "done" };
  const { instance_id: instanceId } = integration;
  const file = await readInline(deps, event, config);
  const beganAt = performance.now();
  const outcome = await deliver(deps, integration, config, {
    ...{ event: event.event, event_id: event.event_id, attempt: job.attempts + 1 },
    body: toPayload(event, { instanceId, config, links: deps.links, file }),
  });
  faultPoint("n8n:after-response");
  const said = { status: statusOf(outcome), error: explain(outcome, config) };
  const { verdict, pauseLaneMs } = await health.note(integration, outcome, beganAt, said);
  if (verdict.verdict === "ok" && outcome.outcome === "response")
    return answer(deps, health, work, config, outcome.body);
  return afterFailure(work, config, { outcome, verdict, pauseLaneMs });
}

function statusOf(outcome: FetchOutcome): IntegrationStatus | undefined {
  return isNotActive(outcome) ? "inactive" : undefined;
}

interface Failure {
  outcome: FetchOutcome;
  verdict: CallVerdict;
  pauseLaneMs: number | undefined;
}

/** What fails for this event alone lets the others of its chat pass; while nobody is served they all keep their order. */
function afterFailure(
  { job, event }: EventWork,
  { retry }: N8nConfig,
  { outcome, verdict, pauseLaneMs }: Failure,
): JobEnd {
  const isOver = Date.now() - event.recorded_at.getTime() > GIVE_UP_AFTER_MS;
  if (isNotActive(outcome) && retry && !isOver) return waitForWorkflow(job.attempts + 1);
  if (verdict.verdict !== "retry" || !retry || isOver) return { end: "done" };
  const attempt = job.attempts + 1;
  if (attempt >= MOST_TRIES && !verdict.isDown) return { end: "done" };
  return {
    end: "retry",
    at: new Date(Date.now() + retryDelayMs(attempt, verdict.retryAfterMs)),
    ...(pauseLaneMs !== undefined && { pauseLaneMs }),
    parkGroup: attempt >= PARK_AFTER && !verdict.isDown,
  };
}

/** A few tries, then the whole lane rests between them: no event is lost while somebody edits the workflow. */
function waitForWorkflow(attempt: number): JobEnd {
  const delayMs = NOT_ACTIVE_MS[Math.min(attempt, NOT_ACTIVE_MS.length) - 1] ?? 0;
  return {
    end: "retry",
    at: new Date(Date.now() + delayMs),
    ...(attempt >= NOT_ACTIVE_TRIES && { pauseLaneMs: delayMs }),
  };
}

/** What the workflow has answered goes back to the chat, in the commit that ends the delivery. */
async function answer(
  deps: IntegrationDeps,
  health: Health,
  { job, integration, event }: EventWork,
  config: N8nConfig,
  body: Buffer,
): Promise<JobEnd> {
  const { message } = event.data;
  const wanted = config.reply_mode === "response" && event.event === "message.received" && !message.from_me;
  const said = wanted ? readReplies(body).map(toPart) : [];
  if (said.length === 0) return { end: "done" };
  const { jid, phone, lid, chat_type: type } = message;
  const { chat, ...known } = await readChat(deps.db, integration, { chat: jid, lid });
  if (isReplyPaused(config, known)) return { end: "done" };
  const route = await findRoute(deps, integration, { jid, phone, lid, type });
  const { replies, failures } = await toReplies(deps, integration.account_id, said);
  for (const failure of failures) await health.warn(integration, failure);
  try {
    return await settleJob(deps, job, async (trx) => {
      const { sendHoldMs } = deps;
      await queueReplies(trx, route, replies, {
        origin: "chatbot",
        key: `n8n:${event.event_id}`,
        sendHoldMs,
      });
      const paused = await countReply(trx, integration, { jid, phone, lid, type, chat }, config);
      return [route.lane, ...(await recordEvents(trx, paused))];
    });
  } catch (error) {
    await dropReplies(deps.db, replies);
    if (!(error instanceof GatewayError)) throw error;
    await health.warn(integration, error.message);
    return { end: "done" };
  }
}

function toPart({ text, media_url }: WorkflowReply) {
  return media_url === undefined
    ? { kind: "text" as const, text: text ?? "" }
    : { kind: "media" as const, url: media_url, ...(text !== undefined && { caption: text }) };
}
