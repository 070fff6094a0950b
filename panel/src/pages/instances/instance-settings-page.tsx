import "./instances.css";
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useTranslations } from "use-intl";
import { instanceQuery } from "../../api/queries.ts";
import { useAccess } from "../../api/use-access.ts";
import { FaultNotice } from "../../components/fault-notice.tsx";
import { LoadingState } from "../../components/loading-state.tsx";
import { Notice } from "../../components/notice.tsx";
import { ApiKeySection } from "./api-key-section.tsx";
import { DeleteSection } from "./delete-section.tsx";
import { ProxySection } from "./proxy-section.tsx";
import { SettingsForm } from "./settings-form.tsx";

export function InstanceSettingsPage() {
  const t = useTranslations("instanceSettings");
  const { id } = useParams({ from: "/shell/instances/$id" });
  const { data, error, refetch } = useQuery(instanceQuery(id));
  const mayManage = useAccess().may("admin");
  if (error && !data) return <FaultNotice error={error} onRetry={() => void refetch()} />;
  if (!data) return <LoadingState />;
  if (!mayManage)
    return (
      <Notice tone="note">
        <p>{t("adminOnly")}</p>
      </Notice>
    );
  return (
    <>
      <SettingsForm key={id} row={data} />
      {data.network === "whatsapp" && <ProxySection id={id} />}
      <ApiKeySection row={data} />
      <DeleteSection row={data} />
    </>
  );
}
