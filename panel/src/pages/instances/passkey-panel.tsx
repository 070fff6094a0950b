import { useMutation } from "@tanstack/react-query";
import { useFormatter, useTranslations } from "use-intl";
import { gateway } from "../../api/gateway.ts";
import { ActionButton } from "../../components/action-button.tsx";
import { CodeSample } from "../../components/code-sample.tsx";
import { FaultNotice } from "../../components/fault-notice.tsx";
import { Notice } from "../../components/notice.tsx";

/** Only the owner's browser can use the passkey: the one-time link page guides through it there. */
export function PasskeyPanel({ id }: { id: number }) {
  const t = useTranslations("link");
  const format = useFormatter();
  const link = useMutation({ mutationFn: () => gateway.createLink({ id }) });
  const made = link.data?.data;
  return (
    <section className="plate" aria-label={t("passkeyTitle")}>
      <h2>{t("passkeyTitle")}</h2>
      <Notice tone="note" isUrgent>
        <p>{t("passkeyHelp")}</p>
      </Notice>
      <FaultNotice error={link.error} />
      {made === undefined ? (
        <div className="buttons">
          <ActionButton kind="main" isPending={link.isPending} onPress={() => link.mutate()}>
            {t("passkeyOpen")}
          </ActionButton>
        </div>
      ) : (
        <>
          <CodeSample text={made.url} label={t("passkeyLink")} />
          <p>
            {t("passkeyUntil", { time: format.dateTime(new Date(made.expires_at), { timeStyle: "short" }) })}
          </p>
          <a className="button" href={new URL(made.url).pathname} target="_blank" rel="noreferrer">
            {t("passkeyLink")}
          </a>
        </>
      )}
    </section>
  );
}
