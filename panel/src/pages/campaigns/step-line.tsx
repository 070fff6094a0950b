import { useTranslations } from "use-intl";
import type { BuilderStep } from "./campaign-builder.tsx";

interface StepLineProps {
  steps: readonly BuilderStep[];
  current: BuilderStep;
  onGo(step: BuilderStep): void;
}

/** The stations of the builder; each can be opened. */
export function StepLine({ steps, current, onGo }: StepLineProps) {
  const t = useTranslations("campaigns");
  const here = steps.indexOf(current);
  return (
    <nav aria-label={t("stepsLabel")}>
      <ol className="route step-line" data-flat="">
        {steps.map((step, at) => (
          <li key={step} data-state={at === here ? "here" : at < here ? "done" : "ahead"}>
            <button
              type="button"
              className="station"
              aria-current={at === here ? "step" : undefined}
              onClick={() => onGo(step)}
            >
              {t(`steps.${step}`)}
            </button>
          </li>
        ))}
      </ol>
    </nav>
  );
}
