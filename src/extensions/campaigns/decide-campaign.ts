import { sql } from "kysely";
import type { Db, Trx } from "../../platform/db/database.ts";
import type { InstanceStatus } from "../../tables.ts";
import type { CampaignRow } from "./campaign-row.ts";
import type { CampaignInstance } from "./recipients/queue-recipients.ts";

/** Why the gateway itself pauses a campaign; the campaign resumes when the reason has ended. */
export type CampaignPauseReason = "instance_disconnected" | "account_restricted" | "message_quota";

const PAUSE_REASONS: readonly string[] = [
  "instance_disconnected",
  "account_restricted",
  "message_quota",
] satisfies CampaignPauseReason[];

/** The state of the sending instance, as far as it decides what the campaign may do. */
export interface CampaignInstanceState extends CampaignInstance {
  status: InstanceStatus;
  account_state: string;
  new_chats_locked_until: Date | null;
  /** Of its account; null: UTC. */
  time_zone: string | null;
}

/** Undefined when it is deleted. */
export async function readCampaignInstanceState(
  db: Db | Trx,
  id: number,
): Promise<CampaignInstanceState | undefined> {
  const { rows } = await sql<CampaignInstanceState>`
    select i.id, i.account_id, i.lane, i.status, i.new_chats_locked_until, p.max_messages,
      account_state(a) as account_state, a.settings ->> 'time_zone' as time_zone
    from instance i join account a on a.id = i.account_id join plan p on p.id = a.plan_id
    where i.id = ${id} and i.removed_at is null`.execute(db);
  return rows[0];
}

/** `over`: the campaign has no more work; `wait`: check again at that time. */
export type CampaignDecision =
  | { what: "run" | "over" | "fail" }
  | { what: "pause"; reason: CampaignPauseReason }
  | { what: "wait"; until: Date };

const QUOTA_AGAIN_MS = 600_000;

/** Decides the next state of the campaign. */
export function decideCampaign(
  campaign: CampaignRow,
  instance: CampaignInstanceState | undefined,
  now: Date,
): CampaignDecision {
  const { status, status_reason, scheduled_at } = campaign;
  const isUnderWay = status === "scheduled" || status === "queued" || status === "running";
  if (!isUnderWay && !isPausedByGateway(campaign)) return { what: "over" };
  if (!instance) return { what: "fail" };
  if (status === "scheduled" && scheduled_at && scheduled_at > now)
    return { what: "wait", until: scheduled_at };
  if (instance.status !== "connected") return { what: "pause", reason: "instance_disconnected" };
  if (!["active", "trial"].includes(instance.account_state))
    return { what: "pause", reason: "account_restricted" };
  const waitedMs = now.getTime() - campaign.updated_at.getTime();
  if (status_reason === "message_quota" && waitedMs < QUOTA_AGAIN_MS)
    return { what: "pause", reason: "message_quota" };
  return { what: "run" };
}

/** Paused by the gateway, not by a user. */
export function isPausedByGateway({
  status,
  status_reason,
}: Pick<CampaignRow, "status" | "status_reason">): boolean {
  return status === "paused" && PAUSE_REASONS.includes(status_reason ?? "");
}
