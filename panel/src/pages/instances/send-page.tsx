import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { Form } from "react-aria-components";
import { useTranslations } from "use-intl";
import { ActionButton, LinkButton } from "../../components/action-button.tsx";
import { type Step, Stepper } from "../../components/description-list.tsx";
import { ErrorNotice, ErrorPage, Notice, useRequestError } from "../../components/error-notice.tsx";
import { FormField, PhoneField } from "../../components/fields/form-field.tsx";
import { readForm } from "../../components/fields/read-search.ts";
import { LoadingState, PageHeader } from "../../components/page-header.tsx";
import { type GatewayTexts, useGatewayTexts } from "../../components/use-gateway-texts.ts";
import { createKey, gateway, type Instance } from "../../gateway/gateway.ts";
import { instanceQuery, messageQuery } from "../../gateway/queries.ts";
import { useAccess } from "../../gateway/use-access.ts";
import { OwnReceiver } from "./own-receiver.tsx";
import { WebhookForm } from "./webhook-form.tsx";

export function SendPage() {
  const t = useTranslations();
  const { id } = useParams({ from: "/shell/instances/$id/send" });
  const row = useQuery(instanceQuery(id));
  const mayManage = useAccess().may("admin");
  if (row.error && !row.data)
    return <ErrorPage title={t("send.title")} error={row.error} onRetry={() => void row.refetch()} />;
  if (!row.data) return <LoadingState />;
  return (
    <>
      <PageHeader
        title={t("send.title")}
        lead={t("send.lead")}
        breadcrumbs={
          <>
            <Link to="/instances">{t("common.back")}</Link>
            <span aria-hidden="true">/</span>
            <Link to="/instances/$id" params={{ id }}>
              {row.data.name}
            </Link>
          </>
        }
      />
      <NotConnected row={row.data} />
      <div className="columns">
        <Composer row={row.data} />
        {mayManage && <OwnReceiver row={row.data} />}
      </div>
      {mayManage && <WebhookForm id={id} />}
    </>
  );
}

function NotConnected({ row: { id, name, status } }: { row: Instance }) {
  const t = useTranslations();
  if (status === "connected" || status === "reconnecting") return null;
  return (
    <Notice tone="warning">
      <p>{t("send.notConnected", { name })}</p>
      <div className="buttons">
        <LinkButton to="/instances/$id/link" params={{ id }}>
          {t("instances.linkSandbox")}
        </LinkButton>
      </div>
    </Notice>
  );
}

/** The sandbox number that replies. */
const REPLYING_NUMBER = "+5511999990004";

function Composer({ row: { id, network } }: { row: Instance }) {
  const t = useTranslations("send");
  const isSandbox = network === "sandbox";
  const { key, renew, send } = useSend(id);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const { number = "", text = "" } = readForm(event.currentTarget);
    send.mutate({ number, text, key });
  };
  const { fields } = useRequestError(send.error);
  return (
    <div className="stack">
      <section className="card" aria-label={t("submit")}>
        {Object.keys(fields).length === 0 && <ErrorNotice error={send.error} />}
        <Form className="stack" onSubmit={submit} validationErrors={fields}>
          <PhoneField
            name="number"
            label={t("to")}
            hint={isSandbox ? t("sandboxHint") : t("toHint")}
            defaultValue={isSandbox ? REPLYING_NUMBER : ""}
            autoComplete="off"
            onChange={renew}
          />
          <FormField
            name="text"
            label={t("text")}
            defaultValue={t("textDefault")}
            maxLength={65_536}
            onChange={renew}
            isLong
          />
          <div className="buttons">
            <ActionButton kind="primary" type="submit" isPending={send.isPending}>
              {send.isPending ? t("sending") : t("submit")}
            </ActionButton>
          </div>
        </Form>
      </section>
      <section className="card">
        <h2>{t("wayTitle")}</h2>
        {send.data ? (
          <MessageProgress id={id} messageId={send.data.message_id} />
        ) : (
          <p className="hint">{t("notYet")}</p>
        )}
      </section>
    </div>
  );
}

/** The key makes a retry after a lost response send nothing twice. */
function useSend(id: number) {
  const queries = useQueryClient();
  const [key, setKey] = useState(createKey);
  const renew = () => setKey(createKey());
  const send = useMutation({
    mutationFn: async (input: { number: string; text: string; key: string }) => {
      const { number, text } = input;
      const { data } = await gateway.sendText({ id, number, text }, { idempotencyKey: input.key });
      return { message_id: data.message_id ?? data.pendingMessageId ?? "" };
    },
    onSuccess: renew,
    onSettled: () => queries.invalidateQueries({ queryKey: ["instances", id] }),
  });
  return { key, renew, send };
}

const STATIONS = ["accepted", "sent", "delivered", "read"] as const;
/** Completed steps by message status. */
const PASSED = { pending: 1, sent: 2, delivered: 3, read: 4, played: 4 } as const;

/** The progress of a message, or why it failed. */
function MessageProgress({ id, messageId }: { id: number; messageId: string }) {
  const t = useTranslations("send.steps");
  const texts = useGatewayTexts();
  const { data, error, refetch } = useQuery(messageQuery(id, messageId));
  if (error) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  if (!data) return <LoadingState />;
  const reason = data.error ? texts.failure(data.error) : undefined;
  const passed = data.status in PASSED ? PASSED[data.status as keyof typeof PASSED] : 1;
  const isFailed = data.status === "failed" || data.status === "cancelled";
  const shown = isFailed ? (["accepted", "failed"] as const) : STATIONS;
  const stateOf = (index: number): Step["state"] => {
    if (index < passed) return "done";
    if (isFailed) return "failed";
    return index === passed ? "here" : "ahead";
  };
  return (
    <div aria-live="polite" data-status={data.status}>
      <Stepper
        steps={shown.map((key, index) => ({
          key,
          name: t(key),
          detail: key === "failed" && reason && <Reason {...reason} />,
          state: stateOf(index),
        }))}
      />
    </div>
  );
}

function Reason({ sentence, detail }: ReturnType<GatewayTexts["failure"]>) {
  return (
    <>
      <p>{sentence}</p>
      {detail && <p lang="en">{detail}</p>}
    </>
  );
}
