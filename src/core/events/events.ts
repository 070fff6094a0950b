import { type RawBuilder, sql } from "kysely";
import { type AddedJob, singleJobGroup } from "../../engine/job-store.ts";
import type { Trx } from "../../platform/db/database.ts";
import { LAST_STATEMENT, PREPARED_STATEMENT, rowCountHint } from "../../platform/db/prepared-statement.ts";
import type { TraceParent } from "../../platform/tracing/trace-parent.ts";
import { ulid } from "../../platform/ulid.ts";
import { statementHooks } from "../statement-hooks.ts";
import { type EventName, EXTRA_EVENTS, OPERATIONAL_EVENTS, type STREAM_EVENTS } from "./contract.ts";
import { inEventSpans } from "./event-spans.ts";
import { groupBy } from "./group-by.ts";
import { serializeEvent } from "./serialize-event.ts";

export { eventExample } from "./event-example.ts";
export { causedBy } from "./event-spans.ts";
export { createEventStreams, type StreamFrame } from "./event-streams.ts";
export { getEvent } from "./get-event.ts";
export { groupBy } from "./group-by.ts";
export { isListedEvent } from "./is-listed-event.ts";
export { MAX_BODY_BYTES, serializeEvent } from "./serialize-event.ts";

/** What a filter can exclude: a webhook's `exclude` names the first three; `automatic`: no person sent it. */
export type EventTag = "sent_by_api" | "from_me" | "groups" | "automatic";

/** An event before it has its sequence number. */
export interface EventDraft {
  event: EventName | (typeof STREAM_EVENTS)[number];
  instance_id: number;
  /** Events of one chat are delivered in order; the jid, or `instance` for the instance itself. */
  chat: string;
  tags?: EventTag[];
  data: Record<string, unknown>;
  at?: Date;
  /** Set by a caller that must find the event again. Default: a new id. */
  event_id?: string;
  /** Recorded, but not queued for any webhook. */
  isUndelivered?: boolean;
  /** Set if the caller has read it already; otherwise it is read here. */
  instance?: InstanceSnapshot | undefined;
  /** The span that caused it; without one, the event begins a trace. */
  trace?: TraceParent | undefined;
}

/** The instance snapshot that every event contains. */
export interface InstanceSnapshot {
  id: number;
  account_id: number;
  name: string;
  phone: string | null;
  metadata: Record<string, unknown>;
}

export interface EventRecorder {
  /**
   * Like `recordEvents`, but the statement commits the transaction in the same round trip. Returns a function that
   * starts the deliveries: call it after the commit.
   */
  record(trx: Trx, drafts: readonly EventDraft[]): Promise<() => void>;
}

/**
 * Records events, and queues one job per subscriber, with a delivery if it is a webhook. Returns the lanes to
 * wake after the commit. Must be the last statement of the transaction: it locks the instances' counters, so that
 * `sequence` has no gaps.
 */
export async function recordEvents(trx: Trx, drafts: readonly EventDraft[]): Promise<number[]> {
  const serialised = await serialiseAll(trx, drafts);
  if (serialised.length === 0) return [];
  const { rows: touched } = await inEventSpans(serialised, (rows) =>
    sql<{ lane: number }>`${PREPARED_STATEMENT} ${insertEvents(rows)}
    select distinct lane from queued`.execute(trx),
  );
  return touched.map((row) => row.lane);
}

/** What `recordEventsWithDeliveries` has written. */
export interface RecordedEvents {
  /** By event id. */
  events: ReadonlyMap<string, SerialisedEvent>;
  instances: RecordedInstance[];
  /** Columns of the webhooks that get them, as JSON. */
  webhooks: Record<string, unknown>[];
  /** Lanes of other subscribers to wake. */
  lanes: number[];
}

/** The events of an instance in a batch. */
export interface RecordedInstance {
  instance_id: number;
  /** The sequence numbers of the last event before the batch and of the last one in it. */
  before: number;
  last: number;
  /** The jobs of their deliveries to webhooks. */
  deliveries: AddedJob[];
  /** Whether a webhook subscribes to reports of the instance's deliveries. */
  is_reported: boolean;
}

/**
 * Like `recordEvents`, for a caller that delivers the events from memory: returns their jobs and these columns of
 * their webhooks. The statement commits the transaction in the same round trip.
 */
export async function recordEventsWithDeliveries(
  trx: Trx,
  drafts: readonly EventDraft[],
  webhookColumns: readonly string[],
): Promise<RecordedEvents> {
  const rows = await serialiseAll(trx, drafts);
  const events = new Map(rows.map((row) => [row.event_id, row]));
  const { rows: found } =
    rows.length === 0
      ? { rows: [] }
      : await inEventSpans(rows, (traced) => recordedStatement(traced, webhookColumns).execute(trx));
  const { instances = [], deliveries = [], webhooks = [], lanes = [] } = found[0] ?? {};
  const jobs = deliveries.map((job) => ({ ...job, run_at: new Date(job.run_at) }));
  const jobsOf = groupBy(jobs, ({ ref }) => events.get(String(ref.event_id))?.instance_id);
  return {
    events,
    instances: instances.map((one) => ({ ...one, deliveries: jobsOf(one.instance_id) })),
    webhooks,
    lanes,
  };
}

interface RecordedRow extends Pick<RecordedEvents, "webhooks" | "lanes"> {
  instances: Omit<RecordedInstance, "deliveries">[];
  deliveries: (Omit<AddedJob, "run_at"> & { run_at: string })[];
}

function recordedStatement(rows: SerialisedEvent[], webhookColumns: readonly string[]) {
  const columns = sql.join(webhookColumns.map((name) => sql.ref(name)));
  return sql<RecordedRow>`${LAST_STATEMENT} ${insertEvents(rows)}
    select
      (select coalesce(json_agg(job), '[]') from (
        select id, lane, prio, pos, grp, run_at, ref from queued where ref ? 'delivery' order by lane, pos) as job) as deliveries,
      (select coalesce(json_agg(distinct lane), '[]') from queued where not ref ? 'delivery') as lanes,
      (select coalesce(json_agg(one), '[]') from (
        select n.instance_id, min(n.sequence) - 1 as before, max(n.sequence) as last,
          ${isReported(sql`instance_id = n.instance_id`)} or ${isReported(sql`instance_id is null`)} as is_reported
        from numbered n group by n.instance_id) as one) as instances,
      (select coalesce(json_agg(w), '[]') from (select distinct webhook_id from subscribed) s cross join lateral (
        select ${columns}, instance_id is null as is_global from webhook where id = s.webhook_id limit 1) as w) as webhooks`;
}

/** Whether such a webhook subscribes to reports of deliveries. */
export function isReported(owner: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`exists (
    select from webhook where ${owner} and is_active and event_names && ${[...OPERATIONAL_EVENTS]}::text[])`;
}

/** For a row of `instance` with the alias `i`. */
export const INSTANCE_SNAPSHOT_SQL = sql<InstanceSnapshot>`json_build_object('id', i.id, 'account_id', i.account_id,
  'name', i.name, 'phone', i.phone, 'metadata', i.metadata)`;

async function serialiseAll(trx: Trx, drafts: readonly EventDraft[]): Promise<SerialisedEvent[]> {
  if (drafts.length === 0) return [];
  const snapshots = await readInstanceSnapshots(trx, drafts);
  return drafts.flatMap((draft) => {
    const snapshot = snapshots.get(draft.instance_id);
    return snapshot ? [serialise(draft, snapshot)] : [];
  });
}

async function readInstanceSnapshots(
  trx: Trx,
  drafts: readonly EventDraft[],
): Promise<Map<number, InstanceSnapshot>> {
  const known = new Map(
    drafts.flatMap(({ instance }) => (instance ? [[instance.id, instance] as const] : [])),
  );
  const ids = [...new Set(drafts.map((draft) => draft.instance_id))].filter((id) => !known.has(id));
  if (ids.length === 0) return known;
  const { rows: snapshots } = await sql<InstanceSnapshot>`${PREPARED_STATEMENT}
    select id, account_id, name, phone, metadata from instance
    where id in (select unnest(${ids}::bigint[]) ${rowCountHint(ids)})`.execute(trx);
  for (const snapshot of snapshots) known.set(snapshot.id, snapshot);
  return known;
}

export interface SerialisedEvent {
  event_id: string;
  event: string;
  account_id: number;
  instance_id: number;
  chat: string;
  tags: string;
  at: string;
  is_undelivered: boolean;
  /** The body before and after `sequence`, which the inserting statement fills in. */
  head: string;
  tail: string;
  /** The span for its deliveries; undefined while tracing is off. */
  trace: TraceParent | undefined;
}

function serialise(draft: EventDraft, snapshot: InstanceSnapshot): SerialisedEvent {
  const now = new Date();
  const event_id = draft.event_id ?? `evt_${ulid(now)}`;
  const body = serializeEvent({
    event_id,
    event: draft.event,
    tenant_id: `tenant_${snapshot.account_id}`,
    instance_id: `inst_${snapshot.id}`,
    timestamp: (draft.at ?? now).toISOString(),
    source: "Waygate",
    version: "2",
    sequence: 0,
    account_id: snapshot.account_id,
    instance: { id: snapshot.id, name: snapshot.name, phone: snapshot.phone, metadata: snapshot.metadata },
    data: draft.data,
  });
  const split = body.indexOf('"sequence":0') + '"sequence":'.length;
  return {
    event_id,
    event: draft.event,
    account_id: snapshot.account_id,
    instance_id: snapshot.id,
    chat: draft.chat,
    tags: (draft.tags ?? []).join(","),
    at: now.toISOString(),
    is_undelivered: draft.isUndelivered ?? false,
    head: body.slice(0, split),
    tail: body.slice(split + 1),
    trace: draft.trace,
  };
}

/** Numbers, stores and queues in one statement, so that no lock on a counter spans a round trip. */
function insertEvents(rows: SerialisedEvent[]): RawBuilder<unknown> {
  const column = (name: keyof SerialisedEvent) => rows.map((row) => row[name]);
  // While tracing is off, the statement is the same as without it.
  const isTraced = rows.some(({ trace }) => trace !== undefined);
  const traceName = isTraced ? sql`trace,` : sql``;
  return sql`
    with draft as (
      select * from (select * from unnest(
        ${column("event_id")}::text[], ${column("event")}::text[], ${column("instance_id")}::bigint[],
        ${column("chat")}::text[], ${column("tags")}::text[], ${column("at")}::timestamptz[],
        ${column("is_undelivered")}::boolean[], ${column("head")}::text[], ${column("tail")}::text[]
        ${isTraced ? sql`, ${column("trace")}::text[]` : sql``}
      ) with ordinality as d (event_id, event, instance_id, chat, tags, at, is_undelivered, head, tail, ${traceName} ord)
        ${rowCountHint(rows)}) as d
      where ${isSubscribed()}
    ), counters as (
      select instance_id, last from event_counter
      where instance_id in (select instance_id from draft) order by instance_id for update
    ), numbered as (
      select d.*, string_to_array(d.tags, ',') as tag_list,
        h.last + row_number() over (partition by d.instance_id order by d.ord) as sequence
      from draft d join counters h using (instance_id)
    ), updated_counters as (
      update event_counter e set last = n.last
      from (select instance_id, max(sequence) as last from numbered group by instance_id) n
      where e.instance_id = n.instance_id
    ), recorded as (
      insert into event (event_id, event, account_id, instance_id, sequence, chat, tags, body, created_at)
      select n.event_id, n.event, i.account_id, n.instance_id, n.sequence, n.chat, n.tag_list,
        convert_to(n.head || n.sequence || n.tail, 'UTF8'), n.at
      from numbered n join instance i on i.id = n.instance_id order by n.ord
    ), subscribed as materialized (
      select ${traceName} n.event_id, n.at, n.chat, n.sequence, n.instance_id, i.account_id, s.kind, s.id as subscriber,
        s.webhook_id, coalesce(s.lane, i.global_lane) as lane, s.ordering,
        case when s.webhook_id is not null then nextval('delivery_id_seq') end as delivery_id
      from numbered n
      join instance i on i.id = n.instance_id
      cross join lateral (${subscribersOf(sql`n.instance_id`, sql`i.webhook_enabled`)}) s
      where not n.is_undelivered and n.event = any(s.event_names) and not (s.exclude && n.tag_list)
      order by n.ord
    ), delivered as (
      insert into delivery (id, event_id, webhook_id, account_id, instance_id, created_at)
      select delivery_id, event_id, webhook_id, account_id, instance_id, at from subscribed where webhook_id is not null
    ), queued as (
      insert into job (lane, prio, pos, grp, ref)
      select lane, 1, sequence, ${DELIVERY_JOB_GROUP_SQL},
        case when webhook_id is null then ${SUBSCRIBER_JOB_REF_SQL} else ${DELIVERY_JOB_REF_SQL} end
        ${isTraced ? TRACE_REF : sql``}
      from subscribed returning *
    )`;
}

/** All who can get the events of an instance: its webhooks, the global one, and the rows of the subscriber tables. */
function subscribersOf(instance: RawBuilder<unknown>, hasWebhooks: RawBuilder<unknown>): RawBuilder<unknown> {
  const others = statementHooks().subscribers.map(
    ({ table }) => sql`union all
      select ${sql.lit(table)}, id, null, lane, 'chat', event_names, exclude from ${sql.table(table)}
      where instance_id = ${instance} and enabled`,
  );
  return sql`
    select 'webhook' as kind, id, id as webhook_id, lane, ordering, event_names, exclude from webhook
    where instance_id = ${instance} and is_active and ${hasWebhooks}
    union all
    select 'webhook', id, id, null, ordering, event_names, exclude from webhook where instance_id is null and is_active
    ${sql.join(others, sql` `)}`;
}

/** Opt-in events are recorded only while a subscriber exists. */
const isSubscribed = () => sql`(
  is_undelivered or event <> all(${[...OPERATIONAL_EVENTS, ...EXTRA_EVENTS]}::text[])
  or exists (select from (${subscribersOf(sql`d.instance_id`, sql`true`)}) s where d.event = any(s.event_names)))`;

/** The group in which a webhook's deliveries wait for each other; for a row with these columns. */
export const DELIVERY_JOB_GROUP_SQL = sql`
  case ordering when 'chat' then chat when 'strict' then '*' else ${singleJobGroup("")} || event_id end`;

/** The reference in the job of a delivery; for a row with these columns. */
export const DELIVERY_JOB_REF_SQL = sql`jsonb_build_object('event_id', event_id, 'at', at, 'delivery', delivery_id,
  'webhook', webhook_id, 'trigger', 'auto')`;

/** The reference in the job of a row of a subscriber table. */
const SUBSCRIBER_JOB_REF_SQL = sql`jsonb_build_object('do', 'event', kind, subscriber, 'event_id', event_id, 'at', at)`;

/** For a row with a span, which its delivery continues. */
const TRACE_REF = sql`|| jsonb_strip_nulls(jsonb_build_object('trace', trace))`;
