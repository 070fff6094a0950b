import type { ReactNode, Ref } from "react";
import type { Tone } from "./lamp.tsx";

interface NoticeProps {
  tone: Tone;
  title?: string;
  /** Of the title: 2 right below the head of a page, otherwise 3. */
  level?: 2 | 3;
  /** Interrupts a screen reader; otherwise it waits for a pause. */
  isUrgent?: boolean;
  ref?: Ref<HTMLDivElement>;
  children: ReactNode;
}

/** Something the reader should know here and now. */
export function Notice({ tone, title, level = 3, isUrgent, ref, children }: NoticeProps) {
  const Title = `h${level}` as const;
  return (
    <div ref={ref} className="notice" data-tone={tone} role={isUrgent ? "alert" : "status"}>
      {title && <Title>{title}</Title>}
      {children}
    </div>
  );
}
