import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { useLayoutEffect, useRef, useState } from "react";
import { useTranslations } from "use-intl";
import type { Instance } from "../../api/gateway.ts";
import { type ListQuery, useReading } from "../../components/use-reading.ts";
import { InstanceRow } from "./instance-row.tsx";

const USUAL_HEIGHT = 98;
const GAP = 12;

/** Any number of instances; only those in view are in the page, and the rest is read while one scrolls. */
export function InstanceRows({ rows, query }: { rows: readonly Instance[]; query: ListQuery }) {
  const t = useTranslations("instances");
  const frame = useRef<HTMLUListElement>(null);
  const [scrollMargin, setScrollMargin] = useState(0);
  // Notices above the list come and go.
  useLayoutEffect(() => setScrollMargin(topOf(frame.current)));
  const list = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => USUAL_HEIGHT,
    getItemKey: (index) => rows[index]?.id ?? index,
    gap: GAP,
    overscan: 6,
    scrollMargin,
  });
  const items = list.getVirtualItems();
  useReading(query, items[0]?.index ?? 0, items.at(-1)?.index ?? 0, rows.length);
  return (
    <ul ref={frame} className="instance-rows" style={{ height: list.getTotalSize() }} aria-label={t("list")}>
      {items.map(({ key, index, start }) => {
        const row = rows[index];
        return (
          row && (
            <li
              key={key}
              ref={list.measureElement}
              data-index={index}
              aria-setsize={query.hasNextPage ? -1 : rows.length}
              aria-posinset={index + 1}
              style={{ transform: `translateY(${start - scrollMargin}px)` }}
            >
              <InstanceRow row={row} />
            </li>
          )
        );
      })}
    </ul>
  );
}

/** Distance from the top of the document, in px. */
function topOf(element: HTMLElement | null): number {
  return element ? Math.round(element.getBoundingClientRect().top + scrollY) : 0;
}
