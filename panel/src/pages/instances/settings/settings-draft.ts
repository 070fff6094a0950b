import type { gateway, Instance } from "../../../gateway/gateway.ts";

/** The settings form; numbers as typed. */
export interface SettingsDraft {
  name: string;
  metadata: string;
  webhook_enabled: boolean;
  reject_calls: boolean;
  reject_message: string;
  ignore_groups: boolean;
  mark_online: boolean;
  read_messages: boolean;
  delay_min: string;
  delay_max: string;
  messages_per_minute: string;
  media_retention_days: string;
  on_unknown: "resend" | "fail";
  device_name: string;
  default_country: string;
}

type Change = Omit<Parameters<typeof gateway.updateInstance>[0], "id">;

/** Form fields by the request field whose errors they show. */
export const FORM_FIELDS: Readonly<Record<string, keyof SettingsDraft>> = {
  name: "name",
  metadata: "metadata",
  "settings.reject_message": "reject_message",
  "settings.send_delay_min_ms": "delay_min",
  "settings.send_delay_max_ms": "delay_max",
  "settings.messages_per_minute": "messages_per_minute",
  "settings.media_retention_days": "media_retention_days",
  "settings.device_name": "device_name",
};

export function toDraft({ name, metadata, webhook_enabled, settings }: Instance): SettingsDraft {
  const { send_delay_min_ms, send_delay_max_ms, messages_per_minute, media_retention_days, ...rest } =
    settings;
  return {
    name,
    metadata: Object.keys(metadata).length === 0 ? "" : JSON.stringify(metadata, null, 2),
    webhook_enabled,
    reject_calls: rest.reject_calls,
    reject_message: rest.reject_message ?? "",
    ignore_groups: rest.ignore_groups,
    mark_online: rest.mark_online,
    read_messages: rest.read_messages,
    delay_min: String(send_delay_min_ms / 1_000),
    delay_max: String(send_delay_max_ms / 1_000),
    messages_per_minute: messages_per_minute === null ? "" : String(messages_per_minute),
    media_retention_days: media_retention_days === null ? "" : String(media_retention_days),
    on_unknown: rest.on_unknown,
    device_name: rest.device_name ?? "",
    default_country: rest.default_country ?? "",
  };
}

/** Client-side validation errors. */
export type DraftError = "number" | "json";

export function findDraftErrors(draft: SettingsDraft): Partial<Record<keyof SettingsDraft, DraftError>> {
  const errors: Partial<Record<keyof SettingsDraft, DraftError>> = {};
  for (const field of ["delay_min", "delay_max"] as const)
    if (!/^\d{1,4}([.,]\d{1,3})?$/.test(draft[field].trim())) errors[field] = "number";
  for (const field of ["messages_per_minute", "media_retention_days"] as const)
    if (!/^\d{0,7}$/.test(draft[field].trim())) errors[field] = "number";
  if (readMetadata(draft.metadata) === undefined) errors.metadata = "json";
  return errors;
}

/** The request for a valid draft. */
export function toChange(draft: SettingsDraft): Change {
  return {
    name: draft.name,
    metadata: readMetadata(draft.metadata) ?? {},
    webhook_enabled: draft.webhook_enabled,
    settings: {
      reject_calls: draft.reject_calls,
      reject_message: draft.reject_message.trim() === "" ? null : draft.reject_message,
      ignore_groups: draft.ignore_groups,
      mark_online: draft.mark_online,
      read_messages: draft.read_messages,
      send_delay_min_ms: toMilliseconds(draft.delay_min),
      send_delay_max_ms: toMilliseconds(draft.delay_max),
      messages_per_minute: toNumber(draft.messages_per_minute),
      media_retention_days: toNumber(draft.media_retention_days),
      on_unknown: draft.on_unknown,
      device_name: draft.device_name.trim() === "" ? null : draft.device_name,
      default_country: draft.default_country || null,
    },
  };
}

function toMilliseconds(text: string): number {
  return Math.round(Number(text.trim().replace(",", ".")) * 1_000);
}

function toNumber(text: string): number | null {
  return text.trim() === "" ? null : Number(text);
}

/** Undefined if the text is no JSON object. */
function readMetadata(text: string): Record<string, unknown> | undefined {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
