import { sql } from "kysely";
import type { Db } from "../../platform/db/database.ts";
import type { InputOf } from "../../platform/http/route.ts";
import type { webhooksContract } from "./contract.ts";

const HOUR_MS = 3_600_000;
const PERIODS = {
  day: { stepMs: HOUR_MS, steps: 24 },
  week: { stepMs: 6 * HOUR_MS, steps: 28 },
} as const;

/** The newest attempts of an instance are read in the order of their index, and no more than this. */
const MOST_ATTEMPTS = 50_000;

interface AttemptFigures {
  succeeded: number;
  failed: number;
  median_ms: number | null;
  p95_ms: number | null;
}

/** Attempts of the last day in steps of an hour, or of the last week in steps of six hours. */
export async function readWebhookFigures(
  db: Db,
  { id, webhook_id, period }: InputOf<typeof webhooksContract.getWebhookFigures>,
  now = Date.now(),
) {
  const { stepMs, steps } = PERIODS[period];
  const end = (Math.floor(now / stepMs) + 1) * stepMs;
  const start = end - steps * stepMs;
  const { rows } = await readSteps(db, { id, webhook_id, from: new Date(start), stepMs });
  const total = rows.find(({ at }) => at === null);
  const since = total?.is_cut ? Math.max(start, stepOf(total.oldest, stepMs)) : start;
  const found = new Map(rows.map((row) => [row.at?.getTime(), row]));
  const times = Array.from({ length: (end - since) / stepMs }, (_, i) => since + i * stepMs);
  return {
    since: new Date(since),
    step_seconds: stepMs / 1000,
    is_cut: total?.is_cut ?? false,
    total: toFigures(total),
    steps: times.map((at) => ({ at: new Date(at), ...toFigures(found.get(at)) })),
  };
}

interface StepRow extends AttemptFigures {
  /** Null: the row of the whole period. */
  at: Date | null;
  is_cut: boolean;
  oldest: Date;
}

interface StepQuery {
  id: number;
  webhook_id: number | undefined;
  from: Date;
  stepMs: number;
}

function readSteps(db: Db, { id, webhook_id, from, stepMs }: StepQuery) {
  const isChosen = webhook_id === undefined ? sql`true` : sql`webhook_id = ${webhook_id}`;
  return sql<StepRow>`
    with newest as materialized (
      select webhook_id, success, duration_ms, created_at from attempt
      where instance_id = ${id} and created_at >= ${from} order by id desc limit ${MOST_ATTEMPTS}
    ), bounds as (select count(*) >= ${MOST_ATTEMPTS} as is_cut, min(created_at) as oldest from newest)
    select to_timestamp(floor(extract(epoch from created_at) * 1000 / ${stepMs}) * ${stepMs} / 1000) as at,
      count(*) filter (where success)::int as succeeded, count(*) filter (where not success)::int as failed,
      round(percentile_cont(0.5) within group (order by duration_ms))::int as median_ms,
      round(percentile_cont(0.95) within group (order by duration_ms))::int as p95_ms,
      (select is_cut from bounds) as is_cut, (select oldest from bounds) as oldest
    from newest where ${isChosen}
    group by grouping sets ((1), ())`.execute(db);
}

function toFigures(row: StepRow | undefined): AttemptFigures {
  const { succeeded = 0, failed = 0, median_ms = null, p95_ms = null } = row ?? {};
  return { succeeded, failed, median_ms, p95_ms };
}

function stepOf(at: Date, stepMs: number): number {
  return Math.floor(at.getTime() / stepMs) * stepMs;
}
