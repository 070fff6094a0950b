import { useTranslations } from "use-intl";
import { LinkButton } from "../../components/action-button.tsx";
import { Stepper } from "../../components/description-list.tsx";
import { useAccess } from "../../gateway/use-access.ts";

/** Shown in an empty account. */
export function FirstRun() {
  const t = useTranslations("instances");
  const mayManage = useAccess().may("admin");
  return (
    <section className="empty-state" aria-label={t("emptyTitle")}>
      <FirstRunLine step="instance" />
      {mayManage ? (
        <LinkButton to="/instances/new" kind="primary">
          {t("createFirst")}
        </LinkButton>
      ) : (
        <p>{t("askAdmin")}</p>
      )}
    </section>
  );
}

const STEPS = ["instance", "link", "message"] as const;
type FirstRunStep = (typeof STEPS)[number];

export function FirstRunLine({ step }: { step: FirstRunStep }) {
  const t = useTranslations("instances");
  const here = STEPS.indexOf(step);
  const names = { instance: t("stepInstance"), link: t("stepLink"), message: t("stepMessage") };
  const details = {
    instance: t("stepInstanceHelp"),
    link: t("stepLinkHelp"),
    message: t("stepMessageHelp"),
  };
  return (
    <Stepper
      isFlat
      steps={STEPS.map((key, index) => ({
        key,
        name: names[key],
        detail: details[key],
        state: index < here ? "done" : index === here ? "here" : "ahead",
      }))}
    />
  );
}
