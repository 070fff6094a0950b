import type { InfiniteData } from "@tanstack/react-query";
import type { Instance } from "./gateway.ts";

export type InstanceListPage = { data: Instance[]; pagination: { next_cursor: string | null } };
type InstanceList = InfiniteData<InstanceListPage>;

/** What a list of instances shows, and in which order. */
export interface InstanceListFilter {
  status?: Instance["status"];
  search?: string;
  sort?: "newest" | "oldest" | "name";
}

type Placed = Pick<Instance, "id" | "name" | "status">;

/** The page and the row before which an instance belongs; undefined: where the list has not been read yet. */
export interface ListPosition {
  page: number;
  row: number;
}

/** Undefined also if the list has the instance already, or does not show it. Only the gateway knows what a search finds. */
export function findPlace(
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

/** The list with the instance at its place, if it has one. */
export function insertInstance(
  list: InstanceList,
  filter: InstanceListFilter,
  instance: Instance,
): InstanceList {
  const place = findPlace(list, filter, instance);
  if (place === undefined) return list;
  const pages = list.pages.map((page, at) =>
    at === place.page ? { ...page, data: page.data.toSpliced(place.row, 0, instance) } : page,
  );
  return { ...list, pages };
}

/** The list without an instance that was removed. */
export function withoutInstance(list: InstanceList, removed: number): InstanceList {
  if (!list.pages.some(({ data }) => data.some(({ id }) => id === removed))) return list;
  const pages = list.pages.map((page) => ({ ...page, data: page.data.filter(({ id }) => id !== removed) }));
  return { ...list, pages };
}
