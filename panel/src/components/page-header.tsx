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

/** Title of a page, also in the tab, with what can be done on it. */
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
  /** Links to the pages above. */
  breadcrumbs?: ReactNode;
  children?: ReactNode;
}

/** Title of a page of an instance, whose name is the heading above it. */
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

/** What a list without entries shows: what it is for, and how it gets its first entry. */
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

/** The button below a list whose next page is not loaded yet. */
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
