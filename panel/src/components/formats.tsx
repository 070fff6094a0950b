import { useFormatter, useNow, useTranslations } from "use-intl";

/** A relative time, with the exact local time as tooltip. */
export function RelativeTime({ at }: { at: string | Date }) {
  const format = useFormatter();
  const now = useNow({ updateInterval: 10_000 });
  const date = new Date(at);
  const exact = format.dateTime(date, { dateStyle: "full", timeStyle: "long" });
  // A slow clock must not show a past time as "in 2 seconds".
  const shown = new Date(Math.min(date.getTime(), now.getTime()));
  return (
    <time dateTime={date.toISOString()} title={exact}>
      {format.relativeTime(shown, now)}
    </time>
  );
}

const UNITS = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"] as const;

export function useSizeFormat(): (bytes: number) => string {
  const format = useFormatter();
  return (bytes) => {
    const step = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log(bytes) / Math.log(1024)));
    const unit = UNITS[step] ?? "byte";
    return format.number(bytes / 1024 ** step, { style: "unit", unit, maximumFractionDigits: 1 });
  };
}

/** Country code, area code and subscriber number of Brazil and North America. */
const KNOWN = [/^(55)(\d{2})(\d{4,5})(\d{4})$/, /^(1)(\d{3})(\d{3})(\d{4})$/];

/** Country codes have three digits, with these exceptions. */
const CALLING_CODE = /^(?:[17]|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|\d{3})(?=\d{5})/;

/** Formats digits as an international number in groups of three. */
export function formatPhone(digits: string): string {
  for (const pattern of KNOWN) {
    const known = pattern.exec(digits);
    if (known) return `+${known[1]} ${known[2]} ${known[3]}-${known[4]}`;
  }
  if (!/^\d{8,15}$/.test(digits)) return digits;
  const [code = ""] = CALLING_CODE.exec(digits) ?? [];
  const rest = digits.slice(code.length);
  const first = rest.length % 3;
  const groups = [rest.slice(0, first), ...(rest.slice(first).match(/\d{3}/g) ?? [])];
  return `+${code} ${groups.filter((group) => group !== "").join(" ")}`;
}

/** Undefined if the name has no visible character. */
export function visibleName(name: string | null | undefined): string | undefined {
  return name && /[^\p{C}\p{Z}\p{M}\u115f\u1160\u2800\u3164\uffa0]/u.test(name) ? name : undefined;
}

/** Statuses of contacts are free texts of the account, except the first, which the gateway sets. */
export function useContactStatus(): (status: string) => string {
  const t = useTranslations("crm");
  return (status) => (status === "new" ? t("statusNew") : status);
}
