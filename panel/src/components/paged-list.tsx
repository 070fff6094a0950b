import type { InfiniteData, UseInfiniteQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ErrorNotice } from "./error-notice.tsx";
import { LoadingState, LoadMore } from "./page-header.tsx";
import { rovingTabIndex } from "./roving-tab-index.ts";

type Pages<Row> = InfiniteData<{ data: readonly Row[] }>;

interface PagedListProps<Row> {
  query: Pick<
    UseInfiniteQueryResult<Pages<Row>>,
    "data" | "error" | "isPending" | "refetch" | "hasNextPage" | "isFetchingNextPage" | "fetchNextPage"
  >;
  label: string;
  className?: string;
  /** Shown when the list is empty. */
  none?: ReactNode;
  children(row: Row): ReactNode;
}

export function rowsOf<Row>(data: Pages<Row> | undefined): Row[] {
  return data?.pages.flatMap((page) => page.data) ?? [];
}

/** A paginated list with its loading, error and empty states. */
export function PagedList<Row>({ query, label, className = "rows", none, children }: PagedListProps<Row>) {
  const { data, error, isPending, refetch } = query;
  const rows = rowsOf(data);
  return (
    <>
      {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {isPending && <LoadingState />}
      {data && rows.length === 0 && none}
      {rows.length > 0 && (
        <ul ref={rovingTabIndex} className={className} aria-label={label}>
          {rows.map(children)}
        </ul>
      )}
      <LoadMore query={query} />
    </>
  );
}
