import { useLocation } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef } from "react";

/** Links to the pages of an area. On a phone the one of the open page is scrolled into view. */
export function TabLinks({ label, children }: { label: string; children: ReactNode }) {
  const tabs = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page has another active link
  useEffect(() => {
    const active = tabs.current?.querySelector<HTMLElement>('[data-status="active"]');
    if (active && tabs.current) tabs.current.scrollLeft = active.offsetLeft - tabs.current.offsetLeft - 48;
  }, [pathname]);
  return (
    <nav ref={tabs} className="tab-links" aria-label={label}>
      {children}
    </nav>
  );
}
