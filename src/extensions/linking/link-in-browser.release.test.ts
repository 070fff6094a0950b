import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { TestGateway } from "../../../test/gateway.ts";
import { needs } from "../../../test/run/programs.ts";
import { ROOT } from "../../../test/source-files.ts";
import { checkPage, launchBrowser } from "../../../test/stories/check-page.ts";
import { type GatewayOnWhatsApp, startGatewayOnWhatsApp } from "../../../test/whatsapp-gateway.ts";
import type { WhatsAppServer } from "../../../test/whatsapp-server/server.ts";
import { type Client, createClient } from "../../client/client.ts";
import { createConnectionRecorder } from "../../core/sessions/connection/connection-recorder.ts";

const PATIENCE_MS = 60_000;
const SHOTS = join(ROOT, "test-artifacts/link");
const PHONE = { width: 360, height: 740 };
const FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

/** The published extension in Chromium; `authenticate` is the test's authenticator. */
const CHROMIUM_EXTENSION = `
window.chrome = { runtime: { sendMessage: (id, message, answer) => {
  if (id !== "ghpdcgnjffaaekflfpcgkgpbafmjldcp") throw new Error("Invalid extension id");
  if (message.type === "waha-passkey-ping") return answer({ ok: true, type: "waha-passkey-pong" });
  authenticate(message.challenge).then((assertion) => answer({ ok: true, assertion }));
} } };`;
/** The published extension in Firefox. */
const FIREFOX_EXTENSION = `
addEventListener("message", async ({ data }) => {
  if (data?.source !== "waha-passkey-page") return;
  const answer = { source: "waha-passkey-extension", requestId: data.requestId };
  if (data.type === "waha-passkey-ping") return postMessage({ ...answer, ok: true }, location.origin);
  postMessage({ ...answer, ok: false, error: "The user said no" }, location.origin);
});`;
/** The browser's API on web.whatsapp.com. */
const WEBAUTHN = `
PublicKeyCredential.parseRequestOptionsFromJSON = (options) => options;
navigator.credentials.get = async ({ publicKey }) => {
  const assertion = await authenticate(publicKey);
  return { toJSON: () => assertion };
};
window.prompt = (_, answer) => { window.answer = answer; return answer; };`;

let on: GatewayOnWhatsApp;
let server: WhatsAppServer;
let gateway: TestGateway;
let browser: Browser;
let phone: string;
let context: BrowserContext | undefined;
/** Errors of a page, including CSP violations. */
let troubles: string[] = [];

interface Linking {
  id: number;
  client: Client;
  url: string;
}

async function newLink(network: "whatsapp" | "sandbox" = "whatsapp"): Promise<Linking> {
  const { data } = await gateway.owner.createInstance({ name: "Front desk", network });
  const client = createClient({ baseUrl: gateway.url, apiKey: data.api_key });
  const link = (await client.createLink({ id: data.id })).data.url;
  return { id: data.id, client, url: `${gateway.url}${new URL(link).pathname}` };
}

interface Opening {
  script?: string;
  userAgent?: string;
  /** Runs before the page opens. */
  prepare?: (page: Page) => Promise<unknown>;
}

async function openPage(url: string, { script, userAgent, prepare }: Opening = {}): Promise<Page> {
  context = await browser.newContext({
    viewport: PHONE,
    reducedMotion: "reduce",
    colorScheme: "light",
    ...(userAgent && { userAgent }),
  });
  context.setDefaultTimeout(PATIENCE_MS);
  const sign = (options: Record<string, unknown>) => server.control.signPasskey(phone, options);
  await context.exposeFunction("authenticate", sign);
  const page = await context.newPage();
  page.on("console", (message) => message.type() === "error" && troubles.push(message.text()));
  page.on("pageerror", (error) => troubles.push(error.message));
  if (script) await page.addInitScript(script);
  await prepare?.(page);
  await page.goto(url, { waitUntil: "load" });
  return page;
}

const look = (page: Page, name: string) => checkPage(page, SHOTS, name);

async function qrOf({ client, id }: Linking): Promise<string> {
  await expect.poll(async () => (await client.getInstanceQr({ id })).data?.qr_code).toBeTruthy();
  return (await client.getInstanceQr({ id })).data?.qr_code ?? "";
}

const connected = ({ client, id }: Linking) =>
  expect.poll(async () => (await client.getInstanceStatus({ id })).data.connected).toBe(true);

describe("the page of a link", needs("chromium"), () => {
  beforeAll(async () => {
    mkdirSync(SHOTS, { recursive: true });
    on = await startGatewayOnWhatsApp();
    ({ network: server, gateway } = on);
    phone = (await server.control.addPerson({ name: "Shop" })).phone;
    browser = await launchBrowser();
  });
  afterEach(async () => {
    await context?.close();
    troubles = [];
  });
  afterAll(async () => {
    await browser?.close();
    await on?.stop();
  });

  test("the link page shows a QR, asks to scan a new one once more, and ends after linking", async () => {
    const link = await newLink();
    const page = await openPage(link.url);
    await page.getByRole("heading", { name: "Begin" }).waitFor();
    expect(await page.locator("html").getAttribute("lang")).toBe("en");
    await look(page, "begin");
    await page.getByRole("button", { name: "Show a QR code" }).press("Enter");
    const picture = page.getByRole("img", { name: "QR code to scan" });
    await picture.waitFor();
    await look(page, "scan");
    const before = await picture.getAttribute("src");
    expect(await page.locator("#qr-time").textContent()).toMatch(/^Code 1 of 5, the next one in \d:\d\d/);
    await qrOf(link);
    await server.control.refreshRegistration({ child: "companion_reg_refresh" });
    await page.getByText("Scan the code once more.").first().waitFor();
    expect(await picture.getAttribute("src")).not.toBe(before);
    await server.control.scan(phone, await qrOf(link));
    await page.getByRole("heading", { name: "Linked", exact: true }).waitFor();
    await look(page, "linked");
    await connected(link);
    expect(troubles).toEqual([]);
  });

  test("the link page lets the installed extension sign", async () => {
    const link = await newLink();
    const page = await openPage(link.url, { script: CHROMIUM_EXTENSION });
    await page.getByRole("button", { name: "Show a QR code" }).click();
    const linked = server.control.scanWithPasskey(phone, await qrOf(link));
    await page.getByRole("heading", { name: "Confirm with your passkey" }).waitFor();
    await look(page, "passkey-extension");
    expect(await page.locator("#passkey-time").textContent()).toMatch(/^Time left: \d+:\d\d/);
    await page.getByRole("button", { name: "Confirm with the passkey" }).click();
    await page.getByRole("heading", { name: "Linked", exact: true }).waitFor();
    expect(await linked).toBeGreaterThan(0);
    await connected(link);
    expect(troubles).toEqual([]);
  });

  test("the link page can cancel while the extension does not respond", async () => {
    const link = await newLink();
    const silent = CHROMIUM_EXTENSION.replace("authenticate(", "new Promise(() => {}, ");
    const page = await openPage(link.url, { script: silent });
    await page.getByRole("button", { name: "Show a QR code" }).click();
    server.control.scanWithPasskey(phone, await qrOf(link)).catch(() => {});
    await page.getByRole("button", { name: "Confirm with the passkey" }).click();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByText("was cancelled").waitFor();
    await page.getByRole("button", { name: "Show a QR code" }).waitFor();
    expect(troubles).toEqual([]);
  });

  test("the link page offers a manual procedure without the extension, and explains an error", async () => {
    const link = await newLink();
    const page = await openPage(link.url);
    await page.getByRole("button", { name: "Show a QR code" }).click();
    const linked = server.control.scanWithPasskey(phone, await qrOf(link));
    await page.getByLabel("Script").waitFor();
    await look(page, "passkey-by-hand");
    await page.getByLabel("Answer").fill('{"id":');
    await page.getByRole("button", { name: "Send the answer" }).click();
    await page.getByRole("alert").getByText("This is not the whole answer").waitFor();
    const script = await page.getByLabel("Script").inputValue();
    await page.getByLabel("Answer").fill(await signByHand(script));
    await page.getByRole("button", { name: "Send the answer" }).click();
    await page.getByRole("heading", { name: "Linked", exact: true }).waitFor();
    await linked;
    expect(troubles).toEqual([]);
  });

  test("the link page calls the Firefox extension, shows its rejection, and can cancel", async () => {
    const link = await newLink();
    const page = await openPage(link.url, { script: FIREFOX_EXTENSION, userAgent: FIREFOX });
    await page.getByRole("button", { name: "Show a QR code" }).click();
    const linked = server.control.scanWithPasskey(phone, await qrOf(link)).catch(() => "cancelled");
    await page.getByRole("button", { name: "Confirm with the passkey" }).click();
    await page.getByRole("alert").getByText("The user said no").waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByText("The confirmation with the passkey was cancelled.").waitFor();
    await page.getByRole("button", { name: "Show a QR code" }).waitFor();
    expect(await linked).toBe("cancelled");
    expect(troubles).toEqual([]);
  });

  test("the link page links by pairing code, typed with the keyboard alone", async () => {
    const link = await newLink();
    const page = await openPage(link.url);
    await page.getByLabel("Or get a code").fill(`+${phone}`);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Type this code on the phone" }).waitFor();
    await look(page, "code");
    const code = (await page.locator("#pairing-code").textContent()) ?? "";
    expect(code).toMatch(/^\w{4}-\w{4}$/);
    await server.control.enterCode(phone, code.replace("-", ""));
    await page.getByRole("heading", { name: "Linked", exact: true }).waitFor();
  });

  test("the link page shows the code to compare", async () => {
    const link = await newLink("sandbox");
    await link.client.connectInstance({ id: link.id, wait_seconds: 60 });
    const page = await openPage(link.url);
    await page.getByRole("heading", { name: "Scan this code" }).waitFor();
    const { engine } = gateway.gateway;
    const expires_at = new Date(Date.now() + 60_000);
    await createConnectionRecorder({ db: gateway.database.db, engine }).record(link.id, {
      type: "passkey_required",
      passkey: { stage: "confirmation_required", options: null, code: "K7QW-3MXA", expires_at },
    });
    await page.getByText("K7QW-3MXA").waitFor();
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Compare the codes");
    await look(page, "compare");
  });

  test("the link page works after a reload, but in no other browser and not with another token", async () => {
    const { url } = await newLink();
    const page = await openPage(url);
    await page.getByRole("heading", { name: "Begin" }).waitFor();
    await page.reload();
    await page.getByRole("heading", { name: "Begin" }).waitFor();
    const stranger = await browser.newContext();
    const other = await stranger.newPage();
    for (const [address, words] of [
      [url, "opened in another browser"],
      [`${gateway.url}/link/${"A".repeat(43)}`, "no longer valid"],
    ] as const) {
      await other.goto(address);
      await other.getByRole("alert").getByText(words).waitFor({ timeout: PATIENCE_MS });
    }
    await stranger.close();
  });

  test("the link page offers a retry after a failure, and accepts one after a lost response", async () => {
    const { url } = await newLink();
    const refuse = (page: Page) =>
      page.route("**/open", (route) =>
        route.fulfill({ status: 503, json: { message: "The gateway is busy." } }),
      );
    const page = await openPage(url, { prepare: refuse });
    await page.getByRole("alert").getByText("The gateway is busy.").waitFor();
    await look(page, "retry");
    await page.route("**/open", async (route) => {
      await route.fetch();
      await route.abort();
    });
    await page.getByRole("button", { name: "Try again" }).press("Enter");
    await page.getByRole("alert").getByText("The gateway cannot be reached.").waitFor();
    await page.unrouteAll();
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("heading", { name: "Begin" }).waitFor();
    expect(await page.getByRole("button", { name: "Try again" }).isVisible()).toBe(false);
  });

  test("the link page works in a browser that forbids storage", async () => {
    const script = `Object.defineProperty(window, "localStorage", {
      get() { throw new DOMException("The operation is insecure.", "SecurityError"); } });`;
    const page = await openPage((await newLink()).url, { script });
    await page.getByRole("heading", { name: "Begin" }).waitFor();
    await page.getByRole("button", { name: "Show a QR code" }).click();
    await page.getByRole("img", { name: "QR code to scan" }).waitFor();
    expect(troubles).toEqual([]);
  });

  test("the link page is served with headers that prevent leaks and foreign scripts", async () => {
    const { headers } = await fetch((await newLink()).url);
    const policy = headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(Object.fromEntries(headers)).toMatchObject({
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
    });
  });
});

/** A user pastes the script into the console of web.whatsapp.com and presses its button. */
async function signByHand(script: string): Promise<string> {
  const page = (await context?.newPage()) as Page;
  await page.route("https://web.whatsapp.com/**", (route) =>
    route.fulfill({ contentType: "text/html", body: "<!doctype html><title>WhatsApp</title>" }),
  );
  await page.goto("https://web.whatsapp.com/");
  await page.evaluate(WEBAUTHN);
  await page.evaluate(script);
  await page.getByRole("button", { name: "Confirm with the passkey" }).click();
  const answer = await page.waitForFunction("window.answer", undefined, { timeout: PATIENCE_MS });
  const text = (await answer.jsonValue()) as string;
  await page.close();
  return text;
}
