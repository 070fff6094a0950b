import { useQuery } from "@tanstack/react-query";
import { useTranslations } from "use-intl";
import { messageQuery } from "../../api/queries.ts";
import { FaultNotice } from "../../components/fault-notice.tsx";
import { LoadingState } from "../../components/loading-state.tsx";
import { RouteLine, type Station } from "../../components/route-line.tsx";
import { type GatewayWords, useGatewayWords } from "../../components/use-gateway-words.ts";

const STATIONS = ["accepted", "sent", "delivered", "read"] as const;
/** How many stations a message has passed, by its status. */
const PASSED = { pending: 1, sent: 2, delivered: 3, read: 4, played: 4 } as const;

/** Where a message is: stored, accepted, delivered, read; or why it was not sent. */
export function MessageWay({ id, messageId }: { id: number; messageId: string }) {
  const t = useTranslations("send.stations");
  const words = useGatewayWords();
  const { data, error, refetch } = useQuery(messageQuery(id, messageId));
  if (error) return <FaultNotice error={error} onRetry={() => void refetch()} />;
  if (!data) return <LoadingState />;
  const reason = data.error ? words.failure(data.error) : undefined;
  const passed = data.status in PASSED ? PASSED[data.status as keyof typeof PASSED] : 1;
  const isFailed = data.status === "failed" || data.status === "cancelled";
  const shown = isFailed ? (["accepted", "failed"] as const) : STATIONS;
  const stateOf = (index: number): Station["state"] => {
    if (index < passed) return "done";
    if (isFailed) return "failed";
    return index === passed ? "here" : "ahead";
  };
  return (
    <div aria-live="polite" data-status={data.status}>
      <RouteLine
        stations={shown.map((key, index) => ({
          key,
          name: t(key),
          detail: key === "failed" && reason && <Reason {...reason} />,
          state: stateOf(index),
        }))}
      />
    </div>
  );
}

function Reason({ sentence, detail }: ReturnType<GatewayWords["failure"]>) {
  return (
    <>
      <p>{sentence}</p>
      {detail && <p lang="en">{detail}</p>}
    </>
  );
}
