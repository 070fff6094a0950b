/** A number as a bot reads it: of "1.234,5" and "1,234.5" the last mark is the decimal one. */
export function readNumber(text: string): string {
  const given = text.trim();
  if (!/^[+-]?[\d.,\s]*\d$/.test(given)) return given;
  const digits = given.replace(/\s/g, "");
  const decimal = decimalOf(digits);
  if (decimal === undefined) return digits.replace(/[.,]/g, "");
  const at = digits.lastIndexOf(decimal);
  return `${digits.slice(0, at).replace(/[.,]/g, "")}.${digits.slice(at + 1)}`;
}

/** The last mark, unless it stands several times and no other does: then it groups thousands. */
function decimalOf(digits: string): string | undefined {
  const marks = digits.match(/[.,]/g) ?? [];
  const last = marks.at(-1);
  if (last === undefined) return undefined;
  if (marks.length === 1) return last;
  return marks.every((mark) => mark === last) ? undefined : last;
}

/** Bots read English dates only. */
const DAYS: Readonly<Record<string, string>> = {
  hoje: "today",
  amanha: "tomorrow",
  ontem: "yesterday",
  hoy: "today",
  manana: "tomorrow",
  ayer: "yesterday",
};

/** A date as a bot reads it: a day before its month is put in an order that every reader understands. */
export function readDate(text: string, format: unknown): string {
  const word = text.trim().toLowerCase().normalize("NFD").replace(/\p{M}/gu, "");
  const day = DAYS[word];
  if (day !== undefined) return day;
  const isMonthFirst = typeof format === "string" && /^M/.test(format);
  return text.trim().replace(/\b(\d{1,2})[/.-](\d{1,2})[/.-](\d{4}|\d{2})\b/g, (whole, one, two, year) => {
    const [d, m] = isMonthFirst ? [two, one] : [one, two];
    if (Number(m) < 1 || Number(m) > 12 || Number(d) < 1 || Number(d) > 31) return whole;
    return `${year.length === 2 ? `20${year}` : year}-${m.padStart(2, "0")}-${d.padStart(2, "0")}`;
  });
}
