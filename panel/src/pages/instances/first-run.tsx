import { useTranslations } from "use-intl";
import { useAccess } from "../../api/use-access.ts";
import { LinkButton } from "../../components/action-button.tsx";
import { FirstRunLine } from "./first-run-line.tsx";

/** What an empty account shows: the way to the first message. */
export function FirstRun() {
  const t = useTranslations("instances");
  const mayManage = useAccess().may("admin");
  return (
    <section className="blank" aria-label={t("emptyTitle")}>
      <FirstRunLine step="instance" />
      {mayManage ? (
        <LinkButton to="/instances/new" kind="main">
          {t("createFirst")}
        </LinkButton>
      ) : (
        <p>{t("askAdmin")}</p>
      )}
    </section>
  );
}
