import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { expect } from "vitest";
import { findProgram } from "../run/programs.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
export const THEMES = ["light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

export function launchBrowser(...more: string[]): Promise<Browser> {
  const executablePath = findProgram("chromium");
  const args = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", ...more];
  return chromium.launch({ ...(executablePath && { executablePath }), args, timeout: 80_000 });
}

/** Axe violations by rule, with their elements. */
export async function findFaults(page: Page): Promise<string[]> {
  const found = (await page.evaluate(
    `${AXE}; axe.run(document, { resultTypes: ["violations"], preload: false })`,
  )) as { violations: { id: string; nodes: { html: string }[] }[] };
  return found.violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(" | ")}`,
  );
}

/** Expects that the page fits its window and has no axe violations in both themes. Saves screenshots to the folder. */
export async function checkPage(
  page: Page,
  folder: string,
  name: string,
  themes: readonly Theme[] = THEMES,
): Promise<void> {
  const { width = 0 } = page.viewportSize() ?? {};
  for (const colorScheme of themes) {
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: join(folder, `${name}-${width}-${colorScheme}.png`) });
    const wide = await page.evaluate<number>("document.documentElement.scrollWidth");
    expect(wide, `${name} scrolls sideways`).toBeLessThanOrEqual(width);
    expect(await findFaults(page), `${name}, ${colorScheme}`).toEqual([]);
  }
}
