import { useTranslations } from "use-intl";
import { RouteLine } from "../../components/facts.tsx";

const STEPS = ["instance", "link", "message"] as const;
export type FirstRunStep = (typeof STEPS)[number];

/** How far the way to the first message has come. */
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
    <RouteLine
      isFlat
      stations={STEPS.map((key, index) => ({
        key,
        name: names[key],
        detail: details[key],
        state: index < here ? "done" : index === here ? "here" : "ahead",
      }))}
    />
  );
}
