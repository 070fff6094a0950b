import { useLayoutEffect } from "react";

/** How many rows before its end a list reads on. */
const READ_AHEAD = 20;

/** What a long list needs of its query. */
export interface ListQuery {
  hasNextPage: boolean;
  hasPreviousPage: boolean;
  isFetching: boolean;
  error: unknown;
  fetchNextPage(): unknown;
  fetchPreviousPage(): unknown;
}

/** Reads on in the direction in which the rows come to an end. */
export function useInfiniteScroll(query: ListQuery, first: number, last: number, count: number): void {
  const { hasNextPage, hasPreviousPage, isFetching, error, fetchNextPage, fetchPreviousPage } = query;
  useLayoutEffect(() => {
    if (isFetching || error !== null) return;
    if (hasPreviousPage && first < READ_AHEAD) void fetchPreviousPage();
    else if (hasNextPage && last > count - READ_AHEAD) void fetchNextPage();
  }, [first, last, count, hasNextPage, hasPreviousPage, isFetching, error, fetchNextPage, fetchPreviousPage]);
}
