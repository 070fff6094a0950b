import type { z } from "zod";
import { invalidField } from "../../platform/errors.ts";
import { DEFAULT_SETTINGS, flatSettings, type settings } from "./contract.ts";

export type InstanceSettings = z.output<typeof settings>;

/** What the customer has set once a request is applied, flat or inside `settings`; what it does not name stays. */
export function readSettings(
  current: Partial<InstanceSettings>,
  request: { settings?: Partial<InstanceSettings> } & z.output<typeof flatSettings>,
): Partial<InstanceSettings> {
  const named = { ...flatSettings.parse(request), ...request.settings };
  const given = Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined));
  const merged: Partial<InstanceSettings> = { ...current, ...given };
  const { send_delay_min_ms: min, send_delay_max_ms: max } = { ...DEFAULT_SETTINGS, ...merged };
  if (min > max) throw invalidField("settings.send_delay_min_ms", `is more than send_delay_max_ms (${max})`);
  return merged;
}
