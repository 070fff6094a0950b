import type { ReactNode } from "react";
import { useTranslations } from "use-intl";
import { Notice } from "./notice.tsx";
import { PageHead } from "./page-head.tsx";

interface DeletedPageProps {
  /** The name of what was deleted. */
  title: string;
  trail: ReactNode;
  /** That it was deleted. */
  text: string;
}

/** A page whose content was deleted elsewhere while it was open. */
export function DeletedPage({ title, trail, text }: DeletedPageProps) {
  const t = useTranslations("common");
  return (
    <>
      <PageHead title={title} trail={trail} />
      <Notice tone="wait" title={text} level={2} isUrgent>
        <p>{t("deletedHelp")}</p>
      </Notice>
    </>
  );
}
