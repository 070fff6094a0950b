import type { ReactNode } from "react";
import { useTranslations } from "use-intl";
import { Notice } from "../../components/error-notice.tsx";
import { type AttemptResult, failureKindOf } from "./explain-failure.ts";

interface FailureNoticeProps {
  attempt: AttemptResult & { error?: string | null };
  /** Shows only the cause. */
  isShort?: boolean;
  /** Actions. */
  children?: ReactNode;
}

/** Why a delivery failed and what to do. */
export function FailureNotice({ attempt, isShort = false, children }: FailureNoticeProps) {
  const t = useTranslations("webhooks.failure");
  const kind = failureKindOf(attempt);
  const status = String(attempt.status_code ?? "");
  return (
    <Notice tone="danger" title={t(`${kind}.cause`, { status })}>
      {!isShort && <p>{t(`${kind}.remedy`)}</p>}
      {/* For an HTTP response the title already says it. */}
      {!isShort && attempt.error && attempt.status_code === null && (
        <p className="hint code" lang="en">
          {attempt.error}
        </p>
      )}
      {children && <div className="buttons">{children}</div>}
    </Notice>
  );
}
