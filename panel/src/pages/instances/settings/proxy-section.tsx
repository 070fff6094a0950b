import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Form } from "react-aria-components";
import { useTranslations } from "use-intl";
import { ActionButton } from "../../../components/action-button.tsx";
import { ConfirmDialog } from "../../../components/dialogs/confirm-dialog.tsx";
import { UnsavedGuard } from "../../../components/dialogs/unsaved-guard.tsx";
import { ErrorNotice, Notice, useRequestError } from "../../../components/error-notice.tsx";
import { FormField } from "../../../components/fields/form-field.tsx";
import { showToast } from "../../../components/toasts.tsx";
import { gateway } from "../../../gateway/gateway.ts";
import { proxyQuery } from "../instances-queries.ts";

/** The proxy of the WhatsApp connection, which can be tested before it is saved. */
export function ProxySection({ id }: { id: number }) {
  const t = useTranslations("proxy");
  const { data, error, refetch } = useQuery(proxyQuery(id));
  const [typed, setTyped] = useState("");
  const { check, save } = useProxy(id, () => setTyped(""));
  const url = typed.trim();
  const refused = check.error ?? save.error;
  const { fields } = useRequestError(refused);
  const issue = fields.url ?? fields["proxy.url"];
  return (
    <section className="card form-section" aria-label={t("title")}>
      <div>
        <h2>{t("title")}</h2>
        <p className="hint">{t("lead")}</p>
      </div>
      {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      <p>
        {data?.url ? t.rich("stored", { url: () => <span className="code">{data.url}</span> }) : t("none")}
      </p>
      {issue === undefined && <ErrorNotice error={refused} />}
      <UnsavedGuard isDirty={url !== ""} />
      <Form
        className="stack"
        validationErrors={issue === undefined ? {} : { url: issue }}
        onSubmit={(event) => {
          event.preventDefault();
          if (url !== "") save.mutate({ url });
        }}
      >
        <FormField
          name="url"
          label={data?.url ? t("otherAddress") : t("address")}
          hint={t("hint")}
          placeholder="socks5://name:password@proxy.example:1080"
          maxLength={2048}
          autoComplete="off"
          isOptional
          value={typed}
          onInput={(text) => {
            setTyped(text);
            check.reset();
            save.reset();
          }}
        />
        <TestResult result={check.data?.data} />
        <div className="buttons">
          <ActionButton
            isDisabled={url === "" && !data?.url}
            isPending={check.isPending}
            onPress={() => check.mutate(url)}
          >
            {url === "" ? t("testStored") : t("test")}
          </ActionButton>
          <ActionButton type="submit" isDisabled={url === ""} isPending={save.isPending}>
            {t("save")}
          </ActionButton>
          {data?.url && (
            <ConfirmDialog
              label={t("remove")}
              title={t("removeTitle")}
              consequence={t("removeHelp")}
              confirmLabel={t("remove")}
              onConfirm={() => save.mutate(null)}
            />
          )}
        </div>
      </Form>
    </section>
  );
}

function useProxy(id: number, onSaved: () => void) {
  const t = useTranslations("proxy");
  const queries = useQueryClient();
  const check = useMutation({
    mutationFn: (url: string) => gateway.testProxy({ id, ...(url !== "" && { url }) }),
  });
  const save = useMutation({
    mutationFn: (proxy: { url: string } | null) => gateway.updateInstance({ id, proxy }),
    onSuccess: (_, proxy) => {
      onSaved();
      check.reset();
      showToast(t(proxy === null ? "removed" : "saved"));
      return queries.invalidateQueries({ queryKey: ["proxy", id] });
    },
  });
  return { check, save };
}

interface ProxyTest {
  reached: boolean;
  duration_ms: number;
  error: string | null;
}

function TestResult({ result }: { result: ProxyTest | undefined }) {
  const t = useTranslations("proxy");
  if (result === undefined) return null;
  return (
    <Notice tone={result.reached ? "success" : "danger"} isUrgent>
      <p>{result.reached ? t("reached", { duration: result.duration_ms }) : t("notReached")}</p>
      {result.error && <p>{result.error}</p>}
    </Notice>
  );
}
