import { useTranslations } from "use-intl";
import { WaygateError } from "../../../packages/client/src/waygate-error.ts";
import { ErrorNotice, Notice } from "./error-notice.tsx";

export function SignInError({ error }: { error: unknown }) {
  const t = useTranslations("signIn");
  if (!(error instanceof WaygateError)) return <ErrorNotice error={error} />;
  const { code, retryAfterSeconds } = error;
  const text =
    code === "INVALID_CREDENTIALS"
      ? t("wrong")
      : code === "ACCOUNT_RESTRICTED"
        ? t("restricted")
        : retryAfterSeconds !== undefined
          ? t("tooMany", { seconds: retryAfterSeconds })
          : undefined;
  if (text === undefined) return <ErrorNotice error={error} />;
  return (
    <Notice tone="danger" isUrgent>
      <p>{text}</p>
    </Notice>
  );
}
