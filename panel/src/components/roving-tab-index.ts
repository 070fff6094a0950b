import { focusSearch, onShortcut } from "./on-shortcut.ts";

const CONTROLS = "a[href], button, input, select, textarea, summary, [tabindex]";

/** A `ref` that makes the list one Tab stop (roving tabindex). Arrow keys, j and k move between rows. */
export const rovingTabIndex = createRovingTabIndex({ rows: ":scope > li" });

/** Chats and messages that a search found count as one list. */
export const resultsRovingTabIndex = createRovingTabIndex({ rows: ":scope > section > ul > li" });

/** Left and right move between columns. An empty column is itself a row. */
export const boardRovingTabIndex = createRovingTabIndex({
  columns: ":scope > section",
  rows: ".lead-card, .lead-cards[data-empty]",
});

interface Layout {
  columns?: string;
  rows: string;
}

interface Column {
  readonly frame: Element;
  readonly rows: readonly HTMLElement[];
}

/** The stop is the row that last had the focus, with its controls and those of its column outside of rows. */
function createRovingTabIndex(layout: Layout) {
  return (frame: HTMLElement | null) => {
    if (frame === null) return;
    frame.dataset.rovingTabIndex = "";
    let last: Element | undefined;
    const read = () => {
      const columns = readColumns(frame, layout);
      return { columns, ...findPosition(columns, last) };
    };
    const mark = () => markStops(read());
    const move = (step: Step) => {
      const now = read();
      // From outside the list, the first key returns to the last row.
      const row = frame.contains(document.activeElement) ? step(now) : now.columns[now.x]?.rows[now.y];
      const control = row?.matches(CONTROLS) ? row : row?.querySelector<HTMLElement>(CONTROLS);
      control?.focus();
      return control != null;
    };
    const focus = ({ target }: FocusEvent) => {
      const rows = read().columns.flatMap((column) => column.rows);
      last = rows.find((row) => row.contains(target as Node)) ?? last;
      mark();
    };
    const press = (event: KeyboardEvent) => {
      if (!isForRows(event)) return;
      const step = STEPS[event.key];
      const isDone = step ? move(step) : event.key === "Escape" ? focusSearch() : openRow(event, last);
      if (!isDone) return;
      event.preventDefault();
      event.stopPropagation();
    };
    const observer = new MutationObserver(mark);
    observer.observe(frame, { childList: true, subtree: true, attributeFilter: ["tabindex"] });
    frame.addEventListener("focusin", focus);
    frame.addEventListener("keydown", press, true);
    const isMine = () => (document.activeElement?.closest("[data-one-stop]") ?? frame) === frame;
    const stopLetters = onShortcut(() => ({
      j: () => isMine() && move(down),
      k: () => isMine() && move(up),
    }));
    mark();
    return () => {
      observer.disconnect();
      stopLetters();
    };
  };
}

function readColumns(frame: Element, { columns, rows }: Layout): Column[] {
  const frames = columns === undefined ? [frame] : [...frame.querySelectorAll(columns)];
  return frames.map((one) => ({ frame: one, rows: [...one.querySelectorAll<HTMLElement>(rows)] }));
}

interface Position {
  x: number;
  y: number;
}

/** The last row, otherwise the open one, otherwise the first. */
function findPosition(columns: readonly Column[], last: Element | undefined): Position {
  const find = (is: (row: Element) => boolean) =>
    columns.map(({ rows }, x) => ({ x, y: rows.findIndex(is) })).find(({ y }) => y !== -1);
  return (
    find((row) => row === last) ??
    find((row) => row.querySelector("[aria-current]") !== null) ??
    find(() => true) ?? { x: 0, y: 0 }
  );
}

function markStops({ columns, x, y }: Position & { columns: readonly Column[] }): void {
  columns.forEach((column, at) => {
    const controls = [...column.frame.querySelectorAll<HTMLElement>(CONTROLS)];
    const stop = at === x ? column.rows[y] : undefined;
    const others = new Set<Element>();
    for (const row of column.rows)
      if (row !== stop) for (const one of [row, ...row.querySelectorAll(CONTROLS)]) others.add(one);
    for (const control of controls) setStop(control, at === x && !others.has(control));
  });
}

/** Leaves controls alone that never were a stop. */
function setStop(control: HTMLElement, isStop: boolean): void {
  if (!isStop && control.tabIndex >= 0) {
    control.dataset.noStop = "";
    control.tabIndex = -1;
  } else if (isStop && control.dataset.noStop !== undefined) {
    delete control.dataset.noStop;
    control.tabIndex = 0;
  }
}

/** Inputs keep their keys. */
const isForRows = ({ target, altKey, ctrlKey, metaKey, shiftKey }: KeyboardEvent) =>
  !(altKey || ctrlKey || metaKey || shiftKey) && !(target as Element).matches("input, select, textarea");

/** Enter on a focused row opens its link. */
function openRow({ key, target }: KeyboardEvent, row: Element | undefined): boolean {
  const link = key === "Enter" && target === row ? row?.querySelector("a") : null;
  link?.click();
  return link != null;
}

type Step = (now: Position & { columns: readonly Column[] }) => HTMLElement | undefined;

const down: Step = ({ columns, x, y }) => columns[x]?.rows[y + 1];
const up: Step = ({ columns, x, y }) => columns[x]?.rows[y - 1];
const beside = (columns: readonly Column[], y: number) => {
  const rows = columns.find((column) => column.rows.length > 0)?.rows ?? [];
  return rows[Math.min(y, rows.length - 1)];
};

const STEPS: Readonly<Record<string, Step>> = {
  ArrowDown: down,
  ArrowUp: up,
  ArrowRight: ({ columns, x, y }) => beside(columns.slice(x + 1), y),
  ArrowLeft: ({ columns, x, y }) => beside(columns.slice(0, x).reverse(), y),
  Home: ({ columns, x }) => columns[x]?.rows[0],
  End: ({ columns, x }) => columns[x]?.rows.at(-1),
};
