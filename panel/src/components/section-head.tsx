import type { ReactNode } from "react";

interface SectionHeadProps {
  title: string;
  lead?: ReactNode;
  /** Links to the pages above. */
  trail?: ReactNode;
  children?: ReactNode;
}

/** Title of a page of an instance, whose name is the heading above it. */
export function SectionHead({ title, lead, trail, children }: SectionHeadProps) {
  return (
    <div className="section-head">
      <div>
        {trail && <div className="trail">{trail}</div>}
        <h2>{title}</h2>
        {lead && <div className="hint">{lead}</div>}
      </div>
      {children && <div className="buttons">{children}</div>}
    </div>
  );
}
