import { useFormatter, useNow } from "use-intl";

/** How long ago, in words, with the exact time in the reader's zone on hover. */
export function RelativeTime({ at }: { at: string | Date }) {
  const format = useFormatter();
  const now = useNow({ updateInterval: 10_000 });
  const date = new Date(at);
  const exact = format.dateTime(date, { dateStyle: "full", timeStyle: "long" });
  // A clock that is a little slow must not say "in 2 seconds" of the past.
  const shown = new Date(Math.min(date.getTime(), now.getTime()));
  return (
    <time dateTime={date.toISOString()} title={exact}>
      {format.relativeTime(shown, now)}
    </time>
  );
}
