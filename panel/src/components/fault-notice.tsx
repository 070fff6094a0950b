import { useEffect, useRef } from "react";
import { useTranslations } from "use-intl";
import { WaygateError } from "../../../packages/client/src/waygate-error.ts";
import { isPasswordRequired } from "../api/password-question.ts";
import { toFault } from "../api/to-fault.ts";
import { ActionButton } from "./action-button.tsx";
import { LinkRemedy } from "./link-remedy.tsx";
import { Notice } from "./notice.tsx";
import { useFaultText } from "./use-fault-text.ts";
import { useGatewayWords } from "./use-gateway-words.ts";

interface FaultNoticeProps {
  error: unknown;
  /** For what could not be read. Without it the notice belongs to an act, and moves into view. */
  onRetry?: () => void;
}

/** A failed request in words, with its number for the log. */
export function FaultNotice({ error, onRetry }: FaultNoticeProps) {
  const t = useTranslations();
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
      <FaultWords error={error} />
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

/** What went wrong, in the language of the panel; the gateway's own words below where they say more. */
export function FaultWords({ error }: { error: unknown }) {
  const textOf = useFaultText();
  const words = useGatewayWords();
  if (!(error instanceof WaygateError) || toFault(error).text !== undefined) return <p>{textOf(error)}</p>;
  const { sentence, detail } = words.failure(error);
  return (
    <>
      <p>{sentence}</p>
      {detail && (
        <p className="hint" lang="en">
          {detail}
        </p>
      )}
    </>
  );
}
