import { useRef } from "react";
import { useNow, useTranslations } from "use-intl";

/** Time left until a code changes. A screen reader hears the change itself, not each second. */
export function Countdown({ until, label }: { until: string; label: "renews" | "codeRenews" }) {
  const t = useTranslations("link");
  const now = useNow({ updateInterval: 1_000 });
  const seconds = Math.max(0, Math.ceil((Date.parse(until) - now.getTime()) / 1_000));
  const whole = useRef({ until, seconds });
  if (whole.current.until !== until) whole.current = { until, seconds };
  const text = t(label, { seconds });
  return (
    <div aria-live="off">
      <progress
        className="countdown"
        max={Math.max(1, whole.current.seconds)}
        value={seconds}
        aria-label={text}
      />
      <p className="hint">{text}</p>
    </div>
  );
}
