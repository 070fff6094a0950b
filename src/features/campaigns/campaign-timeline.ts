import { sql } from "kysely";
import type { Db } from "../../platform/db/database.ts";
import type { OutputOf } from "../../platform/http/route.ts";
import type { campaignsContract } from "./contract.ts";

type Timeline = OutputOf<typeof campaignsContract.getCampaignTimeline>;
type Step = Timeline["step"];

const MINUTE_MS = 60_000;
/** The longest campaign that each step shows in about 120 points. */
const LONGEST_MS: readonly [Step, number][] = [
  ["minute", 120 * MINUTE_MS],
  ["hour", 120 * 60 * MINUTE_MS],
];
const MOST_POINTS = 400;
const MOST_REASONS = 100;

/** The recipients by the time of their outcome, and the reasons of those that got no message. */
export async function readCampaignTimeline(db: Db, id: number): Promise<Timeline> {
  const step = await chooseStep(db, id);
  const { rows: points } = await sql<Record<"sent" | "delivered" | "read" | "failed", number> & { at: Date }>`
    select date_trunc(${step}, decided_at, 'UTC') as at,
      count(*) filter (where status in ('sent', 'delivered', 'read')) as sent,
      count(*) filter (where status in ('delivered', 'read')) as delivered,
      count(*) filter (where status = 'read') as read,
      count(*) filter (where status = 'failed') as failed
    from campaign_recipient
    where campaign_id = ${id} and decided_at is not null and status in ('sent', 'delivered', 'read', 'failed')
    group by 1 order by 1 limit ${MOST_POINTS}`.execute(db);
  const { rows: reasons } = await sql<Timeline["reasons"][number]>`
    select status, reason, count(*) as count from campaign_recipient
    where campaign_id = ${id} and status in ('failed', 'skipped')
    group by status, reason order by count desc, reason limit ${MOST_REASONS}`.execute(db);
  return { step, points, reasons };
}

async function chooseStep(db: Db, id: number): Promise<Step> {
  const { rows } = await sql<{ first: Date | null; last: Date | null }>`
    select min(decided_at) as first, max(decided_at) as last from campaign_recipient
    where campaign_id = ${id} and status in ('sent', 'delivered', 'read', 'failed')`.execute(db);
  const [{ first, last } = { first: null, last: null }] = rows;
  const length = first && last ? last.getTime() - first.getTime() : 0;
  return LONGEST_MS.find(([, longest]) => length <= longest)?.[0] ?? "day";
}
