import { useLayoutEffect } from "react";

/** Rows from the end at which the next page is fetched. */
const READ_AHEAD = 20;

export interface ListQuery {
  hasNextPage: boolean;
  hasPreviousPage: boolean;
  isFetching: boolean;
  error: unknown;
  fetchNextPage(): unknown;
  fetchPreviousPage(): unknown;
}

/** Fetches the next or previous page when the visible rows come near the end of what is loaded. */
export function useInfiniteScroll(query: ListQuery, first: number, last: number, count: number): void {
  const { hasNextPage, hasPreviousPage, isFetching, error, fetchNextPage, fetchPreviousPage } = query;
  useLayoutEffect(() => {
    if (isFetching || error !== null) return;
    if (hasPreviousPage && first < READ_AHEAD) void fetchPreviousPage();
    else if (hasNextPage && last > count - READ_AHEAD) void fetchNextPage();
  }, [first, last, count, hasNextPage, hasPreviousPage, isFetching, error, fetchNextPage, fetchPreviousPage]);
}
