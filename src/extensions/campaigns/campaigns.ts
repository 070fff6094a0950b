import { sql } from "kysely";
import { requireUser } from "../../core/accounts/accounts.ts";
import { recordAudit } from "../../core/audit/audit.ts";
import { type FindCountry, readPhone } from "../../core/contacts/contacts.ts";
import type { Db } from "../../platform/db/database.ts";
import { type Handlers, OkResponse } from "../../platform/http/handler.ts";
import { containsText } from "../../platform/http/input/contains-text.ts";
import { newestById, readPage } from "../../platform/http/input/pagination.ts";
import type { OutputOf } from "../../platform/http/route.ts";
import type { Reach } from "../../platform/reach.ts";
import {
  createRenderer,
  LONGEST_MESSAGE,
  type RecipientFacts,
  valuesOf,
} from "../../platform/text/render-template.ts";
import { createCampaignReport } from "./campaign-report.ts";
import {
  type CampaignRow,
  countTotals,
  ENDED_STATUSES,
  getCampaign,
  lockCampaign,
  lockCampaignAndSends,
  selectCampaigns,
  throwInvalidState,
  toCampaignView,
} from "./campaign-row.ts";
import {
  type ChangeCampaignDeps,
  changeCampaignHandlers,
  PAUSABLE_STATUSES,
} from "./change-campaign-handlers.ts";
import type { campaignsContract } from "./contract.ts";
import { isPausedByGateway } from "./decide-campaign.ts";
import { findTemplateWarnings } from "./find-template-warnings.ts";
import { createRecipientCheck } from "./recipients/check-recipients.ts";
import { findWaitingRecipients } from "./recipients/choose-recipients.ts";
import { readRecipient } from "./recipients/read-recipient.ts";
import { type AddRecipientsDeps, createRecipientAdder } from "./recipients/recipient-adder.ts";
import { createRetryFailedHandler } from "./retry-failed-handler.ts";
import { type SaveCampaignDeps, saveCampaignHandlers } from "./save-campaign-handlers.ts";
import { withdrawQueuedSends, withdrawSendsTo } from "./withdraw-sends.ts";

type EndedHandlers = Pick<Handlers<typeof campaignsContract>, "archiveCampaign" | "deleteCampaign">;

interface PreviewDeps {
  db: Db;
  findCountry: FindCountry;
}

interface PreviewCampaignOptions {
  limit: number;
  phone?: string;
  variables?: Record<string, unknown>;
  /** Whose leads fill in variables. */
  reach: Reach;
}

const NEWEST = newestById(sql`id`);

const NOBODY = "15550000000";

/** Characters of a text that is too long to be sent. */
const SHOWN = 1_000;

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

export { ENDED_STATUSES, withdrawSendsTo };

export type CampaignDeps = AddRecipientsDeps & ChangeCampaignDeps & SaveCampaignDeps;

/** Campaigns: one message that goes to many recipients, one after the other. */
export function campaignHandlers(deps: CampaignDeps): Handlers<typeof campaignsContract> {
  const { db } = deps;
  return {
    ...saveCampaignHandlers(deps),
    ...changeCampaignHandlers(deps),
    ...endedCampaignHandlers(deps),
    retryFailedRecipients: createRetryFailedHandler(deps),
    addRecipients: createRecipientAdder(deps),
    getCampaignReport: createCampaignReport(db),
    checkRecipients: createRecipientCheck(deps),

    async listCampaigns({ input: { q, status, instance_id, archived, ...page }, caller }) {
      const searched = containsText(q, sql`name, message_template`);
      let query = selectCampaigns(db, requireUser(caller)).where(searched);
      if (status !== undefined) query = query.where("status", "=", status);
      if (instance_id !== undefined) query = query.where("instance_id", "=", instance_id);
      if (archived !== undefined) query = query.where("archived_at", archived ? "is not" : "is", null);
      const { rows, pagination } = await readPage(
        page,
        ({ limit, cursor }) => query.where(NEWEST.after(cursor)).orderBy(NEWEST.by).limit(limit).execute(),
        (row) => row.id,
      );
      return new OkResponse(
        rows.map((row) => ({ ...toCampaignView(row), totals: row.totals })),
        { beside: { pagination } },
      );
    },

    async getCampaign({ input: { id }, caller }) {
      const campaign = await getCampaign(db, requireUser(caller), id);
      return { ...toCampaignView(campaign), totals: await countTotals(db, id) };
    },

    async getCampaignTimeline({ input: { id }, caller }) {
      const campaign = await getCampaign(db, requireUser(caller), id);
      return readCampaignTimeline(db, campaign.id);
    },

    async previewCampaign({ input: { id, ...order }, caller }) {
      const user = requireUser(caller);
      return previewCampaign(deps, await getCampaign(db, user, id), { ...order, reach: user });
    },
  };
}

/** The recipients by the time of their outcome, and the reasons of those that got no message. */
async function readCampaignTimeline(db: Db, id: number): Promise<Timeline> {
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

/** The rendered messages: for the next recipients, for one of them, or for sample variables. */
async function previewCampaign(deps: PreviewDeps, campaign: CampaignRow, order: PreviewCampaignOptions) {
  return {
    previews: await readPreviews(deps, campaign, order),
    warnings: await findTemplateWarnings(deps.db, campaign, order.reach),
  };
}

async function readPreviews(
  { db, findCountry }: PreviewDeps,
  campaign: CampaignRow,
  { limit, phone, variables, reach }: PreviewCampaignOptions,
) {
  const render = createRenderer(campaign.message_template);
  const toPreview = (facts: RecipientFacts) => {
    const text = render(valuesOf(facts));
    const too_long = text.length > LONGEST_MESSAGE;
    return { phone: facts.phone || null, text: too_long ? text.slice(0, SHOWN) : text, too_long };
  };
  if (variables) {
    const made = readRecipient({ phone: NOBODY, variables }, 1, { isConfirmed: true });
    const own = "variables" in made ? made.variables : {};
    return [toPreview({ phone: phone ?? "", variables: own, lead: null, contact_name: null })];
  }
  const country = await findCountry({ instance_id: campaign.instance_id }, [phone]);
  const digits = phone === undefined ? undefined : readPhone("phone", phone, country);
  const waiting = await findWaitingRecipients(db, campaign, {
    limit,
    reach,
    ...(digits !== undefined && { phone: digits }),
  });
  return waiting.map(toPreview);
}

/** Handlers that remove or hide ended campaigns. */
function endedCampaignHandlers({ db, engine }: Pick<ChangeCampaignDeps, "db" | "engine">): EndedHandlers {
  return {
    async archiveCampaign({ input: { id, archived }, caller }) {
      const user = requireUser(caller);
      const row = await db.transaction().execute(async (trx) => {
        const campaign = await lockCampaign(trx, user, id);
        if (!ENDED_STATUSES.includes(campaign.status)) throwInvalidState(campaign, "archived");
        return trx
          .updateTable("campaign")
          .set({ archived_at: archived ? sql<Date>`coalesce(archived_at, now())` : null })
          .where("id", "=", id)
          .returningAll()
          .$castTo<CampaignRow>()
          .executeTakeFirstOrThrow();
      });
      const message = archived ? "Campaign archived" : "Campaign restored from the archive";
      return new OkResponse(toCampaignView(row), { message });
    },

    async deleteCampaign({ input: { id }, ...by }) {
      const user = requireUser(by.caller);
      const { account_id } = user;
      const lanes = await db.transaction().execute(async (trx) => {
        const campaign = await lockCampaignAndSends(trx, user, id);
        if (PAUSABLE_STATUSES.includes(campaign.status) || isPausedByGateway(campaign))
          throwInvalidState(
            campaign,
            `deleted. ${isPausedByGateway(campaign) ? "Cancel" : "Pause or cancel"} it first`,
          );
        const lanes = await withdrawQueuedSends(trx, id);
        await trx.deleteFrom("campaign").where("id", "=", id).execute();
        const target = { type: "campaign", id };
        await recordAudit(trx, { by, action: "campaign.delete", target, account_id, fields: [] });
        if (campaign.lane === null) return lanes;
        // The lane's owner finds no campaign and ends the lane.
        const now = sql<Date>`now()`;
        await trx.updateTable("job").set({ run_at: now }).where("lane", "=", campaign.lane).execute();
        return [...lanes, campaign.lane];
      });
      engine.wake(lanes, { changed: true });
      return { id };
    },
  };
}
