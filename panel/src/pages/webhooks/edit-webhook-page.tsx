import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useTranslations } from "use-intl";
import { ErrorNotice } from "../../components/error-notice.tsx";
import { LoadingState, SectionHeader } from "../../components/page-header.tsx";
import { showToast } from "../../components/toasts.tsx";
import { gateway } from "../../gateway/gateway.ts";
import { NotFoundPage } from "../not-found-page.tsx";
import { BackToWebhooks } from "./new-webhook-page.tsx";
import { toDraft, type toWebhookInput } from "./webhook-draft.ts";
import { WebhookForm } from "./webhook-form.tsx";
import { webhooksQuery } from "./webhooks-queries.ts";

export function EditWebhookPage() {
  const t = useTranslations();
  const { id, webhookId } = useParams({ from: "/shell/instances/$id/webhooks/$webhookId/edit" });
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { data, error, refetch } = useQuery(webhooksQuery(id));
  const save = useMutation({
    mutationFn: (input: ReturnType<typeof toWebhookInput>) =>
      gateway.updateWebhook({ id, webhookId, ...input }),
    onSuccess: async () => {
      showToast(t("common.saved"));
      const params = { id, webhookId };
      await navigate({ to: "/instances/$id/webhooks/$webhookId", params, ignoreBlocker: true });
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ["instances", id] }),
  });
  if (error && !data) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  if (!data) return <LoadingState />;
  const webhook = data.find((one) => one.id === webhookId);
  if (!webhook) return <NotFoundPage />;
  return (
    <>
      <SectionHeader
        title={t("webhooks.editTitle", { name: webhook.name })}
        lead={t("webhooks.editLead")}
        breadcrumbs={<BackToWebhooks id={id} />}
      />
      <WebhookForm
        id={id}
        first={toDraft(webhook)}
        submitLabel={t("common.save")}
        mutation={save}
        onSubmit={(input) => save.mutate(input)}
      />
    </>
  );
}
