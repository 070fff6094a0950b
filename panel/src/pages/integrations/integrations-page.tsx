import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useTranslations } from "use-intl";
import { LinkButton } from "../../components/action-button.tsx";
import { AdminOnly } from "../../components/admin-only.tsx";
import { ErrorNotice } from "../../components/error-notice.tsx";
import { LoadingState, SectionHeader } from "../../components/page-header.tsx";
import { AreaTexts } from "../../shell/area-texts.tsx";
import { IntegrationPill, IntegrationSentence, LastError } from "./integration-state.tsx";
import "./integrations.css";
import {
  type Integration,
  integrationsQuery,
  PROVIDER_NAMES,
  PROVIDERS,
  type Provider,
} from "./integrations-queries.ts";

export function IntegrationsPage() {
  return (
    <AreaTexts area="integrations">
      <AdminOnly>
        <Integrations />
      </AdminOnly>
    </AreaTexts>
  );
}

function Integrations() {
  const t = useTranslations("integrations");
  const { id } = useParams({ from: "/shell/instances/$id" });
  const { data, error, refetch } = useQuery(integrationsQuery(id));
  if (error && !data) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  if (!data) return <LoadingState />;
  return (
    <>
      <SectionHeader title={t("title")} lead={t("lead")} />
      <ul className="rows" aria-label={t("title")}>
        {PROVIDERS.map((provider) => (
          <ProviderRow
            key={provider}
            id={id}
            provider={provider}
            integration={data.find((one) => one.provider === provider)}
          />
        ))}
      </ul>
      <p className="hint">
        {t.rich("own", {
          link: (text) => (
            <Link to="/instances/$id/webhooks" params={{ id }}>
              {text}
            </Link>
          ),
        })}
      </p>
    </>
  );
}

interface ProviderRowProps {
  id: number;
  provider: Provider;
  integration: Integration | undefined;
}

function ProviderRow({ id, provider, integration }: ProviderRowProps) {
  const t = useTranslations("integrations");
  const name = PROVIDER_NAMES[provider];
  const label = t(integration ? "open" : "setUp");
  return (
    <li className="row">
      <div>
        <h3>
          <Link to="/instances/$id/integrations/$provider" params={{ id, provider }}>
            {name}
          </Link>
        </h3>
        <p className="hint">{t(`${provider}.purpose`)}</p>
      </div>
      <div className="stack">
        <div className="buttons">
          <IntegrationPill integration={integration} />
        </div>
        {integration && <IntegrationSentence integration={integration} />}
        {integration && !integration.last_error_is_past && <LastError integration={integration} />}
      </div>
      <LinkButton
        to="/instances/$id/integrations/$provider"
        params={{ id, provider }}
        aria-label={`${label}: ${name}`}
      >
        {label}
      </LinkButton>
    </li>
  );
}
