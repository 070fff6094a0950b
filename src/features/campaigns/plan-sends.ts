import { dayAfter, instantOf, zonedTime } from "./zoned-time.ts";

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
}

/** The time zone in which days are counted. */
export function timeZoneOf({ quiet_hours }: Pick<SendSchedule, "quiet_hours">): string {
  return quiet_hours?.tz ?? "UTC";
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
    nextAt = open(schedule, nextAt, planned);
    const today = zonedTime(nextAt, tz).day;
    if (today !== day) planned = 0;
    day = today;
    if (moments.length >= count || nextAt > until) return { moments, nextAt };
    moments.push(nextAt);
    planned += 1;
    const { min_delay_ms, max_delay_ms } = schedule;
    nextAt = new Date(nextAt.getTime() + min_delay_ms + random() * (max_delay_ms - min_delay_ms));
  }
}

/** The first moment from `at` on at which one more message may go out. */
function open(rhythm: SendSchedule, at: Date, planned: number): Date {
  const tz = timeZoneOf(rhythm);
  const isFull = rhythm.daily_limit !== null && planned >= rhythm.daily_limit;
  const from = isFull ? instantOf({ day: dayAfter(zonedTime(at, tz).day), minute: 0 }, tz) : at;
  return rhythm.quiet_hours ? (endOfQuiet(rhythm.quiet_hours, from) ?? from) : from;
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
