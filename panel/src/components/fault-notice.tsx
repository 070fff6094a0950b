import { useTranslations } from "use-intl";
import { isPasswordRequired } from "../api/password-question.ts";
import { toFault } from "../api/to-fault.ts";
import { ActionButton } from "./action-button.tsx";
import { Notice } from "./notice.tsx";
import { useFaultText } from "./use-fault-text.ts";

/** A failed request in the words of the gateway, with its number for the log. */
export function FaultNotice({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const t = useTranslations();
  const textOf = useFaultText();
  if (error === null || error === undefined) return null;
  const { requestId } = toFault(error);
  if (isPasswordRequired(error))
    return (
      <Notice tone="note" isUrgent>
        <p>{t("shell.passwordMissing")}</p>
      </Notice>
    );
  return (
    <Notice tone="stop" isUrgent>
      <p>{textOf(error)}</p>
      {requestId && <p className="code">{t("common.requestId", { id: requestId })}</p>}
      {onRetry && (
        <div className="buttons">
          <ActionButton onPress={onRetry}>{t("common.retry")}</ActionButton>
        </div>
      )}
    </Notice>
  );
}
