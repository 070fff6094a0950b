import { infiniteQueryOptions, type QueryKey } from "@tanstack/react-query";

export interface CursorPage<Row> {
  data: Row[];
  pagination: { next_cursor: string | null };
}

/** Pages kept in the cache. Others are fetched again. */
const KEPT_PAGES = 8;
const REMEMBERED = 20_000;
/** Rows that may have arrived while the first page was not cached. */
const MOST_FILLED = 20;

interface Step {
  /** The cursor of the previous page. */
  from: string;
  lastId: number | undefined;
}

/** Start of the previous page by list and cursor, because the gateway's cursors only go forward. */
const steps = new Map<string, Step>();

const nameOf = (key: QueryKey, cursor: string) => `${JSON.stringify(key)} ${cursor}`;

function remember(key: QueryKey, cursor: string | null, step: Step): void {
  if (cursor === null) return;
  steps.set(nameOf(key, cursor), step);
  const [oldest] = steps.keys();
  if (steps.size > REMEMBERED && oldest !== undefined) steps.delete(oldest);
}

/** An infinite query in both directions that keeps a bounded number of pages. */
export function cursorPages<Row extends { id: number }>(
  queryKey: QueryKey,
  read: (cursor: string, signal: AbortSignal) => Promise<CursorPage<Row>>,
) {
  return infiniteQueryOptions({
    queryKey,
    queryFn: async ({ pageParam, signal, direction }): Promise<CursorPage<Row>> => {
      const page = await read(pageParam, signal);
      const isReturn = direction === "backward" && pageParam === "";
      const whole = isReturn ? await fill(queryKey, page, read, signal) : page;
      remember(queryKey, whole.pagination.next_cursor, { from: pageParam, lastId: whole.data.at(-1)?.id });
      return whole;
    },
    initialPageParam: "",
    maxPages: KEPT_PAGES,
    getNextPageParam: ({ pagination }) => pagination.next_cursor ?? undefined,
    getPreviousPageParam: (_page, _pages, first) => steps.get(nameOf(queryKey, first))?.from,
    gcTime: 30_000,
  });
}

/** Fetches from the newest page until it reaches known rows. */
async function fill<Row extends { id: number }>(
  key: QueryKey,
  first: CursorPage<Row>,
  read: (cursor: string, signal: AbortSignal) => Promise<CursorPage<Row>>,
  signal: AbortSignal,
): Promise<CursorPage<Row>> {
  const ends = new Set(
    [...steps].flatMap(([name, { from, lastId }]) => (isOf(name, key, from) ? lastId : [])),
  );
  const data = [...first.data];
  let { pagination } = first;
  for (let more = 0; more < MOST_FILLED; more++) {
    if (pagination.next_cursor === null || ends.size === 0 || data.some(({ id }) => ends.has(id))) break;
    const next = await read(pagination.next_cursor, signal);
    data.push(...next.data);
    pagination = next.pagination;
  }
  return { data, pagination };
}

function isOf(name: string, key: QueryKey, from: string): boolean {
  return from === "" && name.startsWith(`${JSON.stringify(key)} `);
}

/** All cached rows, each once. */
export function flatten<Row extends { id: number }>(pages: readonly CursorPage<Row>[] = []): Row[] {
  const rows = new Map<number, Row>();
  for (const { data } of pages) for (const row of data) if (!rows.has(row.id)) rows.set(row.id, row);
  return [...rows.values()];
}
