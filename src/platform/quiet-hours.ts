import { LRUCache } from "lru-cache";
import { maxEntries } from "./limits/max-entries.ts";

/** From one time of day such as `22:00` to another, perhaps of the next day, on the clocks of a time zone. */
export interface QuietHours {
  from: string;
  to: string;
  time_zone: string;
}

/**
 * The end of the quiet hours that contain this moment; undefined outside quiet hours. They are the time between two
 * moments: what the clocks show twice or never in the night of a clock change makes them longer or shorter.
 */
export function endOfQuietHours({ from, to, time_zone }: QuietHours, at: Date): Date | undefined {
  const [first, last] = [minuteOf(from), minuteOf(to)];
  const today = zonedTime(at, time_zone).day;
  for (const day of [dayBefore(today), today]) {
    const begin = instantOf({ day, minute: first }, time_zone);
    const end = instantOf({ day: last < first ? dayAfter(day) : day, minute: last }, time_zone);
    if (begin <= at && at < end) return end;
  }
  return undefined;
}

function minuteOf(clock: string): number {
  const [hour = 0, minute = 0] = clock.split(":").map(Number);
  return hour * 60 + minute;
}

/** A day and a time of day on the clocks of a time zone. */
interface ZonedTime {
  /** Such as `2026-11-20`. */
  day: string;
  /** Minutes since midnight. */
  minute: number;
}

/** A name of a time zone has many spellings, and a format takes 36 KB. */
const formats = new LRUCache<string, Intl.DateTimeFormat>(maxEntries(100));

function formatOf(tz: string): Intl.DateTimeFormat {
  const known = formats.get(tz);
  if (known) return known;
  const made = new Intl.DateTimeFormat("en-US", {
    timeZone: tz,
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
  });
  formats.set(tz, made);
  return made;
}

function partsOf(at: Date, tz: string): Record<string, string> {
  return Object.fromEntries(
    formatOf(tz)
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  );
}

/** The time on the zone's clocks at this moment. */
export function zonedTime(at: Date, tz: string): ZonedTime {
  const { year, month, day, hour, minute } = partsOf(at, tz);
  return { day: `${year}-${month}-${day}`, minute: Number(hour) * 60 + Number(minute) };
}

/**
 * The moment at which the zone's clocks show this time: the first one if they show it twice. If a clock change skips
 * it, as long after the change as it is after the skipped hour began.
 */
export function instantOf({ day, minute }: ZonedTime, tz: string): Date {
  const asUtc = Date.parse(`${day}T00:00:00Z`) + minute * 60_000;
  const [before, after] = [-DAY_MS, DAY_MS].map(
    (shift) => new Date(asUtc - offsetMs(new Date(asUtc + shift), tz)),
  ) as [Date, Date];
  const isShown = (at: Date) => at.getTime() + offsetMs(at, tz) === asUtc;
  return !isShown(before) && isShown(after) ? after : before;
}

const DAY_MS = 86_400_000;

/** How far clocks in the zone are ahead of UTC. */
function offsetMs(at: Date, tz: string): number {
  const { year, month, day, hour, minute, second } = partsOf(at, tz);
  const shown = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return shown - Math.floor(at.getTime() / 1000) * 1000;
}

export function dayAfter(day: string): string {
  return shiftDay(day, DAY_MS);
}

function dayBefore(day: string): string {
  return shiftDay(day, -DAY_MS);
}

function shiftDay(day: string, ms: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + ms).toISOString().slice(0, 10);
}
