import type { WABusinessProfile } from "baileys";
import type { BusinessHours } from "../../business.ts";

/** Undefined for a business that shows none. */
export function readBusinessHours({ business_hours: hours }: WABusinessProfile): BusinessHours | undefined {
  const days = (hours?.business_config ?? []) as unknown as Record<string, string | undefined>[];
  if (days.length === 0) return undefined;
  return {
    timezone: hours?.timezone ?? null,
    days: days.map(({ day_of_week = "", mode = "", open_time, close_time }) => ({
      day: day_of_week,
      mode,
      opens: timeOf(open_time),
      closes: timeOf(close_time),
    })),
  };
}

/** Minutes since midnight as `HH:MM`. */
function timeOf(minutes: string | undefined): string | null {
  const count = Number(minutes);
  if (minutes === undefined || !(count >= 0 && count <= 1440)) return null;
  return [Math.floor(count / 60), count % 60].map((part) => String(part).padStart(2, "0")).join(":");
}
