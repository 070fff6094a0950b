import type { BrowserContext } from "playwright-core";
import { percentile } from "./process-figures.ts";

/** How long the page took to show the result of each click and key, as the browser measures it. */
export interface InteractionTimes {
  /** Before the first page of the context is opened. */
  watch(context: BrowserContext): Promise<void>;
  /** Prints the figures if `npm run panel:figures` asked for them. */
  print(title: string): void;
}

interface Interaction {
  /** From the event to the next paint, in ms; in steps of 8 ms, and 0 below 16 ms. */
  ms: number;
  /** Type of event and name of its target. */
  what: string;
  path: string;
}

const IS_ASKED = process.env.WAYGATE_PANEL_FIGURES === "yes";
/** The goal for the interaction to next paint. */
const GOAL_MS = 200;

export function measureInteractions(): InteractionTimes {
  const found = new Map<string, Interaction>();
  return {
    async watch(context) {
      if (!IS_ASKED) return;
      await context.exposeFunction("reportInteraction", (id: string, one: Interaction) => {
        if (one.ms >= (found.get(id)?.ms ?? -1)) found.set(id, one);
      });
      await context.addInitScript(REPORT_INTERACTIONS);
    },
    print(title) {
      if (!IS_ASKED || found.size === 0) return;
      const times = [...found.values()].map(({ ms }) => ms);
      const slow = [...found.values()].filter(({ ms }) => ms >= GOAL_MS).sort((a, b) => b.ms - a.ms);
      const figures = {
        interactions: times.length,
        p75: percentile(times, 0.75),
        p98: percentile(times, 0.98),
      };
      const line = JSON.stringify({ ...figures, most: Math.max(...times), slow });
      process.stdout.write(`Interaction to next paint in ms, ${title}: ${line}\n`);
    },
  };
}

/** One interaction has several events, such as pointerdown and click; the longest counts. */
const REPORT_INTERACTIONS = `new PerformanceObserver((list) => {
  for (const { interactionId, duration, name, target } of list.getEntries()) {
    if (!interactionId) continue;
    const label = target?.getAttribute?.("aria-label") ?? target?.textContent ?? "";
    reportInteraction(performance.timeOrigin + " " + interactionId, {
      ms: duration,
      what: name + " " + (target?.tagName ?? "") + " " + label.slice(0, 30),
      path: location.pathname,
    });
  }
}).observe({ type: "event", durationThreshold: 16, buffered: true });`;
