import { type ReactNode, useEffect } from "react";

interface PageHeadProps {
  title: string;
  lead?: ReactNode;
  trail?: ReactNode;
  children?: ReactNode;
}

/** Title of a page, also in the tab, with what can be done on it. */
export function PageHead({ title, lead, trail, children }: PageHeadProps) {
  useEffect(() => {
    document.title = `${title} · Waygate`;
  }, [title]);
  return (
    <div className="head">
      <div>
        {trail && <div className="trail">{trail}</div>}
        <h1>{title}</h1>
        {lead && <div className="lead">{lead}</div>}
      </div>
      {children && <div className="buttons">{children}</div>}
    </div>
  );
}
