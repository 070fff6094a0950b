import { type Selectable, sql } from "kysely";
import { createBatchLoader } from "../../../engine/batch-queue.ts";
import type { Db } from "../../../platform/db/database.ts";
import { type PartitionRange, withPartitions } from "../../../platform/db/partitions.ts";
import { rowCountHint } from "../../../platform/db/prepared-statement.ts";
import type { SecretBox } from "../../../platform/secrets/secret-box.ts";
import type { TraceParent } from "../../../platform/tracing/trace-parent.ts";
import type { DeliveryTable } from "../../../tables.ts";
import { isReported } from "../../events/events.ts";
import { openUrl, type WebhookRow } from "../webhook-record.ts";

/** The reference in a delivery job. */
export interface DeliveryRef {
  event_id: string;
  /** Time of the event, which determines the partition. */
  at: string;
  delivery: number;
  webhook: number;
  trigger: "auto" | "manual";
  /** A manual attempt without automatic retries: its failure fails the delivery. */
  alone?: true;
  /** The span of the event, or of the request that repeats its delivery. */
  trace?: TraceParent;
}

/** The webhook columns that a delivery needs; `url` is the unmasked one. */
export type WebhookTarget = Pick<WebhookRow, (typeof TARGET_COLUMNS)[number]>;

export const TARGET_COLUMNS = [
  ...(["id", "name", "url", "address", "is_active", "ordering", "retry_enabled", "max_attempts"] as const),
  ...(["secret", "previous_secret", "previous_until", "headers", "format", "format_token"] as const),
];

export interface LoadedDelivery {
  event: {
    event_id: string;
    event: string;
    body: Buffer;
    chat: string;
    instance_id: number;
    account_id: number;
    created_at: Date;
  };
  delivery: Pick<Selectable<DeliveryTable>, "id" | "attempts">;
  webhook: WebhookTarget;
  /** The operator has set it, not a customer, so a wider outgoing policy may apply. */
  isGlobal: boolean;
  /** Whether a webhook subscribes to delivery reports of this instance. */
  isReported: boolean;
}

/** Reads what jobs refer to, for all waiting jobs in one statement; undefined for deleted data. */
export function createDeliveryLoader(db: Db, box: SecretBox) {
  return createBatchLoader<DeliveryRef, LoadedDelivery | undefined>({
    load: (refs) => loadDeliveries(db, box, refs),
  });
}

type Row = LoadedDelivery["event"] &
  WebhookTarget & {
    ord: number;
    delivery_id: number;
    attempts: number;
    is_global: boolean;
    is_reported: boolean;
  };

async function loadDeliveries(
  db: Db,
  box: SecretBox,
  refs: DeliveryRef[],
): Promise<(LoadedDelivery | undefined)[]> {
  const times = refs.map((ref) => new Date(ref.at));
  const { rows } = await withPartitions(times, (range) => selectDeliveries(refs, range).execute(db));
  const byOrd = new Map(rows.map((row) => [Number(row.ord), toLoaded(row, box)]));
  return refs.map((_, index) => byOrd.get(index + 1));
}

function selectDeliveries(refs: DeliveryRef[], { mark, table, from, to }: PartitionRange) {
  return sql<Row>`${mark}
    select r.ord, e.event_id, e.event, e.body, e.chat, e.instance_id, e.account_id, e.created_at,
      d.id as delivery_id, d.attempts, ${sql.join(TARGET_COLUMNS.map((name) => sql.ref(`w.${name}`)))},
      w.instance_id is null as is_global,
      ${isReported(sql`instance_id = e.instance_id`)} or ${isReported(sql`instance_id is null`)} as is_reported
    from (
      select * from unnest(
        ${refs.map((ref) => ref.event_id)}::text[], ${refs.map((ref) => ref.at)}::timestamptz[],
        ${refs.map((ref) => ref.delivery)}::bigint[], ${refs.map((ref) => ref.webhook)}::bigint[]
      ) with ordinality as r (event_id, at, delivery, webhook, ord) ${rowCountHint(refs)}
    ) r
    join ${table("event")} e on e.event_id = r.event_id and e.created_at = r.at
      and e.created_at between ${from} and ${to}
    join ${table("delivery")} d on d.id = r.delivery and d.created_at = r.at
      and d.created_at between ${from} and ${to}
    join webhook w on w.id = r.webhook`;
}

function toLoaded(row: Row, box: SecretBox): LoadedDelivery {
  const { ord, event_id, event, body, chat, instance_id, account_id, created_at, ...rest } = row;
  const { delivery_id, attempts, is_global, is_reported, ...webhook } = rest;
  return {
    event: { event_id, event, body, chat, instance_id, account_id, created_at },
    delivery: { id: delivery_id, attempts },
    webhook: { ...webhook, url: openUrl(webhook, box) },
    isGlobal: is_global,
    isReported: is_reported,
  };
}
