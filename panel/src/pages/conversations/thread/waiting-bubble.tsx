import { useTranslations } from "use-intl";
import { ActionButton } from "../../../components/action-button.tsx";
import { LinkRemedy, useErrorText } from "../../../components/error-notice.tsx";
import { MessageStatus } from "../message-status.tsx";
import { MessageText } from "../message-text.tsx";
import type { Waiting } from "../outbox.ts";

interface WaitingBubbleProps {
  entry: Waiting;
  onRetry(entry: Waiting): void;
  onDiscard(entry: Waiting): void;
}

/** A message that is being sent to the gateway, or was rejected by it. */
export function WaitingBubble({ entry, onRetry, onDiscard }: WaitingBubbleProps) {
  const t = useTranslations("conversations");
  const textOf = useErrorText();
  const isRefused = entry.state === "refused";
  return (
    <article className="bubble" data-own="" data-waiting="" aria-label={t("thread.fromYou")}>
      <MessageText text={entry.shown} />
      <footer>
        {!isRefused && <span>{t("thread.sending")}</span>}
        <MessageStatus status={isRefused ? "failed" : "pending"} />
      </footer>
      {isRefused && (
        <div className="message-error" role="alert">
          <p>{textOf(entry.error)}</p>
          <div className="buttons">
            <LinkRemedy error={entry.error} />
            <ActionButton onPress={() => onRetry(entry)}>{t("thread.tryAgain")}</ActionButton>
            <ActionButton kind="link" onPress={() => onDiscard(entry)}>
              {t("thread.discard")}
            </ActionButton>
          </div>
        </div>
      )}
    </article>
  );
}
