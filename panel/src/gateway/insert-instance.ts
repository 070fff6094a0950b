import type { InfiniteData } from "@tanstack/react-query";
import type { Instance } from "./gateway.ts";

export type InstanceListPage = { data: Instance[]; pagination: { next_cursor: string | null } };
type InstanceList = InfiniteData<InstanceListPage>;

export interface InstanceListFilter {
  status?: Instance["status"];
  search?: string;
  sort?: "newest" | "oldest" | "name";
}

type Placed = Pick<Instance, "id" | "name" | "status">;

/** The page and row before which an instance belongs; undefined if that part of the list is not loaded. */
export interface ListPosition {
  page: number;
  row: number;
}

/**
 * Undefined also if the list already contains the instance or filters it out. Only the gateway can evaluate a search.
 */
export function findPosition(
  { pages }: InstanceList,
  { status, search, sort = "newest" }: InstanceListFilter,
  instance: Placed,
): ListPosition | undefined {
  if (search !== undefined || (status !== undefined && status !== instance.status)) return undefined;
  if (pages.some(({ data }) => data.some(({ id }) => id === instance.id))) return undefined;
  const isBefore = ORDERS[sort];
  for (const [page, { data }] of pages.entries()) {
    const row = data.findIndex((other) => isBefore(instance, other));
    if (row >= 0) return { page, row };
  }
  const last = pages.at(-1);
  if (last === undefined || last.pagination.next_cursor !== null) return undefined;
  return { page: pages.length - 1, row: last.data.length };
}

const ORDERS: Readonly<Record<"newest" | "oldest" | "name", (a: Placed, b: Placed) => boolean>> = {
  newest: (a, b) => a.id > b.id,
  oldest: (a, b) => a.id < b.id,
  name: (a, b) => a.name.toLowerCase() < b.name.toLowerCase(),
};

export function insertInstance(
  list: InstanceList,
  filter: InstanceListFilter,
  instance: Instance,
): InstanceList {
  const place = findPosition(list, filter, instance);
  if (place === undefined) return list;
  const pages = list.pages.map((page, at) =>
    at === place.page ? { ...page, data: page.data.toSpliced(place.row, 0, instance) } : page,
  );
  return { ...list, pages };
}

export function withoutInstance(list: InstanceList, removed: number): InstanceList {
  if (!list.pages.some(({ data }) => data.some(({ id }) => id === removed))) return list;
  const pages = list.pages.map((page) => ({ ...page, data: page.data.filter(({ id }) => id !== removed) }));
  return { ...list, pages };
}
