/** A day and a time of day on the clocks of a time zone. */
export interface ZonedTime {
  /** Such as `2026-11-20`. */
  day: string;
  /** Minutes since midnight. */
  minute: number;
}

const formats = new Map<string, Intl.DateTimeFormat>();

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
 * The moment at which the zone's clocks show this time; if a clock change skips it, the moment after the
 * change.
 */
export function instantOf({ day, minute }: ZonedTime, tz: string): Date {
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

export function dayAfter(day: string): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 10);
}
