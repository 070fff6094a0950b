import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { type PreviewServer, preview } from "vite";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { findChromium } from "../test/browser.ts";
import { buildPanel } from "../test/build-panel.ts";
import { startTestGateway, type TestGateway } from "../test/gateway.ts";
import { type Receiver, startReceiver } from "../test/receiver.ts";
import { OWNER } from "../test/sign-in.ts";
import { ROOT } from "../test/source-files.ts";

const executablePath = findChromium();
const title = executablePath
  ? "the panel in a browser"
  : "the panel in a browser: skipped, no Chromium (scripts/install-chromium.sh)";

const PATIENCE_MS = 60_000;
const SHOTS = join(ROOT, "test-artifacts/panel");
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const PHONE = { width: 360, height: 740 };
const DESKTOP = { width: 1280, height: 860 };

/** What the page may do: load and ask its own origin, and show codes that are data URLs. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

let gateway: TestGateway;
let server: PreviewServer;
/** Of the first page. */
let url = "";
let browser: Browser;
let context: BrowserContext | undefined;
/** Errors of a page, including violations of its policy. */
const troubles: string[] = [];

async function openPage(viewport = PHONE, locale = "en-GB"): Promise<Page> {
  context = await browser.newContext({ viewport, locale, reducedMotion: "reduce", colorScheme: "light" });
  context.setDefaultTimeout(PATIENCE_MS);
  await context.exposeFunction("reportViolation", (text: string) => troubles.push(text));
  await context.addInitScript(
    `document.addEventListener("securitypolicyviolation", (event) =>
      reportViolation(event.violatedDirective + " " + event.blockedURI + " " + event.sample));`,
  );
  const page = await context.newPage();
  page.on("pageerror", (error) => troubles.push(error.message));
  return page;
}

/** The page fits its window and has no finding of axe, light and dark. */
async function look(page: Page, name: string): Promise<void> {
  const { width = 0 } = page.viewportSize() ?? {};
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: join(SHOTS, `${name}-${width}-${colorScheme}.png`) });
    const wide = await page.evaluate<number>("document.documentElement.scrollWidth");
    expect(wide, `${name} scrolls sideways`).toBeLessThanOrEqual(width);
    const found = (await page.evaluate(
      `${AXE}; axe.run(document, { resultTypes: ["violations"], preload: false })`,
    )) as { violations: { id: string; nodes: { html: string }[] }[] };
    const faults = found.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html)}`);
    expect(faults, `${name}, ${colorScheme}`).toEqual([]);
  }
}

const press = (page: Page, name: string | RegExp) => page.getByRole("button", { name }).click();
const follow = (page: Page, name: string | RegExp) => page.getByRole("link", { name }).click();
const heading = (page: Page, name: string | RegExp) =>
  page.getByRole("heading", { name, level: 1 }).waitFor();

async function signIn(page: Page): Promise<void> {
  await page.goto(url, { waitUntil: "load" });
  await page.getByLabel("E-mail").fill(OWNER.email);
  await page.getByLabel("Password").fill(OWNER.password);
  await press(page, "Sign in");
}

describe.skipIf(!executablePath)(title, () => {
  beforeAll(async () => {
    mkdirSync(SHOTS, { recursive: true });
    await buildPanel();
    gateway = await startTestGateway();
    server = await preview({
      root: join(ROOT, "panel"),
      logLevel: "error",
      preview: {
        host: "127.0.0.1",
        port: 0,
        proxy: Object.fromEntries(["/api", "/docs"].map((path) => [path, gateway.url])),
        headers: { "content-security-policy": POLICY },
      },
    });
    url = `http://127.0.0.1:${(server.httpServer.address() as AddressInfo).port}/panel/`;
    const args = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"];
    browser = await chromium.launch({ ...(executablePath && { executablePath }), args });
  });
  afterEach(async () => {
    await context?.close();
    expect(troubles.splice(0)).toEqual([]);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
    await gateway?.stop();
  });

  test("a new owner gets from the first page to a read message by what is visible", async () => {
    const page = await openPage();
    await page.goto(url, { waitUntil: "load" });
    await heading(page, "Sign in");
    await look(page, "sign-in");
    await signIn(page);
    await heading(page, "From nothing to a first message");
    await look(page, "first-run");
    await follow(page, "Create the first instance");
    await heading(page, "New instance");
    await press(page, "Create the instance");
    await page.getByText("Fill in this field.").waitFor();
    await page.getByLabel("Name").fill("Front desk");
    await look(page, "new-instance");
    await press(page, "Create the instance");
    await heading(page, "Keep these two");
    await look(page, "keys");
    await follow(page, "Go on: link it");
    await heading(page, "Link Front desk");
    await press(page, "Show the code");
    await page.getByRole("img", { name: "QR code to scan with the phone" }).waitFor();
    await look(page, "link");
    await press(page, "Scan with a sandbox phone");
    await heading(page, "Linked");
    await look(page, "linked");
    await follow(page, "Send the first message");
    await heading(page, "First message");
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await page.locator('[data-status="read"]').waitFor();
    const received = page.getByRole("list", { name: "What your program receives" });
    await received.getByText("message.received").first().waitFor();
    await received.getByText("message.sent").first().click();
    await received.getByText('"text": "Hello from Waygate"').waitFor();
    await look(page, "send");
  });

  test("a webhook that the panel adds gets a signed test, and the panel shows how it was answered", async () => {
    const receiver: Receiver = await startReceiver();
    const { id } = await gateway.connectInstance({ name: "Night shift" });
    const page = await openPage(DESKTOP);
    await signIn(page);
    await follow(page, "Send a message: Night shift");
    await page.getByLabel("Address of the webhook").fill(receiver.url);
    await press(page, "Add the webhook and test it");
    await page.getByText("Your program answered with status 200").waitFor();
    await look(page, "webhook");
    const { data } = await gateway.owner.listWebhooks({ id });
    expect(data.map(({ url }) => url)).toEqual([receiver.url]);
    await receiver.close();
  });

  test("an instance that loses its phone is shown as unlinked at once, with what helps", async () => {
    const { id } = await gateway.connectInstance({ name: "Returns" });
    const page = await openPage(DESKTOP);
    await signIn(page);
    const row = page.getByRole("listitem").filter({ hasText: "Returns" });
    await row.getByText("Connected", { exact: true }).waitFor();
    await gateway.owner.sandboxBan({ id });
    await row.getByText("Banned", { exact: true }).waitFor();
    await row.getByText("WhatsApp has banned this number.").waitFor();
    await look(page, "instances");
    await row.getByRole("link", { name: "Open: Returns" }).click();
    await heading(page, "Returns");
    await look(page, "instance");
    await press(page, "Unlink");
    await page.getByRole("alertdialog", { name: "Unlink Returns?" }).waitFor();
    await look(page, "unlink");
    await page.keyboard.press("Escape");
    await page.getByRole("alertdialog").waitFor({ state: "detached" });
  });

  test.each([
    ["pt-BR", "Entrar", "Instâncias"],
    ["es", "Iniciar sesión", "Instancias"],
  ])("the panel speaks %s, also after a sign-in and on a phone", async (locale, enter, instances) => {
    const page = await openPage(PHONE, locale);
    await page.goto(url, { waitUntil: "load" });
    await heading(page, enter);
    expect(await page.getAttribute("html", "lang")).toBe(locale);
    await page.locator("input[name=email]").fill(OWNER.email);
    await page.locator("input[name=password]").fill(OWNER.password);
    await press(page, enter);
    await heading(page, instances);
    await look(page, `instances-${locale}`);
    await page.locator('a[href="/panel/settings"]').click();
    await page.getByRole("combobox").first().selectOption("en");
    await heading(page, "Settings");
    await look(page, `settings-${locale}`);
  });

  test("a wrong password is refused in words, and the keyboard alone is enough to sign in", async () => {
    const page = await openPage();
    await page.goto(`${url}instances`, { waitUntil: "load" });
    await page.getByLabel("E-mail").focus();
    await page.keyboard.type(OWNER.email);
    await page.keyboard.press("Tab");
    await page.keyboard.type("not the password");
    await page.keyboard.press("Enter");
    await page.getByText("The e-mail or the password is wrong.").waitFor();
    await look(page, "refused");
    await page.getByLabel("Password").fill("");
    await page.getByLabel("Password").focus();
    await page.keyboard.type(OWNER.password);
    await page.keyboard.press("Enter");
    await heading(page, "Instances");
  });

  test("a page without a connection says so, and is live again with it", async () => {
    const page = await openPage();
    await signIn(page);
    await heading(page, "Instances");
    await context?.setOffline(true);
    await page.getByText("You are offline.").waitFor();
    await look(page, "offline");
    await context?.setOffline(false);
    await page.getByText("You are offline.").waitFor({ state: "detached" });
  });
});

interface Chunk {
  file: string;
  isEntry?: boolean;
  imports?: string[];
  dynamicImports?: string[];
}

describe("the build of the panel", () => {
  const FIRST_LOAD_BYTES = 250_000;
  const LATER_PAGE_BYTES = 60_000;
  let chunks: Record<string, Chunk> = {};

  beforeAll(async () => {
    await buildPanel();
    chunks = JSON.parse(readFileSync(join(ROOT, "dist/panel/manifest.json"), "utf8"));
  });

  /** A chunk with all that it imports statically. */
  function closure(name: string, found = new Set<string>()): Set<string> {
    if (found.has(name)) return found;
    found.add(name);
    for (const next of chunks[name]?.imports ?? []) closure(next, found);
    return found;
  }

  const sizeOf = (names: Iterable<string>) =>
    [...names].reduce((sum, name) => {
      const code = readFileSync(join(ROOT, "dist/panel", chunks[name]?.file ?? ""));
      return sum + gzipSync(code, { level: 9 }).length;
    }, 0);

  test("loads less than 250 kB of compressed JavaScript at first, and less than 60 kB for each later page", () => {
    const [entry = ""] = Object.keys(chunks).filter((name) => chunks[name]?.isEntry);
    const first = closure(entry);
    const language = closure("src/i18n/messages/pt-br.ts");
    expect(language.size).toBeGreaterThan(0);
    expect(sizeOf(new Set([...first, ...language]))).toBeLessThan(FIRST_LOAD_BYTES);
    const later = [...first].flatMap((name) => chunks[name]?.dynamicImports ?? []);
    expect(later.length).toBeGreaterThan(4);
    for (const name of later) {
      const added = [...closure(name)].filter((one) => !first.has(one));
      expect(sizeOf(added), name).toBeLessThan(LATER_PAGE_BYTES);
    }
  });

  test("names no other server, has no inline script or style, and lists the licences of what it contains", () => {
    const page = readFileSync(join(ROOT, "dist/panel/index.html"), "utf8");
    expect(page).not.toMatch(/<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)/);
    expect([...page.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, url = ""]) => url[0])).not.toContain("h");
    const styles = readdirSync(join(ROOT, "dist/panel/assets")).filter((name) => name.endsWith(".css"));
    for (const name of styles) {
      const style = readFileSync(join(ROOT, "dist/panel/assets", name), "utf8");
      expect(style).not.toMatch(/url\(["']?(https?:|\/\/|data:)/);
    }
    const licences = readFileSync(join(ROOT, "dist/panel/licenses.md"), "utf8");
    expect(licences).toMatch(/react-dom[\s\S]*MIT/);
  });
});
