import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { FormEvent } from "react";
import { Form } from "react-aria-components";
import { useTranslations } from "use-intl";
import { gateway } from "../../api/gateway.ts";
import { readForm } from "../../api/read-search.ts";
import { ActionButton } from "../../components/action-button.tsx";
import { FaultNotice, useFault } from "../../components/fault-notice.tsx";
import { PhoneField } from "../../components/form-field.tsx";

/** For a phone whose camera cannot scan this screen, for example because it shows this page itself. */
export function PhoneCodeForm({ id }: { id: number }) {
  const t = useTranslations("link");
  const queries = useQueryClient();
  const connect = useMutation({
    mutationFn: (phone: string) => gateway.connectInstance({ id, phone, wait_seconds: 5 }),
    onSettled: () => queries.invalidateQueries({ queryKey: ["instances", id] }),
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    connect.mutate(readForm(event.currentTarget).phone ?? "");
  };
  const { fields } = useFault(connect.error);
  return (
    <details>
      <summary>{t("withCode")}</summary>
      <Form className="stack" onSubmit={submit} validationErrors={fields}>
        {!fields.phone && <FaultNotice error={connect.error} />}
        <PhoneField name="phone" label={t("phone")} hint={t("phoneHint")} autoComplete="tel" maxLength={30} />
        <div className="buttons">
          <ActionButton type="submit" isPending={connect.isPending}>
            {t("getCode")}
          </ActionButton>
        </div>
      </Form>
    </details>
  );
}
