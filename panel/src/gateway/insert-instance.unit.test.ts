import { describe, expect, test } from "vitest";
import type { Instance } from "./gateway.ts";
import { findPosition, type InstanceListPage, insertInstance, withoutInstance } from "./insert-instance.ts";

const instance = (id: number, name = `Desk ${id}`, status: Instance["status"] = "connected") =>
  ({ id, name, status }) as Instance;

/** A list with two loaded pages; `isWhole` means that no page follows. */
function list(rows: Instance[], isWhole = false) {
  const half = Math.ceil(rows.length / 2);
  const page = (data: Instance[], next_cursor: string | null): InstanceListPage => ({
    data,
    pagination: { next_cursor },
  });
  const pages = [page(rows.slice(0, half), "a"), page(rows.slice(half), isWhole ? null : "b")];
  return { pages, pageParams: ["", "a"] };
}

const idsOf = ({ pages }: { pages: InstanceListPage[] }) => pages.map(({ data }) => data.map(({ id }) => id));

describe("an instance is inserted into a long list", () => {
  const newest = list([instance(9), instance(7), instance(5), instance(3)]);

  test("at the top when it is new", () => {
    expect(idsOf(insertInstance(newest, {}, instance(10)))).toEqual([
      [10, 9, 7],
      [5, 3],
    ]);
  });

  test("between its neighbours when its new status matches the filter", () => {
    expect(idsOf(insertInstance(newest, { status: "connected" }, instance(4)))).toEqual([
      [9, 7],
      [5, 4, 3],
    ]);
  });

  test("by its name, ignoring case", () => {
    const named = list([instance(1, "alpha"), instance(2, "Gamma")]);
    expect(idsOf(insertInstance(named, { sort: "name" }, instance(3, "Beta")))).toEqual([[1], [3, 2]]);
  });

  test("at the end of a completely loaded list", () => {
    const rows = [instance(1), instance(2)];
    expect(idsOf(insertInstance(list(rows, true), { sort: "oldest" }, instance(3)))).toEqual([[1], [2, 3]]);
    expect(findPosition(list(rows), { sort: "oldest" }, instance(3))).toBeUndefined();
  });

  test("only if the list shows such instances and does not contain it", () => {
    expect(findPosition(newest, {}, instance(2))).toBeUndefined();
    expect(findPosition(newest, {}, instance(7))).toBeUndefined();
    expect(findPosition(newest, { status: "banned" }, instance(10))).toBeUndefined();
    expect(findPosition(newest, { search: "desk" }, instance(10))).toBeUndefined();
  });

  test("until it is removed again", () => {
    expect(idsOf(withoutInstance(newest, 5))).toEqual([[9, 7], [3]]);
    expect(withoutInstance(newest, 6)).toBe(newest);
  });
});
