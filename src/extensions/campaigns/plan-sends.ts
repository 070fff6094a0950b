import { LRUCache } from "lru-cache";
import { maxEntries } from "../../platform/limits/max-entries.ts";

export interface QuietHours {
  start: string;
  end: string;
  tz: string;
}

/** The pauses and limits between the recipients of a campaign. */
export interface SendSchedule {
  min_delay_ms: number;
  max_delay_ms: number;
  quiet_hours: QuietHours | null;
  daily_limit: number | null;
  /** Of the account, for a campaign without quiet hours; null: UTC. */
  time_zone: string | null;
}

export interface PlanSendsInput {
  schedule: SendSchedule;
  /** The earliest moment of the first. */
  from: Date;
  /** Nothing is planned after this. */
  until: Date;
  /** Recipients at most. */
  count: number;
  /** Recipients planned so far for the day of `from`. */
  plannedToday: number;
  /** Between 0 and 1. */
  random: () => number;
}

export interface SendPlan {
  moments: Date[];
  /** The earliest moment of the next recipient. */
  nextAt: Date;
  /** What moved `nextAt` there; null: only a short pause between two recipients. */
  waitingFor: "quiet_hours" | "daily_limit" | "delay" | null;
}

/** A shorter pause between two recipients is no wait. */
const SHORTEST_PAUSE_MS = 10_000;

/** When the day that contains this moment began, in the time zone in which the campaign counts days. */
export function startOfDay(schedule: SendSchedule, at: Date): Date {
  const tz = timeZoneOf(schedule);
  return instantOf({ day: zonedTime(at, tz).day, minute: 0 }, tz);
}

function timeZoneOf({ quiet_hours, time_zone }: SendSchedule): string {
  return quiet_hours?.tz ?? time_zone ?? "UTC";
}

/** Plans moments for the next recipients, outside quiet hours and within the daily limit. */
export function planSends({ schedule, from, until, count, plannedToday, random }: PlanSendsInput): SendPlan {
  const tz = timeZoneOf(schedule);
  const moments: Date[] = [];
  let day = zonedTime(from, tz).day;
  let planned = plannedToday;
  let nextAt = from;
  for (;;) {
    if (zonedTime(nextAt, tz).day !== day) planned = 0;
    const opening = open(schedule, nextAt, planned);
    nextAt = opening.at;
    const today = zonedTime(nextAt, tz).day;
    if (today !== day) planned = 0;
    day = today;
    if (moments.length >= count || nextAt > until) {
      const previous = moments.at(-1)?.getTime() ?? Number.NEGATIVE_INFINITY;
      const isPause = nextAt > until && nextAt.getTime() - previous > SHORTEST_PAUSE_MS;
      return { moments, nextAt, waitingFor: opening.waitingFor ?? (isPause ? "delay" : null) };
    }
    moments.push(nextAt);
    planned += 1;
    const { min_delay_ms, max_delay_ms } = schedule;
    nextAt = new Date(nextAt.getTime() + min_delay_ms + random() * (max_delay_ms - min_delay_ms));
  }
}

/** The first moment from `at` on at which one more message may go out, and what moved it there. */
function open(
  schedule: SendSchedule,
  at: Date,
  planned: number,
): { at: Date; waitingFor: SendPlan["waitingFor"] } {
  const tz = timeZoneOf(schedule);
  const isFull = schedule.daily_limit !== null && planned >= schedule.daily_limit;
  const from = isFull ? instantOf({ day: dayAfter(zonedTime(at, tz).day), minute: 0 }, tz) : at;
  const end = schedule.quiet_hours ? endOfQuiet(schedule.quiet_hours, from) : undefined;
  return { at: end ?? from, waitingFor: isFull ? "daily_limit" : end ? "quiet_hours" : null };
}

/** The end of the quiet hours that contain this moment; undefined outside quiet hours. */
function endOfQuiet({ start, end, tz }: QuietHours, at: Date): Date | undefined {
  const { day, minute } = zonedTime(at, tz);
  const [first, last] = [minuteOf(start), minuteOf(end)];
  const isOverNight = last < first;
  const isQuiet = isOverNight ? minute >= first || minute < last : minute >= first && minute < last;
  if (!isQuiet) return undefined;
  const endDay = isOverNight && minute >= first ? dayAfter(day) : day;
  return instantOf({ day: endDay, minute: last }, tz);
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
function zonedTime(at: Date, tz: string): ZonedTime {
  const { year, month, day, hour, minute } = partsOf(at, tz);
  return { day: `${year}-${month}-${day}`, minute: Number(hour) * 60 + Number(minute) };
}

/**
 * The moment at which the zone's clocks show this time; if a clock change skips it, the moment after the
 * change.
 */
function instantOf({ day, minute }: ZonedTime, tz: string): Date {
  const asUtc = Date.parse(`${day}T00:00:00Z`) + minute * 60_000;
  const first = asUtc - offsetMs(new Date(asUtc), tz);
  const second = asUtc - offsetMs(new Date(first), tz);
  return new Date(Math.max(first, second));
}

/** How far clocks in the zone are ahead of UTC. */
function offsetMs(at: Date, tz: string): number {
  const { year, month, day, hour, minute, second } = partsOf(at, tz);
  const shown = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return shown - Math.floor(at.getTime() / 1000) * 1000;
}

function dayAfter(day: string): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 10);
}
