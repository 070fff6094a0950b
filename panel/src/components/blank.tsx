import type { ReactNode } from "react";

/** What a list without entries shows: what it is for, and how it gets its first entry. */
export function Blank({ title, help, children }: { title: string; help: string; children?: ReactNode }) {
  return (
    <section className="blank" aria-label={title}>
      <h2>{title}</h2>
      <p>{help}</p>
      {children && <div className="buttons">{children}</div>}
    </section>
  );
}
