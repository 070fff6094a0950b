import { type RefObject, useLayoutEffect, useRef, useState } from "react";

/** The width of an element in pixels, also after the window has changed; 0 before the first layout. */
export function useWidth(): [RefObject<HTMLDivElement | null>, number] {
  const element = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const shown = element.current;
    if (shown === null) return;
    setWidth(shown.clientWidth);
    const observer = new ResizeObserver(() => setWidth(shown.clientWidth));
    observer.observe(shown);
    return () => observer.disconnect();
  }, []);
  return [element, width];
}
