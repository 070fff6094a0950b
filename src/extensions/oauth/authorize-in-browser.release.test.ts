import { mkdirSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { TestInstance } from "../../../test/gateway.ts";
import { needs } from "../../../test/run/programs.ts";
import { type StableAddress, startStableAddress } from "../../../test/servers/stable-address.ts";
import { OWNER } from "../../../test/sign-in.ts";
import { ROOT } from "../../../test/source-files.ts";
import { checkPage, launchBrowser } from "../../../test/stories/check-page.ts";
import { type OAuthStory, startOAuthStory } from "../../../test/stories/oauth-story.ts";

const PATIENCE_MS = 60_000;
const SHOTS = join(ROOT, "test-artifacts/oauth");
const PHONE = { width: 360, height: 740 };

let story: OAuthStory;
let address: StableAddress;
let base = "";
let shop: TestInstance;
let browser: Browser;
let context: BrowserContext;
/** Errors of a page, including CSP violations. */
let troubles: string[] = [];

/** A local program that waits for the browser's redirect. */
async function startProgram(): Promise<{ uri: string; asked: URL[]; close(): void }> {
  const asked: URL[] = [];
  const server = createServer((request, response) => {
    asked.push(new URL(request.url ?? "/", "http://program"));
    response.setHeader("content-type", "text/html").end("<title>Back</title>You can close this page.");
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  return { uri: `http://127.0.0.1:${port}/callback`, asked, close: () => server.close() };
}

async function open(redirect_uri: string): Promise<Page> {
  // Registered with another port, like programs that listen on any free one.
  const registered = redirect_uri.replace(/:\d+\//, "/");
  const client_id = await story.register({ client_name: "Desk assistant", redirect_uris: [registered] });
  const { url } = story.request(client_id, { redirect_uri, resource: `${base}/mcp`, scope: "read send" });
  context = await browser.newContext({ viewport: PHONE, reducedMotion: "reduce" });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  page.on("console", (message) => message.type() === "error" && troubles.push(message.text()));
  page.on("pageerror", (error) => troubles.push(error.message));
  await page.goto(`${base}${url.pathname}${url.search}`, { waitUntil: "load" });
  return page;
}

const look = (page: Page, name: string) => checkPage(page, SHOTS, name);

async function signInOn(page: Page, password: string): Promise<void> {
  await page.getByLabel("E-mail", { exact: true }).fill(OWNER.email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
}

describe("the pages that connect an assistant", needs("chromium"), () => {
  beforeAll(async () => {
    mkdirSync(SHOTS, { recursive: true });
    // The gateway needs its public address before it starts.
    address = await startStableAddress(() => story?.gateway.url);
    base = address.url;
    story = await startOAuthStory({ WAYGATE_BASE_URL: base });
    shop = await story.gateway.createInstance({ name: "Shop" });
    await story.gateway.createInstance({ name: `Other ${"long ".repeat(15)}` });
    browser = await launchBrowser();
  });
  afterEach(async () => {
    await context?.close();
    troubles = [];
  });
  afterAll(async () => {
    await browser?.close();
    await story?.stop();
    address?.close();
  });

  test("sign in, ask for instances and tools, and send the browser back to the program", async () => {
    const program = await startProgram();
    const page = await open(program.uri);
    await page.getByText("Desk assistant").waitFor();
    await page.getByText("a program on your own computer (127.0.0.1)").waitFor();
    await look(page, "sign-in");
    await signInOn(page, "wrong password");
    await page.getByRole("alert").filter({ hasText: "The e-mail or the password is wrong." }).waitFor();
    await look(page, "wrong-password");
    await signInOn(page, OWNER.password);
    await page.getByRole("group", { name: "Instances that it may use" }).waitFor();
    await look(page, "consent");
    const isChecked = (name: string | RegExp) => page.getByRole("checkbox", { name }).isChecked();
    expect([
      await isChecked(/Read chats/),
      await isChecked("Send messages"),
      await isChecked(/Create groups/),
    ]).toEqual([true, true, false]);
    await page.getByRole("button", { name: "Allow", exact: true }).click();
    await page.getByText("Choose at least one instance").waitFor();
    await page.getByRole("checkbox", { name: /Shop/ }).check();
    await page.getByRole("checkbox", { name: "Send messages" }).uncheck();
    await page.getByRole("button", { name: "Allow", exact: true }).click();
    await page.getByText("You can close this page.").waitFor();
    const back = Object.fromEntries(program.asked[0]?.searchParams ?? []);
    expect(back).toEqual({ code: expect.stringMatching(/^wgo_c_/), state: "st1", iss: base });
    const grant = await story.gateway.database.db
      .selectFrom("oauth_grant")
      .selectAll()
      .executeTakeFirstOrThrow();
    expect([grant.instance_ids.map(Number), grant.scopes]).toEqual([[shop.id], ["read"]]);
    // The browser reports the status of the refused forms.
    expect(troubles.filter((text) => !/40[01]/.test(text))).toEqual([]);
    program.close();
  });

  test("send the browser back without a code when the user does not want it", async () => {
    const program = await startProgram();
    const first = await open(program.uri);
    await first.getByRole("link", { name: "Cancel" }).click();
    await first.getByText("You can close this page.").waitFor();
    await context.close();
    const second = await open(program.uri);
    await signInOn(second, OWNER.password);
    await second.getByRole("button", { name: "Do not allow" }).click();
    await second.getByText("You can close this page.").waitFor();
    const errors = program.asked
      .filter(({ pathname }) => pathname === "/callback")
      .map(({ searchParams }) => searchParams.get("error"));
    expect(errors).toEqual(["access_denied", "access_denied"]);
    expect(troubles.filter((text) => !/favicon/.test(text))).toEqual([]);
    program.close();
  });
});
