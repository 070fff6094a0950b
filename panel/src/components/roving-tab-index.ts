import { focusSearch, onShortcut } from "./on-shortcut.ts";

const CONTROLS = "a[href], button, input, select, textarea, summary, [tabindex]";

/** For the `ref` of a list: it is one stop of the Tab key, and the arrows, j and k move between its rows. */
export const rovingTabIndex = createRovingTabIndex({ rows: ":scope > li" });

/** The found chats and messages are one list. */
export const resultsRovingTabIndex = createRovingTabIndex({ rows: ":scope > section > ul > li" });

/** The arrows also move between the columns. A column without a card is itself a row. */
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

/** The row that had the focus last is the stop, with the controls in it and those beside the rows of its column. */
function createRovingTabIndex(layout: Layout) {
  return (frame: HTMLElement | null) => {
    if (frame === null) return;
    frame.dataset.rovingTabIndex = "";
    let last: Element | undefined;
    const read = () => {
      const columns = readColumns(frame, layout);
      return { columns, ...findPlace(columns, last) };
    };
    const mark = () => markStops(read());
    const move = (step: Step) => {
      const now = read();
      // From elsewhere, the first key leads to where one was.
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

interface Place {
  x: number;
  y: number;
}

/** Where the last row is, otherwise the one that is open, otherwise the first. */
function findPlace(columns: readonly Column[], last: Element | undefined): Place {
  const place = (is: (row: Element) => boolean) =>
    columns.map(({ rows }, x) => ({ x, y: rows.findIndex(is) })).find(({ y }) => y !== -1);
  return (
    place((row) => row === last) ??
    place((row) => row.querySelector("[aria-current]") !== null) ??
    place(() => true) ?? { x: 0, y: 0 }
  );
}

function markStops({ columns, x, y }: Place & { columns: readonly Column[] }): void {
  columns.forEach((column, at) => {
    const controls = [...column.frame.querySelectorAll<HTMLElement>(CONTROLS)];
    const stop = at === x ? column.rows[y] : undefined;
    const others = new Set<Element>();
    for (const row of column.rows)
      if (row !== stop) for (const one of [row, ...row.querySelectorAll(CONTROLS)]) others.add(one);
    for (const control of controls) setStop(control, at === x && !others.has(control));
  });
}

/** A control that is never a stop stays so. */
function setStop(control: HTMLElement, isStop: boolean): void {
  if (!isStop && control.tabIndex >= 0) {
    control.dataset.noStop = "";
    control.tabIndex = -1;
  } else if (isStop && control.dataset.noStop !== undefined) {
    delete control.dataset.noStop;
    control.tabIndex = 0;
  }
}

/** A field keeps its keys. */
const isForRows = ({ target, altKey, ctrlKey, metaKey, shiftKey }: KeyboardEvent) =>
  !(altKey || ctrlKey || metaKey || shiftKey) && !(target as Element).matches("input, select, textarea");

/** A row that has the focus itself opens as its link does. */
function openRow({ key, target }: KeyboardEvent, row: Element | undefined): boolean {
  const link = key === "Enter" && target === row ? row?.querySelector("a") : null;
  link?.click();
  return link != null;
}

type Step = (now: Place & { columns: readonly Column[] }) => HTMLElement | undefined;

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
