import { sql } from "kysely";
import type { Engine } from "../../engine/engine.ts";
import { addJobs } from "../../engine/job-store.ts";
import type { Db, Trx } from "../../platform/db/database.ts";
import { GatewayError } from "../../platform/gateway-error.ts";
import type { Caller, Handlers } from "../../platform/http/handler.ts";
import type { TraceParent } from "../../platform/tracing/trace-parent.ts";
import { getEvent } from "../events/events.ts";
import type { webhooksContract } from "./contract.ts";
import type { DeliveryRef } from "./delivery/delivery-loader.ts";

type ResendHandlers = Pick<Handlers<typeof webhooksContract>, "retryEvent" | "retryDeliveryLog">;

export function resendHandlers({ db, engine }: { db: Db; engine: Engine }): ResendHandlers {
  async function resend(instanceId: number, eventId: string, choice: WebhookChoice) {
    const event = await getEvent(db, instanceId, eventId);
    const webhooks = await db.transaction().execute((trx) => queueResend(trx, event, choice));
    if (webhooks.length === 0) throw noneSubscribes(event.event, choice);
    // A user waits for the result, so the delivery starts even during a pause of the receiver.
    engine.wake(
      webhooks.map((webhook) => webhook.lane),
      { changed: true },
    );
    return { event_id: event.event_id, webhook_ids: webhooks.map((webhook) => webhook.id) };
  }

  return {
    retryEvent: ({ input, trace }) =>
      resend(input.id, input.eventId, { only: input.webhook_id, isSubscribed: true, trace }),

    async retryDeliveryLog({ input, caller, trace }) {
      const log = await getLog(db, input.logId, caller);
      return resend(log.instance_id, log.event_id, { only: log.webhook_id, isSubscribed: false, trace });
    },
  };
}

/** Which of the active webhooks get an event again. */
interface WebhookChoice {
  only: number | undefined;
  /** Whether a webhook must subscribe to the event. */
  isSubscribed: boolean;
  /** The span of the request, which the attempts continue. */
  trace: TraceParent | undefined;
}

function noneSubscribes(event: string, { only }: WebhookChoice): GatewayError {
  const message =
    only === undefined
      ? "No active webhook subscribes to this event."
      : `The webhook ${only} is not active, does not subscribe to this event, or is not of this instance.`;
  return new GatewayError("CONFLICT", message, { details: { event } });
}

type StoredEvent = Awaited<ReturnType<typeof getEvent>>;

interface SubscribedWebhook {
  id: number;
  lane: number;
}

/** A manual attempt has its own job group: it runs at once and does not affect the automatic retries. */
async function queueResend(
  trx: Trx,
  event: StoredEvent,
  choice: WebhookChoice,
): Promise<SubscribedWebhook[]> {
  const webhooks = await lockWebhooksFor(trx, event, choice);
  const jobs = [];
  for (const { id, lane } of webhooks) {
    const ref = await referTo(trx, event, id);
    jobs.push({
      lane,
      prio: 0,
      pos: event.sequence,
      grp: `manual:${ref.delivery}`,
      ref: { ...ref, trace: choice.trace },
    });
  }
  await addJobs(trx, jobs);
  return webhooks;
}

/** Locked against removal. */
async function lockWebhooksFor(
  trx: Trx,
  { instance_id, event, tags }: StoredEvent,
  { only, isSubscribed }: WebhookChoice,
): Promise<SubscribedWebhook[]> {
  const wantsEvent = sql`${event} = any(w.event_names) and not (w.exclude && ${tags}::text[])
    and (w.instance_id is null or i.webhook_enabled)`;
  const { rows } = await sql<SubscribedWebhook>`
    select w.id, coalesce(w.lane, i.global_lane) as lane
    from webhook w join instance i on i.id = ${instance_id}
    where (w.instance_id = i.id or w.instance_id is null) and w.is_active
      and (${only === undefined} or w.id = ${only ?? 0}) and (${!isSubscribed} or ${wantsEvent})
    order by w.id for no key update of w`.execute(trx);
  return rows;
}

/** A webhook that is newer than the event gets its own delivery. */
async function referTo(trx: Trx, event: StoredEvent, webhookId: number): Promise<DeliveryRef> {
  const { event_id, account_id, instance_id, created_at } = event;
  const ref = { event_id, at: created_at.toISOString(), webhook: webhookId, trigger: "manual" } as const;
  const found = await trx
    .selectFrom("delivery")
    .select("id")
    .where("event_id", "=", event_id)
    .where("created_at", "=", created_at)
    .where("webhook_id", "=", webhookId)
    .executeTakeFirst();
  if (found) return { ...ref, delivery: found.id };
  const added = await trx
    .insertInto("delivery")
    .values({ event_id, account_id, instance_id, created_at, webhook_id: webhookId })
    .returning("id")
    .executeTakeFirstOrThrow();
  return { ...ref, delivery: added.id, alone: true };
}

/** An API key can read the logs of its own instance, a signed-in user those of the account. */
async function getLog(db: Db, logId: number, caller: Caller) {
  let query = db
    .selectFrom("attempt")
    .select(["event_id", "instance_id", "webhook_id"])
    .where("id", "=", logId);
  if (caller.kind === "key") query = query.where("instance_id", "=", caller.instance_id);
  if (caller.kind === "user") query = query.where("account_id", "=", caller.account_id);
  return query.executeTakeFirstOrThrow(() => new GatewayError("NOT_FOUND", "There is no such webhook log."));
}
