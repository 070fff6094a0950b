import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useTranslations } from "use-intl";
import { LinkButton } from "../../components/action-button.tsx";
import { CodeSample } from "../../components/code-sample.tsx";
import { Notice } from "../../components/error-notice.tsx";
import { SectionHeader } from "../../components/page-header.tsx";
import { gateway } from "../../gateway/gateway.ts";
import { CodeSamples } from "./code-samples.tsx";
import { newDraft, type toWebhookInput } from "./webhook-draft.ts";
import { WebhookForm } from "./webhook-form.tsx";
import { WebhookTest } from "./webhook-test.tsx";
import type { Webhook } from "./webhooks-queries.ts";

export function NewWebhookPage() {
  const t = useTranslations("webhooks");
  const { id } = useParams({ from: "/shell/instances/$id" });
  const queries = useQueryClient();
  const add = useMutation({
    mutationFn: async (input: ReturnType<typeof toWebhookInput>) =>
      (await gateway.createWebhook({ id, ...input })).data,
    onSettled: () => queries.invalidateQueries({ queryKey: ["instances", id] }),
  });
  if (add.data) return <CreatedWebhook id={id} webhook={add.data} />;
  return (
    <>
      <SectionHeader title={t("newTitle")} lead={t("newLead")} breadcrumbs={<BackToWebhooks id={id} />} />
      <WebhookForm
        id={id}
        first={newDraft()}
        submitLabel={t("create")}
        mutation={add}
        onSubmit={(input) => add.mutate(input)}
      />
    </>
  );
}

export function BackToWebhooks({ id }: { id: number }) {
  const t = useTranslations("webhooks");
  return (
    <Link to="/instances/$id/webhooks" params={{ id }}>
      {t("title")}
    </Link>
  );
}

/** The secret, which appears only here, and the first test. */
function CreatedWebhook({ id, webhook }: { id: number; webhook: Webhook }) {
  const t = useTranslations("webhooks");
  return (
    <>
      <SectionHeader
        title={t("madeTitle", { name: webhook.name })}
        lead={t("madeLead")}
        breadcrumbs={<BackToWebhooks id={id} />}
      />
      <section className="card">
        <h3>{t("secret")}</h3>
        <Notice tone="info">
          <p>{t("secretOnce")}</p>
        </Notice>
        <CodeSample text={webhook.secret} label={t("secret")} />
      </section>
      <WebhookTest id={id} webhookId={webhook.id} isMain />
      <CodeSamples url={webhook.url} />
      <div className="buttons">
        <LinkButton to="/instances/$id/webhooks/$webhookId" params={{ id, webhookId: webhook.id }}>
          {t("goOn")}
        </LinkButton>
      </div>
    </>
  );
}
