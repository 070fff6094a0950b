import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useTranslations } from "use-intl";
import { gateway } from "../../api/gateway.ts";
import { ActionButton, LinkButton } from "../../components/action-button.tsx";
import { FaultNotice } from "../../components/fault-notice.tsx";
import { Notice } from "../../components/notice.tsx";
import { FailureWords } from "./failure-words.tsx";
import { type Attempt, attemptsOfEventQuery } from "./webhooks-queries.ts";

/** Sends the event of an attempt again to its webhook, and follows the new attempt to its end. */
export function RetryAttempt({ id, attempt }: { id: number; attempt: Attempt }) {
  const t = useTranslations("webhooks.retry");
  const queries = useQueryClient();
  const retry = useMutation({
    mutationFn: async () => {
      const { event_id, webhook_id } = attempt;
      const { data } = await gateway.listDeliveryLogs({ id, event_id, webhook_id, limit: 1 });
      await gateway.retryDeliveryLog({ logId: attempt.id });
      return { after: data[0]?.id ?? attempt.id };
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ["instances", id] }),
  });
  return (
    <>
      <FaultNotice error={retry.error} />
      <div className="buttons">
        <ActionButton
          kind={attempt.success ? "plain" : "main"}
          isPending={retry.isPending}
          onPress={() => retry.mutate()}
        >
          {t(attempt.success ? "again" : "submit")}
        </ActionButton>
      </div>
      {retry.data && <Followed id={id} attempt={attempt} after={retry.data.after} />}
    </>
  );
}

function Followed({ id, attempt, after }: { id: number; attempt: Attempt; after: number }) {
  const t = useTranslations("webhooks.retry");
  const { data = [], error } = useQuery(attemptsOfEventQuery(id, attempt.event_id));
  if (error) return <FaultNotice error={error} />;
  const made = data.find((one) => one.id > after && one.webhook_id === attempt.webhook_id);
  if (!made)
    return (
      <Notice tone="wait">
        <p>{t("waiting")}</p>
      </Notice>
    );
  const more = (
    <LinkButton to="/instances/$id/webhooks/attempts/$logId" params={{ id, logId: made.id }}>
      {t("details")}
    </LinkButton>
  );
  if (!made.success) return <FailureWords attempt={made}>{more}</FailureWords>;
  return (
    <Notice
      tone="go"
      isUrgent
      title={t("ok", { status: String(made.status_code), duration: made.duration_ms })}
    >
      <p>{t("okHelp")}</p>
      <div className="buttons">{more}</div>
    </Notice>
  );
}
