import { dayAfter, endOfQuietHours, instantOf, zonedTime } from "../../platform/quiet-hours.ts";

interface CampaignQuietHours {
  start: string;
  end: string;
  tz: string;
}

/** The pauses and limits between the recipients of a campaign. */
export interface SendSchedule {
  min_delay_ms: number;
  max_delay_ms: number;
  quiet_hours: CampaignQuietHours | null;
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
  const end = endOfQuiet(schedule.quiet_hours, from);
  return { at: end ?? from, waitingFor: isFull ? "daily_limit" : end ? "quiet_hours" : null };
}

function endOfQuiet(quiet: CampaignQuietHours | null, at: Date): Date | undefined {
  return quiet ? endOfQuietHours({ from: quiet.start, to: quiet.end, time_zone: quiet.tz }, at) : undefined;
}
