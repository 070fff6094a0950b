import { randomUUID } from "node:crypto";
import { type EventDraft, recordEvents } from "../../../src/core/events/events.ts";
import { DeliveryDispatcher } from "../../../src/core/webhooks/delivery/delivery-dispatcher.ts";
import { webhookLane } from "../../../src/core/webhooks/delivery/webhook-lane.ts";
import type { Destinations } from "../../../src/core/webhooks/destinations/destination.ts";
import { createHttpDestination } from "../../../src/core/webhooks/destinations/http-destination.ts";
import { insertWebhook, type NewWebhook, type SavedWith } from "../../../src/core/webhooks/save-webhook.ts";
import type { WebhookRow } from "../../../src/core/webhooks/webhook-record.ts";
import type { Engine, EngineOptions, JobResult } from "../../../src/engine/engine.ts";
import { createSafeFetch } from "../../../src/platform/outgoing/safe-fetch.ts";
import { createSecretBox, type SecretBox } from "../../../src/platform/secrets/secret-box.ts";
import { createEngineStory, type EngineStory } from "./engine-story.ts";

const SECRET = "whsec_c2VjcmV0LW9mLXRoZS1kZWxpdmVyeS1zdG9yeS0xMjM0NTY3OA==";

/** Report of a webhook job, and whether its row still existed then. */
export interface RanDelivery {
  result: JobResult;
  hasRow: boolean;
}

export interface DeliveryWorker {
  engine: Engine;
  deliveries: DeliveryDispatcher;
  /** Records events and starts their deliveries, as the report recorder does. */
  record(...drafts: EventDraft[]): Promise<void>;
}

/** Instances and webhooks without a gateway: the real lane on a real engine, with a record of each job. */
export interface DeliveryStory extends EngineStory {
  readonly ran: RanDelivery[];
  readonly box: SecretBox;
  readonly savedWith: SavedWith;
  addInstance(): Promise<{ id: number; account_id: number }>;
  addWebhook(
    instance: { id: number; account_id: number },
    input: Pick<NewWebhook, "url"> & Partial<NewWebhook>,
  ): Promise<WebhookRow>;
  /** Records events without a notification. Returns the lanes to wake. */
  record(drafts: readonly EventDraft[]): Promise<number[]>;
  /** A delivering node. A failed attempt waits an hour. */
  startWorker(id: string, options?: Partial<EngineOptions>): Promise<DeliveryWorker>;
}

export async function createDeliveryStory(): Promise<DeliveryStory> {
  const story = await createEngineStory();
  const { db, pool } = story.database;
  const box = createSecretBox("0".repeat(64));
  const destinations: Destinations = [createHttpDestination(createSafeFetch({ allowedHosts: ["loopback"] }))];
  const savedWith = { box, formats: {}, destinations };
  const ran: RanDelivery[] = [];
  const hasRow = async (job: number) =>
    (await pool.query("select from job where id = $1", [job])).rows.length > 0;
  return {
    ...story,
    ran,
    box,
    savedWith,
    async rest() {
      await story.rest();
      ran.length = 0;
    },
    async addInstance() {
      const { rows } = await pool.query<{ id: number; account_id: number }>(
        `with p as (insert into plan (name, features) values ($1, '{}') returning id),
           a as (insert into account (name, account_type, plan_id, settings) select 'a', 'client', id, '{}' from p returning id),
           i as (insert into instance (account_id, lane, global_lane, name, network, webhook_secret)
             select id, 1, 2, 'i', 'sandbox', '' from a returning id, account_id),
           c as (insert into event_counter (instance_id) select id from i)
         select id, account_id from i`,
        [randomUUID()],
      );
      return rows[0] as { id: number; account_id: number };
    },
    addWebhook: ({ id: instance_id, account_id }, input) =>
      db.transaction().execute((trx) =>
        insertWebhook(trx, savedWith, {
          instance_id,
          account_id,
          name: "w",
          events: ["message.received"],
          secret: SECRET,
          ...input,
        }),
      ),
    record: (drafts) => db.transaction().execute((trx) => recordEvents(trx, [...drafts])),
    async startWorker(id, options) {
      const engine = await story.start(id, [], options);
      const deliveries = new DeliveryDispatcher(engine);
      const lane = webhookLane({
        db,
        engine,
        deliveries,
        box,
        formats: {},
        destinations,
        timeoutMs: 15_000,
        version: "0",
        baseUrl: "http://localhost",
        scheduleMs: [3_600_000],
        log: story.log,
      });
      const run: typeof lane.run = async (job) => {
        const result = await lane.run(job);
        ran.push({ result, hasRow: await hasRow(job.id) });
        return result;
      };
      engine.register({ ...lane, run });
      return {
        engine,
        deliveries,
        async record(...drafts) {
          const dispatch = await db.transaction().execute((trx) => deliveries.record(trx, drafts));
          dispatch();
        },
      };
    },
  };
}
