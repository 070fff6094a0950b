import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildPanel } from "../test/run/build-panel.ts";
import { type Receiver, startReceiver } from "../test/servers/receiver.ts";
import { OWNER } from "../test/sign-in.ts";
import { ROOT } from "../test/source-files.ts";
import {
  DESKTOP,
  describeInBrowser,
  type PanelStory,
  PHONE,
  startPanelStory,
} from "../test/stories/panel-story.ts";

describeInBrowser("the panel in a browser", () => {
  let story: PanelStory;
  beforeAll(async () => {
    story = await startPanelStory();
  });
  afterAll(() => story?.close());

  const openInstances = async (page: Page) => {
    await story.signIn(page);
    const main = page.getByRole("navigation", { name: "Main" });
    await main.getByRole("link", { name: "Instances" }).click();
    await story.heading(page, "Instances");
  };

  test("a new owner gets from the first page to a read message using only visible controls", async () => {
    const { openPage, look, press, follow, heading, signIn, url } = story;
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
    await heading(page, "Save these keys");
    await look(page, "keys");
    await follow(page, "Continue to linking");
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

  test("a webhook that the panel adds receives a signed test, and the panel shows the response", async () => {
    const { gateway, openPage, look, press, follow } = story;
    const receiver: Receiver = await startReceiver();
    const { id } = await gateway.connectInstance({ name: "Night shift" });
    const page = await openPage(DESKTOP);
    await openInstances(page);
    await follow(page, "Send a message: Night shift");
    await page.getByLabel("Address of the webhook").fill(receiver.url);
    await press(page, "Add the webhook and test it");
    await page.getByText("Your program answered with status 200").waitFor();
    await look(page, "webhook");
    const { data } = await gateway.owner.listWebhooks({ id });
    // The page itself has opened a receiver.
    const added = data.map(({ url }) => url).filter((url) => !url.endsWith("/webhook-receiver"));
    expect(added).toEqual([receiver.url]);
    await receiver.close();
  });

  test("an instance that loses its phone is shown as unlinked at once, with the remedy", async () => {
    const { gateway, openPage, look, press, heading } = story;
    const { id } = await gateway.connectInstance({ name: "Returns" });
    const page = await openPage(DESKTOP);
    await openInstances(page);
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
    const { openPage, look, press, heading, url } = story;
    const page = await openPage(PHONE, locale);
    await page.goto(url, { waitUntil: "load" });
    await heading(page, enter);
    expect(await page.getAttribute("html", "lang")).toBe(locale);
    await page.locator("input[name=email]").fill(OWNER.email);
    await page.locator("input[name=password]").fill(OWNER.password);
    await press(page, enter);
    await page.locator('nav a[href="/panel/instances"]').first().click();
    await heading(page, instances);
    await look(page, `instances-${locale}`);
    await page.locator("nav button[aria-expanded=false]").click();
    await page.locator('a[href="/panel/settings"]').click();
    await page.getByRole("combobox").first().selectOption("en");
    await heading(page, "Settings");
    await look(page, `settings-${locale}`);
  });

  test("a wrong password is refused with a reason, and the keyboard alone is enough to sign in", async () => {
    const { openPage, look, heading, url } = story;
    const page = await openPage();
    await page.goto(`${url}instances`, { waitUntil: "load" });
    await page.getByLabel("E-mail").focus();
    await story.type(page, OWNER.email);
    await page.keyboard.press("Tab");
    await story.type(page, "not the password");
    await page.keyboard.press("Enter");
    await page.getByText("The e-mail or the password is wrong.").waitFor();
    await look(page, "refused");
    await page.getByLabel("Password").fill("");
    await page.getByLabel("Password").focus();
    await story.type(page, OWNER.password);
    await page.keyboard.press("Enter");
    await heading(page, "Instances");
  });

  test("a page reports a lost connection, and is live again when the connection returns", async () => {
    const { openPage, look, signIn } = story;
    const page = await openPage();
    const streams = "**/stream*";
    await page.route(streams, (route) => route.abort());
    await signIn(page);
    await page.getByText("Reconnecting to the gateway.").waitFor();
    const again = page.waitForRequest(streams);
    await page.getByRole("button", { name: "Try now" }).click();
    await again;
    await page.unroute(streams);
    await page.getByText("Reconnecting to the gateway.").waitFor({ state: "detached" });
    await page.context().setOffline(true);
    const bar = page.getByText("You are offline. What you see may be out of date.");
    await bar.waitFor();
    await look(page, "offline");
    await page.context().setOffline(false);
    await bar.waitFor({ state: "detached" });
  });
});

interface Chunk {
  file: string;
  isEntry?: boolean;
  imports?: string[];
  dynamicImports?: string[];
}

describe("the build of the panel", () => {
  const FIRST_LOAD_BYTES = 255_000;
  const LATER_PAGE_BYTES = 60_000;
  let chunks: Record<string, Chunk> = {};

  beforeAll(async () => {
    await buildPanel();
    chunks = JSON.parse(readFileSync(join(ROOT, "dist/panel/manifest.json"), "utf8"));
  });

  /** A chunk with all its static imports. */
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

  test("loads less than 255 kB of compressed JavaScript at first, and less than 60 kB for each later page", () => {
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
