import { type Selectable, sql } from "kysely";
import type { z } from "zod";
import type { StoredMedia } from "../../core/messages/messages.ts";
import { nextMonthStart, requirePlanQuota } from "../../core/plans/plans.ts";
import type { Db, Trx } from "../../platform/db/database.ts";
import { GatewayError } from "../../platform/gateway-error.ts";
import type { IdempotentRequest } from "../../platform/http/run-idempotently.ts";
import { isWithin, type Reach } from "../../platform/reach.ts";
import { fingerprint } from "../../platform/secrets/fingerprint.ts";
import type { CampaignTable } from "../../tables.ts";
import type { campaign, totals } from "./contract.ts";

/** A campaign with its stored file. */
export type CampaignRow = Omit<Selectable<CampaignTable>, "media" | "totals"> & {
  media: StoredMedia | null;
  totals: CampaignTotals | null;
};

export type CampaignStatus = CampaignRow["status"];

export type CampaignTotals = z.output<typeof totals>;

/** A campaign never leaves these states. */
export const ENDED_STATUSES: readonly CampaignStatus[] = ["completed", "cancelled", "failed"];

export function selectCampaigns(db: Db | Trx, reach: Reach) {
  return db
    .selectFrom("campaign")
    .selectAll()
    .where("account_id", "=", reach.account_id)
    .where(isWithin(reach, sql.ref("instance_id")))
    .$castTo<CampaignRow>();
}

/** Throws NOT_FOUND. */
export async function getCampaign(db: Db | Trx, reach: Reach, id: number): Promise<CampaignRow> {
  const found = await selectCampaigns(db, reach).where("id", "=", id).executeTakeFirst();
  return found ?? refuseUnknown();
}

/**
 * The campaign, locked against other requests that plan, change or end it; its sends continue. The lock order
 * is lane, campaign, message, recipient. Throws NOT_FOUND.
 */
export async function lockCampaign(trx: Trx, reach: Reach, id: number): Promise<CampaignRow> {
  const found = await selectCampaigns(trx, reach).where("id", "=", id).forNoKeyUpdate().executeTakeFirst();
  return found ?? refuseUnknown();
}

/**
 * Like `lockCampaign`, but none of its sends is submitted before the commit. Waits longer than other statements: a
 * campaign must be stoppable however many of its sends are being submitted.
 */
export async function lockCampaignAndSends(trx: Trx, reach: Reach, id: number): Promise<CampaignRow> {
  await sql`set local lock_timeout = '10s'`.execute(trx);
  const found = await selectCampaigns(trx, reach).where("id", "=", id).forUpdate().executeTakeFirst();
  return found ?? refuseUnknown();
}

function refuseUnknown(): never {
  throw new GatewayError("NOT_FOUND", "There is no such campaign.");
}

/** Throws QUOTA_EXCEEDED unless the account's plan allows one more campaign that has not ended. */
export async function requireCampaignQuota(trx: Trx, account_id: number): Promise<void> {
  await requirePlanQuota(trx, {
    account_id,
    limit: "max_campaigns",
    async count() {
      const { count } = await trx
        .selectFrom("campaign")
        .select((eb) => eb.fn.countAll<number>().as("count"))
        .where("account_id", "=", account_id)
        .where("status", "not in", ENDED_STATUSES)
        .executeTakeFirstOrThrow();
      return Number(count);
    },
  });
}

/** The error for an action that the campaign's state does not allow. */
export function throwInvalidState({ status, status_reason }: CampaignRow, what: string): never {
  throw new GatewayError("CAMPAIGN_STATE", `A campaign that is ${status} cannot be ${what}.`, {
    details: { status, status_reason },
  });
}

/** A request that may be repeated; undefined without an idempotency key. Its response is for the same reach only. */
export function idempotentRequestOf(
  route: string,
  { account_id, instance_ids }: Reach,
  input: unknown,
  key: string | undefined,
): IdempotentRequest | undefined {
  if (key === undefined) return undefined;
  const asked = instance_ids === null ? input : { input, instance_ids };
  return { account_id, route, key, fingerprint: fingerprint(asked) };
}

/** A waiting recipient of an ended campaign counts as cancelled; for a recipient `r` of the campaign `c`. */
export const RECIPIENT_STATUS_SQL = sql<string>`case
  when r.status = 'pending' and c.status in ('cancelled', 'failed') then 'cancelled' else r.status end`;

/** One pass over the recipients. */
export async function countTotals(db: Db | Trx, campaignId: number): Promise<CampaignTotals> {
  const { rows } = await sql<{ status: string; count: number; is_over: boolean }>`
    select status, count(*) as count,
      (select c.status in ('cancelled', 'failed') from campaign c where c.id = ${campaignId}) as is_over
    from campaign_recipient where campaign_id = ${campaignId} group by status`.execute(db);
  const isOver = rows.some(({ is_over }) => is_over);
  const of = (...names: string[]) =>
    rows.filter(({ status }) => names.includes(status)).reduce((sum, { count }) => sum + count, 0);
  return {
    total: rows.reduce((sum, { count }) => sum + count, 0),
    pending: isOver ? 0 : of("pending"),
    queued: of("queued"),
    sent: of("sent", "delivered", "read"),
    delivered: of("delivered", "read"),
    read: of("read"),
    failed: of("failed"),
    cancelled: isOver ? of("pending") : 0,
    skipped: of("skipped"),
  };
}

export type CampaignView = z.input<typeof campaign>;

/** The campaign as responses show it. */
export function toCampaignView(row: CampaignRow): CampaignView {
  const { media, ended_at: completed_at, waiting: _, ...shown } = row;
  const file = media && {
    type: media.media_type,
    mime_type: media.mime_type,
    file_name: media.file_name ?? null,
    size: media.size,
    sha256: media.sha256 ?? null,
  };
  return { ...shown, waiting: waitingOf(row), media: file, completed_at };
}

/** Why the campaign sends nothing now, although nobody has stopped it, and when it goes on. */
export function waitingOf(row: CampaignRow): CampaignView["waiting"] {
  const { status, status_reason, scheduled_at, waiting } = row;
  if (status === "scheduled" && scheduled_at) return { reason: "scheduled", until: scheduled_at };
  if (status === "paused" && status_reason === "message_quota")
    return { reason: "message_quota", until: nextMonthStart() };
  const until = status === "running" && waiting ? new Date(waiting.until) : undefined;
  return waiting && until && until.getTime() > Date.now() ? { reason: waiting.reason, until } : null;
}
