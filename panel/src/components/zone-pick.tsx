import { PickList } from "./pick-list.tsx";

interface ZonePickProps {
  label: string;
  hint: string;
  /** Empty: none is chosen. */
  value: string;
  /** The choice of none; default: one must be chosen. */
  none?: string;
  onChange(zone: string): void;
}

/** A choice among the time zones that this browser knows, and the chosen one: zones have several names. */
export function ZonePick({ label, hint, value, none, onChange }: ZonePickProps) {
  const zones = allZones(value).map((zone) => [zone, zone.replaceAll("_", " ")]);
  const options = Object.fromEntries(none === undefined ? zones : [["", none], ...zones]);
  return <PickList label={label} hint={hint} value={value} options={options} onChange={onChange} />;
}

function allZones(chosen: string): string[] {
  const zones = new Set([...Intl.supportedValuesOf("timeZone"), "UTC", chosen]);
  zones.delete("");
  return [...zones].sort();
}
