import type { CheckedNumber } from "../../../components/csv/number-check.tsx";
import type { gateway } from "../../../gateway/gateway.ts";
import type { Campaign } from "../campaigns-queries.ts";
import { toLocal, toMoment } from "../zoned-time.ts";

/** A recipient from a file or from the contacts. */
export interface PickedRecipient extends CheckedNumber {
  variables: Record<string, string>;
}

export interface CampaignDraft {
  name: string;
  instance: number | undefined;
  template: string;
  file: File | undefined;
  fileUrl: string;
  keepsFile: boolean;
  shortestS: string;
  longestS: string;
  isScheduled: boolean;
  scheduledAt: string;
  hasQuietHours: boolean;
  quietStart: string;
  quietEnd: string;
  zone: string;
  dailyLimit: string;
  needsConsent: boolean;
  consentPurpose: string;
  stopPercent: string;
  /** Recipients without a country code get the gateway's default one. */
  addsCountry: boolean;
}

/** `zone` is the initial time zone. */
export function emptyDraft(zone: string): CampaignDraft {
  return {
    name: "",
    instance: undefined,
    template: "",
    file: undefined,
    fileUrl: "",
    keepsFile: false,
    shortestS: "3",
    longestS: "9",
    isScheduled: false,
    scheduledAt: "",
    hasQuietHours: false,
    quietStart: "20:00",
    quietEnd: "08:00",
    zone,
    dailyLimit: "",
    needsConsent: false,
    consentPurpose: "",
    stopPercent: "50",
    addsCountry: false,
  };
}

/** `accountZone` applies to a campaign without a time zone. */
export function draftOf(campaign: Campaign, accountZone: string): CampaignDraft {
  const zone = campaign.quiet_hours?.tz ?? accountZone;
  const { scheduled_at, quiet_hours, stop_on_error_rate: stop } = campaign;
  return {
    ...emptyDraft(zone),
    name: campaign.name,
    instance: campaign.instance_id,
    template: campaign.message_template,
    keepsFile: campaign.media !== null,
    shortestS: String(campaign.min_delay_ms / 1_000),
    longestS: String(campaign.max_delay_ms / 1_000),
    isScheduled: scheduled_at !== null,
    scheduledAt: scheduled_at === null ? "" : toLocal(new Date(scheduled_at), zone),
    hasQuietHours: quiet_hours !== null,
    ...(quiet_hours && { quietStart: quiet_hours.start, quietEnd: quiet_hours.end }),
    zone,
    dailyLimit: campaign.daily_limit === null ? "" : String(campaign.daily_limit),
    needsConsent: campaign.consent_purpose !== null,
    consentPurpose: campaign.consent_purpose ?? "",
    stopPercent: stop === null ? "" : String(Math.round(stop * 100)),
  };
}

export type DraftError = "required" | "number" | "order" | "past" | "same" | "percent" | "time";
export type DraftErrors = Partial<Record<keyof CampaignDraft, DraftError>>;

export const MESSAGE_FIELDS = ["name", "instance", "template"] as const;

/** Validation errors by field. */
export function findErrors(draft: CampaignDraft, now = new Date()): DraftErrors {
  const hasFile = draft.file !== undefined || draft.fileUrl.trim() !== "" || draft.keepsFile;
  return {
    ...(draft.name.trim() === "" && { name: "required" }),
    ...(draft.instance === undefined && { instance: "required" }),
    ...(draft.template.trim() === "" && !hasFile && { template: "required" }),
    ...findDelayErrors(draft),
    ...findScheduleErrors(draft, now),
    ...(draft.hasQuietHours && draft.quietStart === draft.quietEnd && { quietEnd: "same" }),
    ...(draft.dailyLimit !== "" && !/^[1-9]\d{0,6}$/.test(draft.dailyLimit) && { dailyLimit: "number" }),
    ...(draft.needsConsent && draft.consentPurpose.trim() === "" && { consentPurpose: "required" }),
    ...(draft.stopPercent !== "" && !isPercent(draft.stopPercent) && { stopPercent: "percent" }),
  };
}

function findDelayErrors({ shortestS, longestS }: CampaignDraft): DraftErrors {
  const isDelay = (text: string) => text.trim() !== "" && Number(text) >= 0 && Number(text) <= 86_400;
  if (!isDelay(shortestS)) return { shortestS: "number" };
  if (!isDelay(longestS)) return { longestS: "number" };
  return Number(longestS) < Number(shortestS) ? { longestS: "order" } : {};
}

function findScheduleErrors({ isScheduled, scheduledAt, zone }: CampaignDraft, now: Date): DraftErrors {
  if (!isScheduled) return {};
  const at = toMoment(scheduledAt, zone);
  if (at === undefined) return { scheduledAt: "time" };
  return at <= now ? { scheduledAt: "past" } : {};
}

function isPercent(text: string): boolean {
  return Number(text) >= 1 && Number(text) <= 100;
}

type CampaignInput = Parameters<typeof gateway.createCampaign>[0];

/** The request that stores the draft. */
export async function toCampaignInput(draft: CampaignDraft): Promise<CampaignInput> {
  const { instance, zone } = draft;
  const at = draft.isScheduled ? toMoment(draft.scheduledAt, zone) : undefined;
  return {
    name: draft.name.trim(),
    instance_id: instance ?? 0,
    message_template: draft.template,
    ...(await toMedia(draft)),
    min_delay_ms: Math.round(Number(draft.shortestS) * 1_000),
    max_delay_ms: Math.round(Number(draft.longestS) * 1_000),
    scheduled_at: at?.toISOString() ?? null,
    quiet_hours: draft.hasQuietHours ? { start: draft.quietStart, end: draft.quietEnd, tz: zone } : null,
    daily_limit: draft.dailyLimit === "" ? null : Number(draft.dailyLimit),
    consent_purpose: draft.needsConsent ? draft.consentPurpose.trim() : null,
    stop_on_error_rate: draft.stopPercent === "" ? null : Number(draft.stopPercent) / 100,
  };
}

async function toMedia({ file, fileUrl, keepsFile }: CampaignDraft): Promise<Pick<CampaignInput, "media">> {
  if (file !== undefined) {
    const base64 = (await readDataUrl(file)).replace(/^[^,]{0,300},/, "");
    return { media: { base64, file_name: file.name, ...(file.type && { mime_type: file.type }) } };
  }
  if (fileUrl.trim() !== "") return { media: { url: fileUrl.trim() } };
  // An absent field keeps the stored file.
  return keepsFile ? {} : { media: null };
}

function readDataUrl(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}
