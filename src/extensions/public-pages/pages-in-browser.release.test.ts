import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createOpenApiDocument } from "../../../scripts/openapi/openapi-document.ts";
import { buildDist } from "../../../test/run/build-dist.ts";
import { needs } from "../../../test/run/programs.ts";
import { ROOT } from "../../../test/source-files.ts";
import { findFaults, launchBrowser } from "../../../test/stories/check-page.ts";
import { webhooksContract } from "../../core/webhooks/contract.ts";
import { createHttpServer, type HttpServer } from "../../platform/http/server/http-server.ts";
import { createLog } from "../../platform/log/log.ts";
import { publicPagesContract } from "./contract.ts";
import { GUIDE, guidePath } from "./guide-pages.ts";
import { NOT_FOUND_PAGE } from "./home-page.ts";
import { publicPagesHandlers } from "./public-pages.ts";

beforeAll(buildDist);

/** The reference library renders slowly on a busy machine. */
const PATIENCE_MS = 80_000;
const SHOTS = join(ROOT, "test-artifacts/pages");
const PHONE = { width: 360, height: 800 };
const DESK = { width: 1280, height: 900 };
const LIGHT_ON_PHONE = { scheme: "light", width: "phone", size: PHONE } as const;
const DARK_ON_DESK = { scheme: "dark", width: "desk", size: DESK } as const;
const DARK_ON_PHONE = { scheme: "dark", width: "phone", size: PHONE } as const;
const LIGHT_ON_DESK = { scheme: "light", width: "desk", size: DESK } as const;
/** One page of each kind is checked in every mode, each other guide page in one mode, in rotation. */
const EVERY_LOOK = [LIGHT_ON_PHONE, DARK_ON_DESK, DARK_ON_PHONE, LIGHT_ON_DESK];
const PAGES = [
  { name: "home", path: "/", looks: EVERY_LOOK },
  { name: "terms", path: "/terms", looks: [LIGHT_ON_PHONE, DARK_ON_DESK] },
  { name: "privacy", path: "/privacy", looks: [LIGHT_ON_PHONE, DARK_ON_DESK] },
  { name: "not-found", path: "/nothing", looks: [LIGHT_ON_PHONE, DARK_ON_DESK] },
  { name: "search", path: "/docs/waygate/search?q=retry", looks: EVERY_LOOK },
  { name: "reference", path: "/docs", looks: EVERY_LOOK },
  // All event pages are of one kind.
  ...GUIDE.filter(({ parent, slug }) => parent === undefined || slug === "message.received").map(
    ({ slug }, index) => ({
      name: `guide-${slug}`,
      path: guidePath(slug),
      looks: slug === "verifying-webhooks" ? EVERY_LOOK : EVERY_LOOK.slice(index % 4, (index % 4) + 1),
    }),
  ),
];

/** Some routes of each kind, because rendering all is slow. */
const SHOWN = { ...publicPagesContract, ...webhooksContract };

let server: HttpServer;
let url = "";
let browser: Browser;
let page: Page;
/** Errors of a page, and its requests to other origins. */
let troubles: string[] = [];

describe("in a browser", needs("chromium"), () => {
  beforeAll(async () => {
    mkdirSync(SHOTS, { recursive: true });
    server = await createHttpServer({
      contract: publicPagesContract,
      handlers: publicPagesHandlers(() => JSON.stringify(createOpenApiDocument(SHOWN)), {
        dataDir: SHOTS,
        recorded: { payloads: {}, formats: {} },
      }),
      authorise: async () => ({ kind: "public" }),
      log: createLog("silent"),
      strictOutput: true,
      bodyLimitBytes: 1000,
      notFoundPage: NOT_FOUND_PAGE,
    });
    ({ url } = await server.listen("127.0.0.1", 0));
    browser = await launchBrowser();
    page = await browser.newPage({ reducedMotion: "reduce" });
    page.setDefaultTimeout(PATIENCE_MS);
    page.on("console", (message) => message.type() === "error" && troubles.push(message.text()));
    page.on("pageerror", (error) => troubles.push(error.message));
    page.on("request", (request) => {
      if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(url))
        troubles.push(request.url());
    });
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  test.each(PAGES)("the page $name is accessible without external request", async ({ name, path, looks }) => {
    troubles = [];
    await page.setViewportSize(PHONE);
    await open(path);
    for (const { scheme, width, size } of looks) {
      await page.emulateMedia({ colorScheme: scheme });
      await page.setViewportSize(size);
      await page.screenshot({ path: join(SHOTS, `${name}-${width}-${scheme}.png`) });
      const wide = await page.evaluate<number>("document.documentElement.scrollWidth");
      expect(wide, "sideways").toBeLessThanOrEqual(size.width);
      expect(await darkness()).toBe(scheme);
      expect(await findFaults(page), `${width}, ${scheme}`).toEqual([]);
    }
    // The browser reports the status of the missing page once.
    const own = name === "not-found" ? [expect.stringContaining("404 (Not Found)")] : [];
    expect(troubles).toEqual(own);
  });

  test("the API reference fills the window, and keeps its authorisation after a reload", async () => {
    await page.setViewportSize(DESK);
    await open("/docs");
    const width = await page.evaluate<number>(
      "document.getElementById('operations').getBoundingClientRect().width",
    );
    expect(width).toBeGreaterThan(1100);
    await page.locator(".btn.authorize").first().click();
    const form = page.locator(".auth-container").filter({ hasText: "x-api-key" });
    await form.locator("input").fill("wg_kept");
    await form.locator("button.authorize").click();
    await page.reload({ waitUntil: "load" });
    await page.locator(".opblock-tag").first().waitFor();
    expect(await page.evaluate<string>("JSON.stringify(sessionStorage)")).toContain("wg_kept");
    await page.locator(".btn.authorize.locked, .btn.authorize").first().click();
    await page.locator(".auth-container").filter({ hasText: "Authorized" }).first().waitFor();
    expect(await page.evaluate<number>("localStorage.length")).toBe(0);
    await page.evaluate("sessionStorage.clear()");
  });

  test("the guide's navigation is folded on a phone and shown beside the text on a desktop", async () => {
    await page.setViewportSize(PHONE);
    await open("/docs/waygate/webhooks");
    const isOpen = () => page.evaluate<boolean>("document.querySelector('nav.pages details').open");
    expect(await isOpen()).toBe(false);
    await page.setViewportSize(DESK);
    await page.waitForFunction("document.querySelector('nav.pages details').open");
    expect(await page.locator(".sample button").count()).toBe(await page.locator(".sample pre").count());
  });

  test("the guide's search works without a script, and a result links to its part of the page", async () => {
    const context = await browser.newContext({ javaScriptEnabled: false, viewport: PHONE });
    const plain = await context.newPage();
    plain.setDefaultTimeout(PATIENCE_MS);
    await plain.goto(`${url}/docs/waygate/webhooks`);
    await plain.getByRole("searchbox").fill("tolerance seconds");
    await plain.getByRole("button", { name: "Search" }).click();
    await plain.waitForURL(/search\?q=tolerance\+seconds$/);
    const result = plain.locator(".results a").first();
    const target = (await result.getAttribute("href")) ?? "";
    await result.click();
    await plain.waitForURL((address) => `${address.pathname}${address.hash}` === target);
    expect(await plain.locator(":target").count()).toBe(1);
    await context.close();
  });

  test("the API reference sends a request to this gateway", async () => {
    await open("/docs#/Public%20pages/home");
    await page.getByRole("button", { name: "Try it out" }).click();
    await page.getByRole("button", { name: "Execute" }).click();
    const status = page.locator(".live-responses-table .response-col_status").last();
    await status.waitFor();
    expect(await status.textContent()).toContain("200");
  });
});

async function open(path: string): Promise<void> {
  await page.goto("about:blank");
  await page.goto(`${url}${path}`, { waitUntil: "load" });
  if (path.startsWith("/docs#") || path === "/docs") await page.locator(".opblock-tag").first().waitFor();
}

async function darkness(): Promise<"light" | "dark"> {
  const colour = await page.evaluate<string>("getComputedStyle(document.body).backgroundColor");
  const [red = 0] = colour.match(/\d+/g)?.map(Number) ?? [];
  return red < 128 ? "dark" : "light";
}
