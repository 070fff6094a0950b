import { simplify } from "../simplify.ts";

/** A longer text is not a date. */
const LONGEST = 200;

/**
 * A time in the bot's format, from "15h30", "às 3 da tarde", "a las 15:30", "meio-dia" or "8"; else the text
 * itself.
 */
export function readTime(text: string): string {
  const simple = simplify(text);
  if (simple.length > LONGEST) return text;
  const normalised = simple
    .replace(/^(\d{1,2})$/, "$1h")
    .replace(/^(\D*)(\d{1,2})\.(\d{2})(?!\d)/, "$1$2:$3");
  const time = toClockTimes(normalised);
  return time === simple ? text.trim() : time;
}

/**
 * A date in the bot's format. Bots read only English dates, so days before months, Portuguese and Spanish
 * words, times and ranges are converted to an unambiguous form. Else the text itself.
 */
export function readDate(text: string, { format, isRange }: { format?: unknown; isRange?: unknown }): string {
  const simple = simplify(text);
  if (simple.length > LONGEST) return text;
  const isMonthFirst = typeof format === "string" && /^M/.test(format);
  const date = toIsoDates(toEnglishWords(toClockTimes(simple)), isMonthFirst);
  const read = isRange === true ? toRange(date) : date;
  return read === simple ? text.trim() : read;
}

const NAMED_TIMES =
  /(?:\b(?:ao?|al) )?\b(?:(meio[ -]dia|medio ?dia)|(?:a )?(?:meia[ -]noite|media ?noche))( e meia| y media)?\b/g;
const CLOCK_TIME =
  /(?:\b(?:as|a las?|pelas) )?(?<![\w/.:-])(\d{1,2})(?: ?h(?:s|rs?|oras?)?(?: ?(?:e )?(\d{2}))?(?: ?m(?:in(?:utos)?)?)?|:(\d{2})(?:hs?)?)?( e meia| y media)?(?: (?:da|de la) (manha|tarde|noite|madrugada|manana|noche))?(?![\w/:-]|\.\d)/g;

/** Replaces "15h30" and similar formats with "15:30", anywhere in the text; expects a simplified text. */
function toClockTimes(text: string): string {
  return text
    .replace(NAMED_TIMES, (_, noon: string | undefined, half: string | undefined) =>
      clock(noon ? 12 : 0, half ? 30 : 0),
    )
    .replace(
      CLOCK_TIME,
      (whole: string, hour: string, minutes1, minutes2, half, part: string | undefined) => {
        if (whole === hour) return whole;
        const minutes = Number(minutes1 ?? minutes2 ?? (half ? 30 : 0));
        const hours = onTheDay(Number(hour), part);
        return hours > 24 || minutes > 59 ? whole : clock(hours % 24, minutes);
      },
    );
}

function onTheDay(hour: number, part: string | undefined): number {
  if (part === undefined || hour > 12) return hour;
  if (part === "tarde") return hour === 12 ? 12 : hour + 12;
  if (part === "noite" || part === "noche") return hour === 12 ? 0 : hour + 12;
  return hour % 12;
}

function clock(hours: number, minutes: number): string {
  return `${String(hours).padStart(2, "0")}:${String(minutes).padStart(2, "0")}`;
}

const MONTHS: Readonly<Record<string, string>> = {
  janeiro: "january",
  enero: "january",
  fevereiro: "february",
  febrero: "february",
  marco: "march",
  marzo: "march",
  abril: "april",
  maio: "may",
  mayo: "may",
  junho: "june",
  junio: "june",
  julho: "july",
  julio: "july",
  agosto: "august",
  setembro: "september",
  septiembre: "september",
  outubro: "october",
  octubre: "october",
  novembro: "november",
  noviembre: "november",
  dezembro: "december",
  diciembre: "december",
};
const NAMED_DAY = /(\d{1,2})[ºo°]?(?: de)? ([a-z]{4,10})\b(?: (?:de |del )?(\d{4})\b)?/g;
const DAYS: Readonly<Record<string, string>> = {
  "depois de amanha": "in 2 days",
  "pasado manana": "in 2 days",
  hoje: "today",
  amanha: "tomorrow",
  ontem: "yesterday",
  hoy: "today",
  manana: "tomorrow",
  ayer: "yesterday",
};
const DAY = /\b(?:depois de amanha|pasado manana|hoje|amanha|ontem|hoy|manana|ayer)\b/g;

function toEnglishWords(text: string): string {
  return text
    .replace(NAMED_DAY, (whole, day: string, word: string, year: string | undefined) => {
      const month = MONTHS[word];
      if (month === undefined) return whole;
      return year === undefined ? `${day} ${month}` : `${day} ${month} ${year}`;
    })
    .replace(DAY, (day) => DAYS[day] ?? day);
}

function toIsoDates(text: string, isMonthFirst: boolean): string {
  return text.replace(/\b(\d{1,2})[/.-](\d{1,2})[/.-](\d{4}|\d{2})\b/g, (whole, one, two, year) => {
    const [d, m] = isMonthFirst ? [two, one] : [one, two];
    if (Number(m) < 1 || Number(m) > 12 || Number(d) < 1 || Number(d) > 31) return whole;
    return `${year.length === 2 ? `20${year}` : year}-${m.padStart(2, "0")}-${d.padStart(2, "0")}`;
  });
}

/** Joins both ends with a dash: bots read "to" as a part of a time. */
function toRange(text: string): string {
  return text
    .replace(/(\d{4}-\d{2}-\d{2}|\d{2}:\d{2}) ?[-–—] ?(?=\d)/g, "$1 - ")
    .replace(/^(?:de|do|del|desde|entre|from)(?: o)?(?: el)? (?:dia )?(?=[\dty])/, "")
    .replace(
      /(?<=[\da-z]) (?:a|ao?|al|ate|hasta|e|y|to)(?: [oe]l?)?(?: dia)? (?=\d|today|tomorrow|in 2 days)/g,
      " - ",
    );
}
