import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslations } from "use-intl";
import { ActionButton } from "../../components/action-button.tsx";
import { ErrorNotice, Notice } from "../../components/error-notice.tsx";
import { TimeField } from "../../components/fields/form-field.tsx";
import { gateway } from "../../gateway/gateway.ts";
import { MOST_COUNTED, type Webhook, waitingQuery } from "./webhooks-queries.ts";

const DAY_MS = 86_400_000;
const BEFORE_MS = 600_000;
const MOVING_MS = 1_500;
const CALM_MS = 5_000;
/** Sends all failed events since a time again, after showing their number. */
export function RecoverPanel({ id, webhook }: { id: number; webhook: Webhook }) {
  const t = useTranslations("webhooks.recover");
  const queries = useQueryClient();
  const [since, setSince] = useState(() => firstTimeOf(webhook));
  const webhookId = webhook.id;
  const preview = useQuery({
    queryKey: ["instances", id, "recoverable", webhookId, since],
    queryFn: async ({ signal }) =>
      (await gateway.recoverWebhook({ id, webhookId, since, dry_run: true }, { signal })).data.queued,
    enabled: since !== "",
  });
  const recover = useMutation({
    mutationFn: async () => (await gateway.recoverWebhook({ id, webhookId, since })).data.queued,
    onSettled: () => queries.invalidateQueries({ queryKey: ["instances", id] }),
  });
  const count = preview.data ?? 0;
  return (
    <section className="card">
      <h3>{t("title")}</h3>
      <p>{t("lead")}</p>
      <TimeField label={t("since")} value={since} onChange={setSince} />
      <ErrorNotice error={recover.error ?? preview.error} />
      {preview.data !== undefined && <p>{t("preview", { count })}</p>}
      {since !== "" && recover.data === undefined && (
        <StillTried id={id} webhookId={webhookId} since={since} />
      )}
      {!webhook.is_active && <p className="hint">{t("inactive")}</p>}
      <div className="buttons">
        <ActionButton
          isDisabled={count === 0 || !webhook.is_active}
          isPending={recover.isPending}
          onPress={() => recover.mutate()}
        >
          {t("submit", { count })}
        </ActionButton>
      </div>
      {recover.data !== undefined && (
        <RecoverProgress id={id} webhookId={webhookId} since={since} queued={recover.data} failed={count} />
      )}
    </section>
  );
}

/** An event is recorded before its delivery fails. */
function firstTimeOf({ failing_since }: Webhook): string {
  const at = failing_since === null ? Date.now() - DAY_MS : Date.parse(failing_since) - BEFORE_MS;
  return new Date(at).toISOString();
}

interface EventsSince {
  id: number;
  webhookId: number;
  since: string;
}

/** Events that are still being retried, which a recovery skips. */
function StillTried({ id, webhookId, since }: EventsSince) {
  const t = useTranslations("webhooks.recover");
  const { data: count = 0 } = useQuery({
    ...waitingQuery(id, webhookId, since),
    queryKey: ["instances", id, "still-tried", webhookId, since],
    refetchInterval: CALM_MS,
  });
  if (count === 0) return null;
  return (
    <p>{count >= MOST_COUNTED ? t("retryingMany", { count: MOST_COUNTED }) : t("retrying", { count })}</p>
  );
}

interface RecoverProgressProps extends EventsSince {
  queued: number;
  failed: number;
}

/** How many events are still pending. */
function RecoverProgress({ id, webhookId, since, queued, failed }: RecoverProgressProps) {
  const t = useTranslations("webhooks.recover");
  const { data: waiting, error } = useQuery({
    ...waitingQuery(id, webhookId, since),
    refetchInterval: ({ state }) => (state.data === 0 ? false : MOVING_MS),
  });
  if (error) return <ErrorNotice error={error} />;
  if (waiting === undefined) return null;
  const done = Math.max(0, queued - waiting);
  if (waiting > 0)
    return (
      <div role="status">
        <p>
          {waiting >= MOST_COUNTED ? t("many", { total: queued }) : t("progress", { done, total: queued })}
        </p>
        <progress className="done" max={queued} value={done} aria-label={t("title")} />
      </div>
    );
  return (
    <Notice tone={failed > 0 ? "danger" : "success"} isUrgent>
      <p>{failed > 0 ? t("failedAgain", { count: failed }) : t("done", { total: queued })}</p>
    </Notice>
  );
}
