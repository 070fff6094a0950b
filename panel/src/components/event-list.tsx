import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslations } from "use-intl";
import { eventQuery, type RecordedEvent } from "../api/queries.ts";
import { CodeSample } from "./code-sample.tsx";
import { FaultNotice } from "./fault-notice.tsx";
import { LoadingState } from "./loading-state.tsx";
import { RelativeTime } from "./relative-time.tsx";

/** Events of an instance, newest first; each opens to the body that a webhook gets. */
export function EventList({ instanceId, events }: { instanceId: number; events: readonly RecordedEvent[] }) {
  const t = useTranslations("send");
  if (events.length === 0) return <p className="hint">{t("receiverEmpty")}</p>;
  return (
    <ul className="events" aria-label={t("receiverTitle")}>
      {events.map((event) => (
        <EventItem key={event.id} instanceId={instanceId} event={event} />
      ))}
    </ul>
  );
}

function EventItem({ instanceId, event }: { instanceId: number; event: RecordedEvent }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <li>
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>
          <span className="code">{event.event}</span>
          <span className="hint">
            <RelativeTime at={event.created_at} />
          </span>
        </summary>
        {isOpen && <EventBody instanceId={instanceId} eventId={event.event_id} />}
      </details>
    </li>
  );
}

function EventBody({ instanceId, eventId }: { instanceId: number; eventId: string }) {
  const { data, error, refetch } = useQuery(eventQuery(instanceId, eventId));
  if (error) return <FaultNotice error={error} onRetry={() => void refetch()} />;
  if (!data) return <LoadingState />;
  return <CodeSample text={JSON.stringify(data.payload, null, 2)} label={eventId} />;
}
