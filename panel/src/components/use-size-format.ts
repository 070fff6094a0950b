import { useFormatter } from "use-intl";

const UNITS = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"] as const;

/** Writes a number of bytes with the unit that keeps it short. */
export function useSizeFormat(): (bytes: number) => string {
  const format = useFormatter();
  return (bytes) => {
    const step = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log(bytes) / Math.log(1024)));
    const unit = UNITS[step] ?? "byte";
    return format.number(bytes / 1024 ** step, { style: "unit", unit, maximumFractionDigits: 1 });
  };
}
