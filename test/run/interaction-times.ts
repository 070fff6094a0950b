import type { BrowserContext } from "playwright-core";
import { percentile } from "./process-figures.ts";

/**
 * How long the page took to show the result of each click and key: until the frame with it was handed over for drawing,
 * and as the browser's Event Timing has it. Chromium without a display reports keys of the first seconds after a page was
 * opened as shown up to a second late, although a trace has the frame of each within 30 ms.
 */
export interface InteractionTimes {
  /** Before the first page of the context is opened. */
  watch(context: BrowserContext): Promise<void>;
  /** Prints the figures if `npm run panel:figures` asked for them. */
  print(title: string): void;
}

interface Interaction {
  /** From the event to the end of the next frame, in ms; undefined if only the browser reported it. */
  frame?: number;
  /** As Event Timing reports it, in steps of 8 ms; undefined below 16 ms. */
  reported?: number;
  /** Type of event and name of its target. */
  what: string;
  path: string;
}

const IS_ASKED = process.env.WAYGATE_PANEL_FIGURES === "yes";
/** The goal for the interaction to next paint. */
const GOAL_MS = 200;

export function measureInteractions(): InteractionTimes {
  const frames: Interaction[] = [];
  const reported = new Map<string, Interaction>();
  return {
    async watch(context) {
      if (!IS_ASKED) return;
      await context.exposeFunction("reportInteraction", (id: string, one: Interaction) => {
        if (one.frame !== undefined) frames.push(one);
        else if ((one.reported ?? 0) > (reported.get(id)?.reported ?? -1)) reported.set(id, one);
      });
      await context.addInitScript(REPORT_INTERACTIONS);
    },
    print(title) {
      if (!IS_ASKED || frames.length === 0) return;
      const slow = frames.filter(({ frame = 0 }) => frame >= GOAL_MS);
      const figures = {
        frame: summarise(frames.map(({ frame = 0 }) => frame)),
        event_timing: summarise([...reported.values()].map((one) => one.reported ?? 0)),
        slow,
      };
      process.stdout.write(`Interaction to next paint in ms, ${title}: ${JSON.stringify(figures)}\n`);
    },
  };
}

function summarise(times: number[]) {
  if (times.length === 0) return { count: 0 };
  return {
    count: times.length,
    p75: percentile(times, 0.75),
    p98: percentile(times, 0.98),
    most: Math.max(...times),
  };
}

/** One interaction has several events, such as pointerdown and click; of those that the browser reports, the longest counts. */
const REPORT_INTERACTIONS = `{
  const describe = (name, target) =>
    name + " " + (target?.tagName ?? "") + " " + (target?.getAttribute?.("aria-label") ?? target?.textContent ?? "").slice(0, 30);
  const report = (id, more, name, target) =>
    reportInteraction(performance.timeOrigin + " " + id, { ...more, what: describe(name, target), path: location.pathname });
  new PerformanceObserver((list) => {
    for (const { interactionId, duration, name, target } of list.getEntries())
      if (interactionId) report(interactionId, { reported: duration }, name, target);
  }).observe({ type: "event", durationThreshold: 16, buffered: true });
  // A task that a frame queues runs when the frame has been handed over.
  const afterFrame = (run) => requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = run;
    port2.postMessage(0);
  });
  for (const type of ["keydown", "click"])
    addEventListener(type, ({ timeStamp, target }) => {
      afterFrame(() => report("", { frame: Math.round(performance.now() - timeStamp) }, type, target));
    }, { capture: true });
}`;
