import { sql } from "kysely";
import type { Engine } from "../../engine/engine.ts";
import type { Db } from "../../platform/db/database.ts";
import { GatewayError } from "../../platform/gateway-error.ts";
import { type Handlers, OkResponse } from "../../platform/http/handler.ts";
import { containsText } from "../../platform/http/input/contains-text.ts";
import { readCursor, toPage } from "../../platform/http/input/pagination.ts";
import { createTestLimit } from "../../platform/http/limit-tests.ts";
import { encryptionContextOf, type SecretBox } from "../../platform/secrets/secret-box.ts";
import { ulid } from "../../platform/ulid.ts";
import { maskUrl } from "../../platform/urls/mask-url.ts";
import { type AuditActor, type AuditEntry, fieldNamesOf, recordAudit } from "../audit/audit.ts";
import { getEvent, recordEvents } from "../events/events.ts";
import { createWebhookSecret, lockInstance } from "../instances/instances.ts";
import { changeDefaultWebhook } from "./change-default-webhook.ts";
import type { webhooksContract } from "./contract.ts";
import { type DeliverWebhookOptions, deliverWebhook } from "./delivery/deliver-webhook.ts";
import { publishWebhookChange } from "./delivery/delivery-dispatcher.ts";
import { describeAttempt } from "./delivery/to-attempt-record.ts";
import { testEvent } from "./delivery/webhook-report-events.ts";
import { deliveryLogHandlers } from "./delivery-log-handlers.ts";
import { contentTypeOf, type EventFormats, formatEventBody } from "./event-formats.ts";
import { failureAdvice } from "./failure-advice.ts";
import { findDefaultWebhook, getWebhook, lockWebhook, selectWebhooks } from "./find-webhook.ts";
import { globalWebhookHandlers } from "./global-webhook-handlers.ts";
import { ownReceiverHandlers } from "./own-receiver-handlers.ts";
import { readWebhookFigures } from "./read-webhook-figures.ts";
import { countFailed, recoverDeliveries } from "./recover-deliveries.ts";
import { discardQueued, removeWebhook } from "./remove-webhook.ts";
import { resendHandlers } from "./resend-handlers.ts";
import { changeWebhook, createsSecret, insertWebhook, requireAllowedUrl } from "./save-webhook.ts";
import { openSecrets, openToken, openUrl, toWebhookRecord, type WebhookRow } from "./webhook-record.ts";

interface WebhookTestDeps extends DeliverWebhookOptions {
  db: Db;
  formats: EventFormats;
}

export {
  type AttemptFailure,
  failureOf,
  isInWordsOfProxy,
  NOT_THERE_YET,
  RESPONSE_TIMING,
} from "./delivery/attempt-failure.ts";
export { type BreakerSample, CircuitBreaker } from "./delivery/circuit-breaker.ts";
export { decideAttempt, PARK_AFTER_FAILURES } from "./delivery/decide-attempt.ts";
export { deliveryHeaders } from "./delivery/deliver-webhook.ts";
export { isN8nStartingUp } from "./delivery/is-n8n-starting-up.ts";
export { longestRetryScheduleMs } from "./delivery/retry-schedule.ts";
export {
  type BrokerAddress,
  decodePart,
  InvalidAddressError,
  parseBrokerAddress,
  readTopicPrefix,
} from "./destinations/broker-address.ts";
export {
  type BrokerConnection,
  type BrokerMessage,
  BrokerRefusal,
  LostConnectionError,
} from "./destinations/broker-connections.ts";
export { type Broker, createBrokerDestination } from "./destinations/broker-destination.ts";
export { ReceiveAllowance } from "./destinations/receive-allowance.ts";
export { type EventFormats, type FormatOptions, formatEventBody } from "./event-formats.ts";
export { failureAdvice } from "./failure-advice.ts";

export interface WebhookDeps extends WebhookTestDeps {
  engine: Engine;
  /** URL of this gateway, which some formats contain. */
  baseUrl: string;
}

export function webhookHandlers(deps: WebhookDeps): Handlers<typeof webhooksContract> {
  return {
    ...savingHandlers(deps),
    ...otherHandlers(deps),
    ...sendingHandlers(deps),
    ...deliveryLogHandlers(deps),
    getWebhookFigures: ({ input }) => readWebhookFigures(deps.db, input),
    ...resendHandlers(deps),
    ...globalWebhookHandlers(deps),
    ...ownReceiverHandlers(deps),
  };
}

type SavingHandlers = Pick<
  Handlers<typeof webhooksContract>,
  "listWebhooks" | "createWebhook" | "updateWebhook"
>;

function savingHandlers(deps: WebhookDeps): SavingHandlers {
  const { db, engine, box, destinations } = deps;
  return {
    async listWebhooks({ input }) {
      const before = readCursor(input.cursor);
      const found = await selectWebhooks(db, input.id)
        .$if(before !== undefined, (query) => query.where("id", "<", before ?? 0))
        .where(containsText(input.q, sql`name, url`))
        .orderBy("id", "desc")
        .limit(input.limit + 1)
        .execute();
      const { rows, pagination } = toPage(found, input.limit, (row) => row.id);
      return new OkResponse(
        rows.map((row) => toWebhookRecord(row, box)),
        { beside: { pagination } },
      );
    },

    async createWebhook({ input, ...by }) {
      const { id, secret = createWebhookSecret(), ...fields } = input;
      await requireAllowedUrl(destinations, fields.url);
      const row = await db.transaction().execute(async (trx) => {
        const { account_id } = await lockInstance(trx, id);
        const added = await insertWebhook(trx, deps, { ...fields, secret, instance_id: id, account_id });
        await recordAudit(trx, entryOf(by, "webhook.create", added, input));
        return added;
      });
      announceChange(engine, row.lane);
      return toWebhookRecord(row, box, { revealSecret: true });
    },

    async updateWebhook({ input, ...by }) {
      const { id, webhookId, ...change } = input;
      await requireAllowedUrl(destinations, change.url);
      const row = await db.transaction().execute(async (trx) => {
        const changed = await changeWebhook(trx, deps, await lockWebhook(trx, id, webhookId), change);
        await recordAudit(trx, entryOf(by, "webhook.update", changed, input));
        return changed;
      });
      announceChange(engine, row.lane);
      return toWebhookRecord(row, box, { revealSecret: createsSecret(change) });
    },
  };
}

type OtherHandlers = Pick<Handlers<typeof webhooksContract>, "deleteWebhook" | "updateDefaultWebhook">;

function otherHandlers(deps: WebhookDeps): OtherHandlers {
  const { db, engine, box, destinations } = deps;
  return {
    async deleteWebhook({ input: { id, webhookId }, ...by }) {
      const row = await db.transaction().execute(async (trx) => {
        const found = await lockWebhook(trx, id, webhookId);
        await removeWebhook(trx, found);
        await recordAudit(trx, entryOf(by, "webhook.delete", found));
        return found;
      });
      publishWebhookChange(engine);
      await discardQueued(db, row);
      engine.wake(row.lane === null ? [] : [row.lane], { changed: true });
      return { id: webhookId };
    },

    async updateDefaultWebhook({ input, ...by }) {
      const { id, ...change } = input;
      await requireAllowedUrl(destinations, change.url);
      const row = await db.transaction().execute(async (trx) => {
        const changed = await changeDefaultWebhook(trx, deps, id, change);
        await recordAudit(trx, entryOf(by, "webhook.update", changed, input));
        return changed;
      });
      announceChange(engine, row.lane);
      return toWebhookRecord(row, box, { revealSecret: createsSecret(change) });
    },
  };
}

function entryOf(
  by: AuditActor,
  action: `webhook.${string}`,
  { id, account_id }: Pick<WebhookRow, "id" | "account_id">,
  input: Readonly<Record<string, unknown>> = {},
): AuditEntry {
  const fields = fieldNamesOf(input, "id", "webhookId", "overlap_seconds");
  return { by, action, target: { type: "webhook", id }, account_id, fields };
}

type SendingHandlers = Pick<
  Handlers<typeof webhooksContract>,
  "recoverWebhook" | "testWebhook" | "testDefaultWebhook"
>;

function sendingHandlers(deps: WebhookDeps): SendingHandlers {
  const { db, engine } = deps;
  const test = createWebhookTest(deps);
  return {
    async recoverWebhook({ input }) {
      if (input.dry_run) return { queued: await countFailed(db, input) };
      const { queued, lane } = await recoverDeliveries(db, input);
      announceChange(engine, lane);
      return { queued };
    },

    async testWebhook({ input: { id, webhookId } }) {
      return test(await getWebhook(db, id, webhookId), id);
    },

    async testDefaultWebhook({ input: { id } }) {
      const row = await findDefaultWebhook(db, id);
      if (!row) throw new GatewayError("NOT_FOUND", "The instance has no default webhook.");
      return test(row, id);
    },
  };
}

/** Invalidates what nodes have read of the webhook and its lane, after a change. */
function announceChange(engine: Engine, lane: number | null): void {
  publishWebhookChange(engine);
  engine.wake(lane === null ? [] : [lane], { changed: true });
}

/** The signing secrets of an instance: the current one, and the previous one while it is valid. */
export async function readInstanceSecrets(
  db: Db,
  box: SecretBox,
  instance_id: number,
): Promise<[string, ...string[]]> {
  const { webhook_secret } = await db
    .selectFrom("instance")
    .select("webhook_secret")
    .where("id", "=", instance_id)
    .executeTakeFirstOrThrow();
  const secret = box.open(webhook_secret, encryptionContextOf("instance", "webhook_secret", instance_id));
  // The default webhook has the same secret and also stores the previous one.
  const row = await findDefaultWebhook(db, instance_id);
  const [current, ...previous] = row ? openSecrets(row, box) : [];
  return current === secret ? [secret, ...previous] : [secret];
}

/** Sends one real, signed delivery, whatever the filter. Throws SEND_FAILED if the receiver rejects it. */
function createWebhookTest(deps: WebhookTestDeps) {
  const allow = createTestLimit("A webhook");

  return async (row: WebhookRow, instanceId: number) => {
    allow(row.id);
    const webhook = { ...row, url: openUrl(row, deps.box) };
    const event = await recordTestEvent(deps.db, webhook, instanceId);
    const { format } = row;
    const shape = { url: webhook.url, token: openToken(row, deps.box), baseUrl: deps.baseUrl };
    const body = formatEventBody(deps.formats, event.body, format, shape) ?? event.body;
    const contentType = contentTypeOf(deps.formats, format);
    const described = describeAttempt(
      await deliverWebhook(deps, { event, webhook, isGlobal: false, body, contentType, attempt: 1 }),
    );
    const log = await deps.db
      .insertInto("attempt")
      .values({
        event_id: event.event_id,
        event_at: event.created_at,
        event: event.event,
        webhook_id: webhook.id,
        webhook_name: webhook.name,
        account_id: event.account_id,
        instance_id: event.instance_id,
        url: maskUrl(webhook.url),
        attempt: 1,
        trigger: "test",
        ...described,
        request_headers: described.request_headers && JSON.stringify(described.request_headers),
      })
      .returning("id")
      .executeTakeFirstOrThrow();
    const { success, status_code, duration_ms, error } = described;
    const result = { success, status_code, duration_ms, error, event_id: event.event_id, log_id: log.id };
    if (success) return result;
    const message = `The test event was not delivered. ${error} ${failureAdvice(described)}`;
    throw new GatewayError("SEND_FAILED", message, { details: result });
  };
}

async function recordTestEvent(db: Db, webhook: WebhookRow, instanceId: number) {
  const event_id = `evt_${ulid()}`;
  await db.transaction().execute((trx) => recordEvents(trx, [testEvent(instanceId, webhook, event_id)]));
  return getEvent(db, instanceId, event_id);
}
