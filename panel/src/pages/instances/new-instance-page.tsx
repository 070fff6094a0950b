import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { Form, Label, Radio, RadioGroup } from "react-aria-components";
import { useTranslations } from "use-intl";
import { ActionButton, LinkButton } from "../../components/action-button.tsx";
import { CodeSample } from "../../components/code-sample.tsx";
import { ErrorNotice, useRequestError } from "../../components/error-notice.tsx";
import { FormField } from "../../components/fields/form-field.tsx";
import { readForm } from "../../components/fields/read-search.ts";
import { PageHeader } from "../../components/page-header.tsx";
import { type CreatedInstance, createKey, gateway } from "../../gateway/gateway.ts";

const NETWORKS = ["sandbox", "whatsapp"] as const;
type Network = (typeof NETWORKS)[number];

export function NewInstancePage() {
  const t = useTranslations();
  const queries = useQueryClient();
  const create = useMutation({
    // The key makes a retry after a lost response create no second instance.
    mutationFn: ({ key, ...input }: { key: string; name: string; network: Network }) =>
      gateway.createInstance(input, { idempotencyKey: key }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["instances"] }),
  });
  const { fields } = useRequestError(create.error);
  if (create.data) return <NewKeys created={create.data.data} />;
  return (
    <>
      <PageHeader
        title={t("create.title")}
        lead={t("create.lead")}
        breadcrumbs={<Link to="/instances">{t("common.back")}</Link>}
      />
      <section className="card" aria-label={t("create.title")}>
        <ErrorNotice error={create.error} />
        <InstanceForm isPending={create.isPending} errors={fields} onSubmit={create.mutate} />
      </section>
    </>
  );
}

interface InstanceFormProps {
  isPending: boolean;
  errors: Record<string, string>;
  onSubmit(input: { key: string; name: string; network: Network }): void;
}

function InstanceForm({ isPending, errors, onSubmit }: InstanceFormProps) {
  const t = useTranslations("create");
  const [key, setKey] = useState(createKey);
  const [network, setNetwork] = useState<Network>("sandbox");
  const renew = () => setKey(createKey());
  const change = (value: string) => {
    setNetwork(value as Network);
    renew();
  };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const { name = "" } = readForm(event.currentTarget);
    onSubmit({ key, name, network });
  };
  return (
    <Form className="stack" onSubmit={submit} validationErrors={errors}>
      <FormField
        name="name"
        label={t("name")}
        hint={t("nameHint")}
        placeholder={t("namePlaceholder")}
        maxLength={100}
        onChange={renew}
        autoComplete="off"
      />
      <RadioGroup className="choices" value={network} onChange={change}>
        <Label className="label">{t("network")}</Label>
        {NETWORKS.map((value) => (
          <Radio key={value} value={value} className="choice">
            <strong>{t(value)}</strong>
            <span className="hint">{t(`${value}Help`)}</span>
          </Radio>
        ))}
      </RadioGroup>
      <div className="buttons">
        <ActionButton kind="primary" type="submit" isPending={isPending}>
          {t("submit")}
        </ActionButton>
      </div>
    </Form>
  );
}

/** Both secrets appear in this response only. */
function NewKeys({ created }: { created: CreatedInstance }) {
  const t = useTranslations("create");
  return (
    <>
      <PageHeader title={t("keysTitle")} lead={t("keysLead")} />
      <section className="card" aria-label={t("keysTitle")}>
        <h2>{t("apiKey")}</h2>
        <p className="hint">{t("apiKeyHelp")}</p>
        <CodeSample text={created.api_key} label={t("apiKey")} />
        <h2>{t("secret")}</h2>
        <p className="hint">{t("secretHelp")}</p>
        <CodeSample text={created.webhook_secret} label={t("secret")} />
        <div className="buttons">
          <LinkButton to="/instances/$id/link" params={{ id: created.id }} kind="primary">
            {t("keysNext")}
          </LinkButton>
        </div>
      </section>
    </>
  );
}
