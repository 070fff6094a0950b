import { Pool } from "undici";
import type { Database } from "../../src/platform/db/database.ts";
import { holdsWithin, type LoadInstance } from "./load-stage.ts";

const CONNECTIONS = 100;
const PEOPLE = 5_000;
const STILL_MS = 30_000;

/** A client that sends async texts and records which were accepted. */
export interface SendingClient {
  /** Rejects if the response is not a 202. */
  send(n: number): Promise<void>;
  /** Network ids of the accepted ones. */
  accepted: string[];
  /** Responses other than 202, by status. */
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
      const answer = (await body.json()) as { pendingMessageId?: string };
      if (statusCode === 202 && answer.pendingMessageId) {
        accepted.push(answer.pendingMessageId);
        return;
      }
      refused.set(statusCode, (refused.get(statusCode) ?? 0) + 1);
      throw new Error(`refused with ${statusCode}`);
    },
    close: () => pool.close(),
  };
}

/** What the ledgers of client, gateway and network say of each other; all of it must be 0. */
export interface SendFindings {
  /** Answered with 202, and not there or without an outcome event. */
  lost: number;
  /** With more than one outcome event. */
  repeatedOutcomes: number;
  /** Reported as sent, but missing in the network's ledger. */
  untrue: number;
  /** Reported as failed, although every recipient is reachable. */
  failed: number;
  /** At the network, and never asked for. */
  unexpected: number;
  repeatedIds: number;
  differentIds: number;
  outOfOrder: number;
}

/** Whether every send has its outcome in the end: as long as some are being decided they are waited for. */
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

/** Compares the ledgers; to be asked once it is drained. */
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
  with told as materialized (
    select convert_from(body, 'UTF8')::jsonb #>> '{data,jobId}' as job_id, count(*) as outcomes
    from event where event in ('message.sent', 'message.failed') group by 1
  ), sent as materialized (
    select m.id, m.message_id, m.instance_id, m.jid, m.status, told.outcomes
    from message m left join told on told.job_id = m.job_id
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
