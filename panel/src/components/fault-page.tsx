import type { ReactNode } from "react";
import { FaultNotice } from "./fault-notice.tsx";
import { PageHead } from "./page-head.tsx";

interface FaultPageProps {
  /** The kind of page: the name of what it would show is not known. */
  title: string;
  trail?: ReactNode;
  error: unknown;
  onRetry: () => void;
}

/** A page whose content could not be read. */
export function FaultPage({ title, trail, error, onRetry }: FaultPageProps) {
  return (
    <>
      <PageHead title={title} trail={trail} />
      <FaultNotice error={error} onRetry={onRetry} />
    </>
  );
}
