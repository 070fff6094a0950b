import { useState } from "react";
import { useTranslations } from "use-intl";
import { CodeSample } from "../../components/code-sample.tsx";
import { PickList } from "../../components/pick-list.tsx";
import { codeSamples } from "./sample-code.ts";

const NAMES = { node: "Node.js", python: "Python", php: "PHP", go: "Go", curl: "curl" } as const;

/** Programs that receive the webhook, with the place of its secret marked. */
export function CodeSamples({ url }: { url: string }) {
  const t = useTranslations("webhooks.samples");
  const [language, setLanguage] = useState<keyof typeof NAMES>("node");
  const place = `<${t("place")}>`;
  return (
    <section className="plate">
      <h3>{t("title")}</h3>
      <p>{t("lead", { place: `“${place}”` })}</p>
      <PickList<keyof typeof NAMES>
        label={t("language")}
        value={language}
        options={NAMES}
        hint={t(language)}
        onChange={setLanguage}
      />
      <CodeSample text={codeSamples({ place, url })[language]} label={NAMES[language]} />
      <p>
        <a href="/docs/waygate/verifying-webhooks">{t("guide")}</a>
      </p>
    </section>
  );
}
