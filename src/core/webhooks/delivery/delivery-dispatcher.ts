import { LRUCache } from "lru-cache";
import type { Engine } from "../../../engine/engine.ts";
import type { AddedJob } from "../../../engine/job-store.ts";
import type { Job } from "../../../engine/lanes/lane-kind.ts";
import type { Trx } from "../../../platform/db/database.ts";
import { faultPoint } from "../../../platform/fault-point.ts";
import type { SecretBox } from "../../../platform/secrets/secret-box.ts";
import {
  type EventDraft,
  type EventRecorder,
  type RecordedEvents,
  type RecordedInstance,
  recordEventsWithDeliveries,
  type SerialisedEvent,
} from "../../events/events.ts";
import { openUrl } from "../webhook-record.ts";
import {
  type DeliveryRef,
  type LoadedDelivery,
  TARGET_COLUMNS,
  type WebhookTarget,
} from "./delivery-loader.ts";

/** Longest time from the statement of an event to the attempt: the bound if the notification of a change is lost. */
const KEPT_MS = 1_000;

const MOST_BYTES = 16 * 1024 * 1024;

interface KeptDelivery<Delivery> {
  delivery: Delivery;
  /** When its statement was sent, on the monotonic clock. */
  readAtMs: number;
  bytes: number;
}

interface InstanceLanes {
  /** Sequence number of the last event that is known. */
  last: number;
  /** Lanes that were woken after, or got, every event up to it. */
  lanes: ReadonlySet<number>;
}

/** Instances and lanes; a forgotten one costs a read. */
const MOST_ENTRIES = 100_000;

const TOPIC = "webhook";
/** Memory of a kept delivery, without the text of its event. */
const ENTRY_BYTES = 2_048;

/** Call it after the commit of a change to webhooks, so that no node delivers to what they were before. */
export function publishWebhookChange(engine: Pick<Engine, "publish">): void {
  engine.publish(TOPIC, "changed");
}

interface NewDelivery extends Pick<LoadedDelivery, "isGlobal" | "isReported"> {
  event: SerialisedEvent;
  sequence: number;
  /** Its `url` is the masked one. */
  webhook: WebhookTarget;
}

/** Records events and gives their deliveries to the webhook lanes of this node, which need not read them back. */
export class DeliveryDispatcher implements EventRecorder {
  readonly #engine: Engine;
  readonly #lanes = new CaughtUpLanes();
  readonly #recent = new RecentDeliveries<NewDelivery>();

  constructor(engine: Engine) {
    this.#engine = engine;
    engine.subscribe(TOPIC, () => this.clear());
  }

  async record(trx: Trx, drafts: readonly EventDraft[]): Promise<() => void> {
    const readAtMs = performance.now();
    const recorded = await recordEventsWithDeliveries(trx, drafts, TARGET_COLUMNS);
    return () => this.#dispatch(recorded, readAtMs);
  }

  /** Returns what the first attempt of a delivery needs, unless a webhook has changed since its event. */
  take({ attempts, ref }: Job, box: SecretBox): LoadedDelivery | undefined {
    const { delivery: id, trigger } = ref as DeliveryRef;
    const delivery = attempts === 0 && trigger === "auto" ? this.#recent.take(id) : undefined;
    if (!delivery) return undefined;
    const { event, sequence, webhook, isGlobal, isReported } = delivery;
    const { event_id, event: name, chat, instance_id, account_id, head, tail, at } = event;
    const body = Buffer.from(`${head}${sequence}${tail}`);
    return {
      event: { event_id, event: name, body, chat, instance_id, account_id, created_at: new Date(at) },
      delivery: { id, attempts },
      webhook: { ...webhook, url: openUrl(webhook, box) },
      isGlobal,
      isReported,
    };
  }

  /** Forgets the events that it keeps. */
  clear(): void {
    this.#recent.clear();
  }

  #dispatch(recorded: RecordedEvents, readAtMs: number): void {
    const added: AddedJob[] = [];
    const behind: number[] = [];
    for (const instance of recorded.instances) {
      const caughtUp = this.#lanes.advance(instance);
      for (const job of instance.deliveries) {
        if (caughtUp.has(job.lane)) added.push(job);
        else behind.push(job.lane);
      }
    }
    const foreign = new Set(this.#engine.dispatch(added));
    // Other lanes may lack earlier events. They read all their jobs, so that each chat keeps its order.
    this.#engine.wake([...behind, ...recorded.lanes]);
    const own = added.filter((job) => !foreign.has(job));
    this.#keep(recorded, own, readAtMs);
    for (const _ of own) faultPoint("delivery:dispatched");
  }

  #keep({ events, instances, webhooks }: RecordedEvents, jobs: readonly AddedJob[], readAtMs: number): void {
    const reported = new Set(instances.flatMap((one) => (one.is_reported ? one.instance_id : [])));
    const targets = new Map(webhooks.map((json) => toTarget(json)).map((row) => [row.webhook.id, row]));
    for (const { pos: sequence, ref } of jobs) {
      const { event_id, delivery, webhook: id } = ref as unknown as DeliveryRef;
      const event = events.get(event_id);
      const target = targets.get(id);
      if (!event || !target) continue;
      const bytes = ENTRY_BYTES + 2 * (event.head.length + event.tail.length);
      const kept = { ...target, event, sequence, isReported: reported.has(event.instance_id) };
      this.#recent.keep(delivery, { delivery: kept, readAtMs, bytes });
    }
  }
}

const SEALED = ["address", "secret", "previous_secret", "headers", "format_token"] as const;

function toTarget({
  is_global,
  ...json
}: Record<string, unknown>): Pick<NewDelivery, "webhook" | "isGlobal"> {
  const sealed = SEALED.map((name) => [name, toBytes(json[name])]);
  const previous_until = typeof json.previous_until === "string" ? new Date(json.previous_until) : null;
  const webhook = { ...json, ...Object.fromEntries(sealed), previous_until } as WebhookTarget;
  return { webhook, isGlobal: is_global === true };
}

/** Bytes in JSON are hexadecimal digits after `\x`. */
function toBytes(text: unknown): Buffer | null {
  return typeof text === "string" ? Buffer.from(text.slice(2), "hex") : null;
}

/**
 * Which lanes know every event of their instance. Sequence numbers have no gaps, so a number that this node did
 * not record is an event of another recorder, whose notification may be late or lost.
 */
export class CaughtUpLanes {
  readonly #instances = new LRUCache<number, InstanceLanes>({
    maxSize: MOST_ENTRIES,
    sizeCalculation: ({ lanes }) => 1 + lanes.size,
  });

  /**
   * Notes a committed batch, of whose jobs the lanes learn now. Returns the lanes that knew every event before it.
   */
  advance({ instance_id, before, last, deliveries }: RecordedInstance): ReadonlySet<number> {
    const lanes = deliveries.map(({ lane }) => lane);
    const known = this.#instances.get(instance_id);
    const caughtUp: ReadonlySet<number> = known?.last === before ? known.lanes : new Set();
    this.#instances.set(instance_id, {
      // Of two concurrent batches, the later one may be noted first.
      last: Math.max(known?.last ?? 0, last),
      lanes: lanes.every((lane) => caughtUp.has(lane)) ? caughtUp : new Set([...caughtUp, ...lanes]),
    });
    return caughtUp;
  }
}

/** Deliveries of events that this node has just recorded, by their number; each for one attempt within a second. */
export class RecentDeliveries<Delivery> {
  /** The oldest first. */
  readonly #kept = new Map<number, KeptDelivery<Delivery>>();
  #bytes = 0;
  #clearedAtMs = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  /** Keeps nothing that was read before the last `clear`, and nothing beyond 16 MB in all. */
  keep(id: number, kept: KeptDelivery<Delivery>): void {
    if (kept.readAtMs <= this.#clearedAtMs || this.#bytes + kept.bytes > MOST_BYTES) return;
    this.#kept.set(id, kept);
    this.#bytes += kept.bytes;
    this.#deleteOldSoon();
  }

  /** Returns a delivery once. */
  take(id: number): Delivery | undefined {
    const kept = this.#kept.get(id);
    if (!kept) return undefined;
    this.#delete(id, kept);
    return isRecent(kept) ? kept.delivery : undefined;
  }

  /** Forgets all, also what is being read now. */
  clear(): void {
    this.#clearedAtMs = performance.now();
    this.#kept.clear();
    this.#bytes = 0;
  }

  #deleteOldSoon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#deleteOld();
      if (this.#kept.size > 0) this.#deleteOldSoon();
    }, KEPT_MS).unref();
  }

  #deleteOld(): void {
    for (const [id, kept] of this.#kept) {
      if (isRecent(kept)) return;
      this.#delete(id, kept);
    }
  }

  #delete(id: number, { bytes }: KeptDelivery<Delivery>): void {
    this.#kept.delete(id);
    this.#bytes -= bytes;
  }
}

function isRecent({ readAtMs }: { readAtMs: number }): boolean {
  return performance.now() - readAtMs < KEPT_MS;
}
