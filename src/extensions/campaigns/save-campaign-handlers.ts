import { type Insertable, sql } from "kysely";
import { requireUser } from "../../core/accounts/accounts.ts";
import { getInstance } from "../../core/instances/instances.ts";
import {
  deleteOutgoing,
  type MediaOptions,
  readMedia,
  type StoredMedia,
  showsCaption,
} from "../../core/messages/messages.ts";
import type { Trx } from "../../platform/db/database.ts";
import { type GatewayError, invalidField } from "../../platform/gateway-error.ts";
import type { Handlers } from "../../platform/http/handler.ts";
import { runIdempotently } from "../../platform/http/run-idempotently.ts";
import type { SecretBox } from "../../platform/secrets/secret-box.ts";
import { MAX_VARIABLES, variablesOf } from "../../platform/text/render-template.ts";
import type { CampaignTable } from "../../tables.ts";
import {
  type CampaignRow,
  type CampaignView,
  getCampaign,
  idempotentRequestOf,
  lockCampaign,
  requireCampaignQuota,
  throwInvalidState,
  toCampaignView,
} from "./campaign-row.ts";
import type { campaignsContract } from "./contract.ts";

type SaveHandlers = Pick<Handlers<typeof campaignsContract>, "createCampaign" | "updateCampaign">;
type CampaignInput = Parameters<SaveHandlers["updateCampaign"]>[0]["input"];
type File = Pick<CampaignInput, "media" | "file">;
/** The settings of a request, without the file. */
type Settings = Omit<CampaignInput, "id" | keyof File>;
type NewSettings = Omit<Parameters<SaveHandlers["createCampaign"]>[0]["input"], keyof File>;
/** Undefined: unchanged. */
type Media = StoredMedia | null | undefined;

export interface SaveCampaignDeps extends MediaOptions {
  box: SecretBox;
}

export function saveCampaignHandlers(options: SaveCampaignDeps): SaveHandlers {
  const { db } = options;
  return {
    async createCampaign({ input, caller, idempotencyKey }) {
      const { media, file, ...settings } = input;
      const user = requireUser(caller);
      const { account_id } = user;
      requireSense(settings);
      if (settings.message_template.trim() === "" && !media && !file) throw missingTemplate();
      await getInstance(db, settings.instance_id, user);
      const once = idempotentRequestOf("campaigns", user, input, idempotencyKey);
      return withFile({ ...options, account_id }, { media, file }, (stored) =>
        runIdempotently(options, once, (trx) => create(trx, account_id, settings, stored)),
      );
    },

    async updateCampaign({ input: { id, media, file, ...settings }, caller }) {
      const user = requireUser(caller);
      const { account_id } = user;
      // Rejects what can be rejected without the file before the file is fetched.
      requireOpen(await getCampaign(db, user, id));
      if (settings.instance_id !== undefined) await getInstance(db, settings.instance_id, user);
      return withFile({ ...options, account_id }, { media, file }, (stored) =>
        db.transaction().execute(async (trx) => {
          const campaign = await lockCampaign(trx, user, id);
          return toCampaignView(await update(trx, campaign, settings, stored));
        }),
      );
    },
  };
}

async function create(
  trx: Trx,
  account_id: number,
  { quiet_hours, scheduled_at, ...plain }: NewSettings,
  media: Media,
): Promise<CampaignView> {
  requireShown(plain.message_template, media);
  await requireCampaignQuota(trx, account_id);
  const columns = toColumns({ quiet_hours, scheduled_at }, media);
  return toCampaignView(await insert(trx, { ...plain, ...columns, account_id }));
}

/** Throws for a text that no recipient would see. */
function requireShown(template: string, media: Media): void {
  if (!media || showsCaption(media) || template.trim() === "") return;
  throw invalidField(
    "message_template",
    "is not shown with audio or a sticker. Empty it, and send the text in a campaign of its own",
    "not_allowed_here",
  );
}

function missingTemplate(): GatewayError {
  return invalidField("message_template", "is required: a campaign without media needs a text", "missing");
}

function requireSense({
  min_delay_ms = 0,
  max_delay_ms = min_delay_ms,
  message_template = "",
}: Pick<Settings, "min_delay_ms" | "max_delay_ms" | "message_template">): void {
  if (variablesOf(message_template).length > MAX_VARIABLES)
    throw invalidField(
      "message_template",
      `has more than ${MAX_VARIABLES} different variables. Use fewer, or put longer texts into one of them`,
      "too_many",
      { max: MAX_VARIABLES },
    );
  if (min_delay_ms > max_delay_ms)
    throw invalidField("min_delay_ms", "is greater than max_delay_ms", "greater_than", {
      other: "max_delay_ms",
    });
}

/** Stores the file of a campaign once for all its recipients; deletes it if the campaign is rejected. */
async function withFile<Answer>(
  options: MediaOptions & { account_id: number },
  { media, file }: File,
  save: (media: Media) => Promise<Answer>,
): Promise<Answer> {
  if (!media && !file) return save(media === null ? null : undefined);
  const { upload, ...stored } = await readMedia({ ...media, file }, options);
  try {
    return await save({ ...stored, shared: upload });
  } catch (error) {
    if (upload) await deleteOutgoing(options.db, [upload]).catch(() => {});
    throw error;
  }
}

/** Settings whose stored form differs from the input. */
function toColumns({ quiet_hours, scheduled_at }: Settings, media: Media) {
  return {
    ...(media !== undefined && { media: media && JSON.stringify(media) }),
    ...(quiet_hours !== undefined && { quiet_hours: quiet_hours && JSON.stringify(quiet_hours) }),
    ...(scheduled_at !== undefined && {
      scheduled_at: scheduled_at === null ? null : new Date(scheduled_at),
    }),
  };
}

function insert(trx: Trx, row: Insertable<CampaignTable>): Promise<CampaignRow> {
  return trx
    .insertInto("campaign")
    .values(row)
    .returningAll()
    .$castTo<CampaignRow>()
    .executeTakeFirstOrThrow();
}

function requireOpen(campaign: CampaignRow): void {
  if (campaign.status !== "created" && campaign.status !== "paused") throwInvalidState(campaign, "changed");
}

async function update(
  trx: Trx,
  campaign: CampaignRow,
  settings: Settings,
  media: Media,
): Promise<CampaignRow> {
  requireOpen(campaign);
  const { quiet_hours, scheduled_at, ...plain } = settings;
  const after = { ...campaign, ...plain, ...(media !== undefined && { media }) };
  requireSense(after);
  if (after.message_template.trim() === "" && !after.media) throw missingTemplate();
  if (media !== undefined || plain.message_template !== undefined)
    requireShown(after.message_template, after.media);
  const columns = toColumns({ quiet_hours, scheduled_at }, media);
  return trx
    .updateTable("campaign")
    .set({ ...plain, ...columns, next_at: null, updated_at: sql<Date>`now()` })
    .where("id", "=", campaign.id)
    .returningAll()
    .$castTo<CampaignRow>()
    .executeTakeFirstOrThrow();
}
