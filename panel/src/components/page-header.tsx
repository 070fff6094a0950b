import type { UseInfiniteQueryResult } from "@tanstack/react-query";
import { useLocation } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef } from "react";
import { useTranslations } from "use-intl";
import { ActionButton } from "./action-button.tsx";
import { useOnline } from "./use-online.ts";

interface PageHeaderProps {
  title: string;
  lead?: ReactNode;
  breadcrumbs?: ReactNode;
  children?: ReactNode;
}

/** The title of a page, also of the browser tab, with the page's actions. */
export function PageHeader({ title, lead, breadcrumbs, children }: PageHeaderProps) {
  useEffect(() => {
    document.title = `${title} · Waygate`;
  }, [title]);
  return (
    <div className="head">
      <div>
        {breadcrumbs && <div className="breadcrumbs">{breadcrumbs}</div>}
        <h1>{title}</h1>
        {lead && <div className="lead">{lead}</div>}
      </div>
      {children && <div className="buttons">{children}</div>}
    </div>
  );
}

interface SectionHeaderProps {
  title: string;
  lead?: ReactNode;
  breadcrumbs?: ReactNode;
  children?: ReactNode;
}

/** The heading below the instance's name. */
export function SectionHeader({ title, lead, breadcrumbs, children }: SectionHeaderProps) {
  return (
    <div className="section-head">
      <div>
        {breadcrumbs && <div className="breadcrumbs">{breadcrumbs}</div>}
        <h2>{title}</h2>
        {lead && <div className="hint">{lead}</div>}
      </div>
      {children && <div className="buttons">{children}</div>}
    </div>
  );
}

/** Tabs of an area. On a phone the active one is scrolled into view. */
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

/** An empty list: its purpose and how to add the first entry. */
export function EmptyState({ title, help, children }: { title: string; help: string; children?: ReactNode }) {
  return (
    <section className="empty-state" aria-label={title}>
      <h2>{title}</h2>
      <p>{help}</p>
      {children && <div className="buttons">{children}</div>}
    </section>
  );
}

export function LoadingState() {
  const t = useTranslations();
  return (
    <p className="loading" role="status">
      {useOnline() ? t("common.loading") : t("connection.offlineLoading")}
    </p>
  );
}

export function LoadMore({
  query: { hasNextPage, isFetchingNextPage, fetchNextPage },
}: {
  query: Pick<UseInfiniteQueryResult, "hasNextPage" | "isFetchingNextPage" | "fetchNextPage">;
}) {
  const t = useTranslations("common");
  if (!hasNextPage) return null;
  return (
    <div className="buttons">
      <ActionButton isPending={isFetchingNextPage} onPress={() => void fetchNextPage()}>
        {t("more")}
      </ActionButton>
    </div>
  );
}
