import { useTranslations } from "use-intl";
import type { Message } from "./conversation-queries.ts";

type Shown = Message["status"];

const TICK = "M1.5 6.5l3 3 6-7";
const SECOND = "M7 9.2l.8.8 6.2-7.2";
const SHAPES: Readonly<Partial<Record<Shown, string>>> = {
  scheduled: "M2 3h10v8.5h-10zM2 5.5h10M4.5 1.5v2.5M9.5 1.5v2.5",
  pending: "M7 1.5a5 5 0 1 1 0 10 5 5 0 0 1 0-10zM7 4v2.8l1.8 1.2",
  sent: TICK,
  delivered: `${TICK}${SECOND}`,
  read: `${TICK}${SECOND}`,
  played: `${TICK}${SECOND}`,
  failed: "M7 1.5a5 5 0 1 1 0 10 5 5 0 0 1 0-10zM7 4v3M7 9v.2",
  cancelled: "M3 3l7 7M10 3l-7 7",
};

/** The delivery status of an own message. */
export function MessageStatus({ status }: { status: Shown }) {
  const t = useTranslations("conversations.status");
  const shape = SHAPES[status];
  if (shape === undefined) return null;
  return (
    <span className="message-status" data-status={status} title={t(status)}>
      <svg width="15" height="13" viewBox="0 0 15 13" aria-hidden="true">
        <path
          d={shape}
          fill="none"
          stroke="currentColor"
          strokeWidth="1.6"
          strokeLinecap="round"
          strokeLinejoin="round"
        />
      </svg>
      <span className="visually-hidden">{t(status)}</span>
    </span>
  );
}
