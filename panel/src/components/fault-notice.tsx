import { useEffect, useRef } from "react";
import { useTranslations } from "use-intl";
import { isPasswordRequired } from "../api/password-question.ts";
import { toFault } from "../api/to-fault.ts";
import { ActionButton } from "./action-button.tsx";
import { LinkRemedy } from "./link-remedy.tsx";
import { Notice } from "./notice.tsx";
import { useFaultText } from "./use-fault-text.ts";

interface FaultNoticeProps {
  error: unknown;
  /** For what could not be read. Without it the notice belongs to an act, and moves into view. */
  onRetry?: () => void;
}

/** A failed request in the words of the gateway, with its number for the log. */
export function FaultNotice({ error, onRetry }: FaultNoticeProps) {
  const t = useTranslations();
  const textOf = useFaultText();
  const place = useInView(onRetry === undefined ? error : undefined);
  if (error === null || error === undefined) return null;
  const { requestId } = toFault(error);
  if (isPasswordRequired(error))
    return (
      <Notice ref={place} tone="note" isUrgent>
        <p>{t("shell.passwordMissing")}</p>
      </Notice>
    );
  return (
    <Notice ref={place} tone="stop" isUrgent>
      <p>{textOf(error)}</p>
      {requestId && <p className="code">{t("common.requestId", { id: requestId })}</p>}
      <LinkRemedy error={error} />
      {onRetry && (
        <div className="buttons">
          <ActionButton onPress={onRetry}>{t("common.retry")}</ActionButton>
        </div>
      )}
    </Notice>
  );
}

/** The button of a long form may be far from the notice. */
function useInView(error: unknown) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (error) place.current?.scrollIntoView({ block: "nearest" });
  }, [error]);
  return place;
}
