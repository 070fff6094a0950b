import { useTranslations } from "use-intl";
import { LinkButton } from "../../components/action-button.tsx";
import { RouteLine } from "../../components/route-line.tsx";
import { useMayManage } from "./use-may-manage.ts";

/** What an empty account shows: the way to the first message. */
export function FirstRun() {
  const t = useTranslations("instances");
  const mayManage = useMayManage();
  return (
    <section className="blank" aria-label={t("emptyTitle")}>
      <RouteLine
        isFlat
        stations={[
          { key: "instance", name: t("stepInstance"), detail: t("stepInstanceHelp"), state: "here" },
          { key: "link", name: t("stepLink"), detail: t("stepLinkHelp"), state: "ahead" },
          { key: "message", name: t("stepMessage"), detail: t("stepMessageHelp"), state: "ahead" },
        ]}
      />
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
