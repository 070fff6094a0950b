import type { ReactNode } from "react";
import type { Tone } from "./lamp.tsx";

interface NoticeProps {
  tone: Tone;
  title?: string;
  /** Interrupts a screen reader; otherwise it waits for a pause. */
  isUrgent?: boolean;
  children: ReactNode;
}

/** Something the reader should know here and now. */
export function Notice({ tone, title, isUrgent, children }: NoticeProps) {
  return (
    <div className="notice" data-tone={tone} role={isUrgent ? "alert" : "status"}>
      {title && <h3>{title}</h3>}
      {children}
    </div>
  );
}
