import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useTranslations } from "use-intl";
import { sessionQuery } from "../gateway/queries.ts";
import { Notice } from "./error-notice.tsx";

/** Shows an agent why the page is empty. */
export function AdminOnly({ children }: { children: ReactNode }) {
  const t = useTranslations("common");
  const { data } = useQuery(sessionQuery);
  if (data?.user.role !== "agent") return children;
  return (
    <Notice tone="info" title={t("adminOnly")}>
      <p>{t("adminOnlyHelp")}</p>
    </Notice>
  );
}
