import { Pool } from "undici";
import type { Database } from "../../src/platform/db/database.ts";
import { offer, spread, startEventSource } from "../bench/event-source.ts";
import { percentile, residentMb } from "../run/process-figures.ts";
import {
  allHaveCome,
  atOrAbove,
  costOfEach,
  holdsWithin,
  type LoadInstance,
  type LoadTestOptions,
  type LoadVerdict,
  pairEach,
  readMeter,
  slopeAnHour,
  startLoadStage,
  watchProcess,
} from "./load-stage.ts";
import { startReceivers } from "./receivers.ts";

const CONNECTIONS = 100;
const PEOPLE = 5_000;
const STILL_MS = 30_000;

/** A client that sends async texts and records accepted ones. */
export interface SendingClient {
  send(n: number): Promise<void>;
  /** Network ids of accepted sends. */
  accepted: string[];
  refused: Map<number, number>;
  close(): Promise<void>;
}

export function openSendingClient(url: string, instances: readonly LoadInstance[]): SendingClient {
  const pool = new Pool(url, { connections: CONNECTIONS });
  const accepted: string[] = [];
  const refused = new Map<number, number>();
  return {
    accepted,
    refused,
    async send(n) {
      const { id, api_key } = instances[n % instances.length] as LoadInstance;
      const number = `55119${10_000_000 + (n % PEOPLE) * 10 + 6}`;
      const { statusCode, body } = await pool.request({
        path: `/api/v1/instances/${id}/send-text`,
        method: "POST",
        headers: { "content-type": "application/json", "x-api-key": api_key },
        body: JSON.stringify({ number, text: `load ${n}`, async: true }),
      });
      const response = (await body.json()) as { pendingMessageId?: string };
      if (statusCode === 202 && response.pendingMessageId) {
        accepted.push(response.pendingMessageId);
        return;
      }
      refused.set(statusCode, (refused.get(statusCode) ?? 0) + 1);
      throw new Error(`refused with ${statusCode}`);
    },
    close: () => pool.close(),
  };
}

/** Differences between the ledgers of client, gateway and network. All must be 0. */
export interface SendFindings {
  /** Accepted with 202, but missing or without an outcome event. */
  lost: number;
  /** With more than one outcome event. */
  repeatedOutcomes: number;
  /** Reported as sent, but missing on the network. */
  untrue: number;
  /** Reported as failed, although every recipient is reachable. */
  failed: number;
  /** Arrived without a request. */
  unexpected: number;
  repeatedIds: number;
  differentIds: number;
  outOfOrder: number;
}

/** Whether every send has its outcome. Sends in progress are waited for. */
export async function isDrained({ pool }: Database): Promise<boolean> {
  const open = "from message where direction = 'outbound' and outcome_at is null";
  const isDone = async () => (await pool.query(`select ${open} limit 1`)).rows.length === 0;
  const countOpen = async () => Number((await pool.query(`select count(*) as count ${open}`)).rows[0]?.count);
  for (let before = Number.POSITIVE_INFINITY, left = await countOpen(); left < before; ) {
    if (await holdsWithin(STILL_MS, isDone)) return true;
    [before, left] = [left, await countOpen()];
  }
  return isDone();
}

/** Compares the ledgers after `isDrained`. */
export async function checkSends({ pool }: Database, accepted: readonly string[]): Promise<SendFindings> {
  const { rows } = await pool.query<SendFindings>(FINDINGS);
  const found = rows[0] as SendFindings;
  return { ...found, lost: found.lost + (await countMissing(pool, accepted)) };
}

async function countMissing(pool: Database["pool"], accepted: readonly string[]): Promise<number> {
  let missing = 0;
  for (let at = 0; at < accepted.length; at += 20_000) {
    const { rows } = await pool.query<{ count: number }>(
      `select count(*)::int as count from unnest($1::text[]) as asked (message_id)
       where not exists (select from message m where m.message_id = asked.message_id)`,
      [accepted.slice(at, at + 20_000)],
    );
    missing += rows[0]?.count ?? 0;
  }
  return missing;
}

const FINDINGS = `
  with reported as materialized (
    select convert_from(body, 'UTF8')::jsonb #>> '{data,jobId}' as job_id, count(*) as outcomes
    from event where event in ('message.sent', 'message.failed') group by 1
  ), sent as materialized (
    select m.id, m.message_id, m.instance_id, m.jid, m.status, reported.outcomes
    from message m left join reported on reported.job_id = m.job_id
    where m.direction = 'outbound' and m.mode = 'async'
  ), arrived as materialized (
    select message_id, min(id) as at, count(*) as times, min(content ->> 'text') as text
    from sandbox.ledger where action = 'send' and outcome <> 'closed' group by message_id
  ), in_order as (
    select a.at, max(a.at) over (
      partition by s.instance_id, s.jid order by s.id rows between unbounded preceding and 1 preceding) as before
    from sent s join arrived a using (message_id)
  )
  select
    (select count(*) from sent where outcomes is null)::int as lost,
    (select count(*) from sent where outcomes > 1)::int as "repeatedOutcomes",
    (select count(*) from sent s where status <> 'failed'
       and not exists (select from arrived a where a.message_id = s.message_id))::int as untrue,
    (select count(*) from sent where status = 'failed')::int as failed,
    (select count(*) from arrived a
       where not exists (select from sent s where s.message_id = a.message_id))::int as unexpected,
    (select coalesce(sum(times - 1), 0) from arrived)::int as "repeatedIds",
    (select count(*) from (select text from arrived group by text having count(*) > 1) t)::int as "differentIds",
    (select count(*) from in_order where at < before)::int as "outOfOrder"`;

const ACCEPTED_P99_MS = 150;

/** P2: async texts at a constant rate. Afterwards every accepted one is accounted for. */
export async function runAccept({ seconds = 600, rate = 1_000 }: LoadTestOptions): Promise<LoadVerdict> {
  const stage = await startLoadStage();
  const sender = openSendingClient(stage.gateway.url, [await stage.pair("P2")]);
  const before = await readMeter(stage);
  const offered = await offer({ perSecond: rate, seconds }, sender.send);
  const memory = await residentMb(stage.gateway.pid);
  await sender.close();
  const began = performance.now();
  const drained = await isDrained(stage.database);
  const drainS = ((performance.now() - began) / 1000).toFixed(0);
  const cost = costOfEach(before, await readMeter(stage), offered.count);
  const found = await checkSends(stage.database, sender.accepted);
  console.log(
    `P2: ${rate} texts/s offered for ${seconds} s: ${sender.accepted.length} of ${offered.count} taken, ${spread(offered.latencies)} (goal: p99 below ${ACCEPTED_P99_MS}), driver late by ${offered.driverLagMs.toFixed(0)} ms at most; refused ${JSON.stringify(Object.fromEntries(sender.refused))}, failed ${offered.failed}`,
  );
  console.log(
    `P2: node ${memory.toFixed(0)} MB; drained ${drainS} s later; ${cost}; ${JSON.stringify(found)}`,
  );
  await stage.close();
  return {
    ledgers: { ...found, undecided: drained ? 0 : 1 },
    missed: [
      ...atOrAbove(ACCEPTED_P99_MS, "p99 in ms", percentile(offered.latencies, 0.99)),
      ...atOrAbove(1, "sends that were not taken", offered.failed),
    ],
  };
}

const RECEIVERS = 20;
const DELIVERED_P99_MS = 2_000;

/**
 * P3: deliveries of 1 kB to twenty healthy receivers, with one row for each attempt. Afterwards every id is checked.
 */
export async function runDeliveries({ seconds = 600, rate = 1_000 }: LoadTestOptions): Promise<LoadVerdict> {
  const stage = await startLoadStage();
  const receivers = await startReceivers(RECEIVERS);
  const instances = await pairEach(stage, receivers, "P3");
  const source = await startEventSource(stage.database);
  const before = await readMeter(stage);
  const began = performance.now();
  const recorded = await source.record(instances, { perSecond: rate, seconds });
  const drained = await allHaveCome(() => receivers.count, recorded);
  const perSecond = (receivers.count * 1000) / (performance.now() - began);
  const memory = await residentMb(stage.gateway.pid);
  const cost = costOfEach(before, await readMeter(stage), recorded);
  await source.stop();
  await stage.stopGateway();
  const found = await receivers.check(stage.database);
  console.log(
    `P3: ${rate} events/s for ${seconds} s to ${RECEIVERS} receivers: ${perSecond.toFixed(0)}/s until drained, from record to arrival ${spread(receivers.lags)} (goal: p99 below ${DELIVERED_P99_MS})`,
  );
  console.log(`P3: node ${memory.toFixed(0)} MB; recorded ${recorded}; ${cost}; ${JSON.stringify(found)}`);
  receivers.close();
  await stage.close();
  const { events, ...differences } = found;
  return {
    ledgers: { ...differences, missing: recorded - events, undelivered: drained ? 0 : 1 },
    missed: atOrAbove(DELIVERED_P99_MS, "p99 in ms", percentile(receivers.lags, 0.99)),
  };
}

const SOAK_RECEIVERS = 20;
const SAMPLE_MS = 10_000;
/** Memory grows until caches are full and code is compiled. */
const WARM_PART = 0.4;
/** MB of resident memory per hour. */
const MOST_GROWTH = 1;

/** P8: half of P2 and P3 together for a long time. Memory and open files must not grow. */
export async function runSoak({ seconds = 1_800, rate = 500 }: LoadTestOptions): Promise<LoadVerdict> {
  const stage = await startLoadStage();
  const receivers = await startReceivers(SOAK_RECEIVERS);
  const instances = await pairEach(stage, receivers, "P8");
  const sender = openSendingClient(stage.gateway.url, [await stage.pair("P8 sends")]);
  const source = await startEventSource(stage.database);
  const watched = watchProcess(() => stage.gateway.pid, SAMPLE_MS);
  const [offered, recorded] = await Promise.all([
    offer({ perSecond: rate, seconds }, sender.send),
    source.record(instances, { perSecond: rate, seconds }),
  ]);
  watched.stop();
  const isReceived = await allHaveCome(() => receivers.count, recorded);
  const isSent = await isDrained(stage.database);
  const sends = await checkSends(stage.database, sender.accepted);
  await sender.close();
  await source.stop();
  await stage.stopGateway();
  const deliveries = await receivers.check(stage.database);
  const steady = watched.samples.slice(Math.floor(watched.samples.length * WARM_PART));
  const files = steady.map((sample) => sample.files);
  console.log(
    `P8: ${rate} texts/s and ${rate} events/s for ${seconds} s: texts ${spread(offered.latencies)}, failed ${offered.failed}; deliveries ${spread(receivers.lags)}`,
  );
  const slope = slopeAnHour(steady, ({ residentMb }) => residentMb);
  console.log(
    `P8: after the first ${WARM_PART * 100} %: ${slope.toFixed(1)} MB/h resident (goal: below ${MOST_GROWTH}), from ${steady[0]?.residentMb.toFixed(0)} to ${steady.at(-1)?.residentMb.toFixed(0)} MB; open files ${Math.min(...files)} to ${Math.max(...files)}`,
  );
  console.log(`P8: ${JSON.stringify({ sends, deliveries })}`);
  receivers.close();
  await stage.close();
  const { events, ...differences } = deliveries;
  return {
    ledgers: {
      ...Object.fromEntries(Object.entries(sends).map(([name, count]) => [`sends ${name}`, count])),
      ...differences,
      missing: recorded - events,
      undelivered: isReceived ? 0 : 1,
      undecided: isSent ? 0 : 1,
    },
    missed: [
      ...atOrAbove(MOST_GROWTH, "MB/h resident", slope),
      ...atOrAbove(1, "sends that were not taken", offered.failed),
    ],
  };
}
