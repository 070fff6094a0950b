import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { describe, expect, onTestFinished } from "vitest";
import { startTestGateway, type TestGateway } from "../gateway.ts";
import { buildPanel } from "../run/build-panel.ts";
import { percentile } from "../run/process-figures.ts";
import { needs } from "../run/programs.ts";
import { OWNER } from "../sign-in.ts";
import { ROOT } from "../source-files.ts";
import { checkPage, launchBrowser, type Theme } from "./check-page.ts";

const PATIENCE_MS = 60_000;
const BETWEEN_KEYS_MS = 40;
const SHOTS = join(ROOT, "test-artifacts/panel");
export const PHONE = { width: 360, height: 740 };
export const DESKTOP = { width: 1280, height: 860 };

/** A gateway with its panel, and a browser. */
export interface PanelStory {
  readonly gateway: TestGateway;
  /** URL of the panel's first page with a trailing slash. */
  readonly url: string;
  /** Opens a page in a new browser profile that ends with the test. Page errors and CSP violations fail the test. */
  openPage(viewport?: { width: number; height: number }, locale?: string): Promise<Page>;
  /** Expects that the page fits its window and has no axe violations in both themes. Saves screenshots. */
  look(page: Page, name: string, themes?: readonly Theme[]): Promise<void>;
  /** Checks the page as it is, and on a phone. */
  lookBoth(page: Page, name: string): Promise<void>;
  /** Types into the focused element at the pace of a fast typist. */
  type(page: Page, text: string): Promise<void>;
  press(page: Page, name: string | RegExp): Promise<void>;
  follow(page: Page, name: string | RegExp): Promise<void>;
  heading(page: Page, name: string | RegExp): Promise<void>;
  /** Opens the first page or `address` and signs in as the owner. */
  signIn(page: Page, address?: string): Promise<void>;
  close(): Promise<void>;
}

/** A `describe` that is skipped without Chromium. */
export function describeInBrowser(title: string, run: () => void): void {
  describe(title, needs("chromium"), run);
}

/** Start it in `beforeAll`, and close it in `afterAll`. */
export async function startPanelStory(env: Record<string, string> = {}): Promise<PanelStory> {
  mkdirSync(SHOTS, { recursive: true });
  await buildPanel();
  const gateway = await startTestGateway(env);
  // Provides a fake microphone, which a page gets with the context's permission.
  const browser = await launchBrowser("--use-fake-device-for-media-stream");
  const url = `${gateway.url}/panel/`;
  const interactions = measureInteractions();
  return {
    gateway,
    url,
    async openPage(viewport = PHONE, locale = "en-GB") {
      const settings = { viewport, locale, reducedMotion: "reduce", colorScheme: "light" } as const;
      const context = await browser.newContext(settings);
      context.setDefaultTimeout(PATIENCE_MS);
      const troubles: string[] = [];
      onTestFinished(async ({ task }) => {
        if (task.result?.state === "fail")
          for (const page of context.pages()) await showPage(page, task.name);
        await context.close();
        expect(troubles).toEqual([]);
      });
      await context.exposeFunction("reportViolation", (text: string) => troubles.push(text));
      await context.addInitScript(REPORT_VIOLATIONS);
      await interactions.watch(context);
      const page = await context.newPage();
      page.on("pageerror", (error) => troubles.push(error.message));
      return page;
    },
    look,
    async lookBoth(page, name) {
      const before = page.viewportSize() ?? DESKTOP;
      await look(page, name);
      await page.setViewportSize(PHONE);
      await look(page, name);
      await page.setViewportSize(before);
    },
    type: (page, text) => page.keyboard.type(text, { delay: BETWEEN_KEYS_MS }),
    press: (page, name) => page.getByRole("button", { name }).click(),
    follow: (page, name) => page.getByRole("link", { name }).click(),
    heading: (page, name) => page.getByRole("heading", { name, level: 1 }).waitFor(),
    signIn: (page, address = "") => signIn(page, `${url}${address}`),
    async close() {
      interactions.print(expect.getState().testPath?.split("/").at(-1) ?? "");
      await browser.close();
      await gateway.stop();
    },
  };
}

const MOST_SHOWN = 4_000;

/** Prints the state of a page whose test failed. */
async function showPage(page: Page, test: string): Promise<void> {
  const text = await page
    .locator("main")
    .ariaSnapshot({ timeout: 5_000 })
    .catch((error: Error) => error.message);
  process.stdout.write(`The page at the end of "${test}":\n${page.url()}\n${text.slice(0, MOST_SHOWN)}\n`);
}

const REPORT_VIOLATIONS = `document.addEventListener("securitypolicyviolation", (event) =>
  reportViolation(event.violatedDirective + " " + event.blockedURI + " " + event.sample));`;

const look: PanelStory["look"] = (page, name, themes) => checkPage(page, SHOTS, name, themes);

/** Field names do not depend on the language. */
async function signIn(page: Page, url: string): Promise<void> {
  await page.goto(url, { waitUntil: "load" });
  await page.locator("input[name=email]").fill(OWNER.email);
  await page.locator("input[name=password]").fill(OWNER.password);
  await page.locator("button[type=submit]").click();
}

/**
 * Time from each click and key to the next paint: until its frame was handed over for drawing, and from the browser's
 * Event Timing. Headless Chromium reports keys in a page's first seconds up to a second late, although a trace shows
 * each frame within 30 ms.
 */
export interface InteractionTimes {
  /** Call it before the first page of the context opens. */
  watch(context: BrowserContext): Promise<void>;
  /** Prints the figures for `npm run panel:figures`. */
  print(title: string): void;
}

interface Interaction {
  /** From the event to the end of the next frame in ms; undefined if only the browser reported it. */
  frame?: number;
  /** From Event Timing, in steps of 8 ms; undefined below 16 ms. */
  reported?: number;
  /** Event type and target name. */
  what: string;
  path: string;
}

const IS_ASKED = process.env.WAYGATE_PANEL_FIGURES === "yes";
/** Goal of the interaction to next paint. */
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

/** One interaction has several events, such as pointerdown and click. The longest reported one counts. */
const REPORT_INTERACTIONS = `{
  const describe = (name, target) =>
    name + " " + (target?.tagName ?? "") + " " + (target?.getAttribute?.("aria-label") ?? target?.textContent ?? "").slice(0, 30);
  const report = (id, more, name, target) =>
    reportInteraction(performance.timeOrigin + " " + id, { ...more, what: describe(name, target), path: location.pathname });
  new PerformanceObserver((list) => {
    for (const { interactionId, duration, name, target } of list.getEntries())
      if (interactionId) report(interactionId, { reported: duration }, name, target);
  }).observe({ type: "event", durationThreshold: 16, buffered: true });
  // A task queued by a frame runs after the frame was handed over.
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
