import { useTranslations } from "use-intl";
import { WaygateError } from "../../../packages/client/src/waygate-error.ts";
import { FaultNotice, Notice } from "./error-notice.tsx";

/** Why a sign-in was refused. */
export function SignInFault({ error }: { error: unknown }) {
  const t = useTranslations("signIn");
  if (!(error instanceof WaygateError)) return <FaultNotice error={error} />;
  const { code, retryAfterSeconds } = error;
  const text =
    code === "INVALID_CREDENTIALS"
      ? t("wrong")
      : code === "ACCOUNT_RESTRICTED"
        ? t("restricted")
        : retryAfterSeconds !== undefined
          ? t("tooMany", { seconds: retryAfterSeconds })
          : undefined;
  if (text === undefined) return <FaultNotice error={error} />;
  return (
    <Notice tone="stop" isUrgent>
      <p>{text}</p>
    </Notice>
  );
}
