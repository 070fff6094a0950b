import { randomBytes } from "node:crypto";
import { networkInterfaces } from "node:os";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { createTestDatabase } from "../test/database.ts";
import { buildDist } from "../test/run/build-dist.ts";
import { makeScratchDir } from "../test/run/scratch-dir.ts";
import { skipUnless } from "../test/run/skip-unless.ts";
import { type LaunchedGateway, launchGateway } from "../test/run/spawn-gateway.ts";
import { startReceiver } from "../test/servers/receiver.ts";
import { OWNER, PASSWORD } from "../test/sign-in.ts";
import { DESKTOP, describeInBrowser, type PanelStory, startPanelStory } from "../test/stories/panel-story.ts";

const HOME = "From nothing to a first message";
const STRONG = "gravel trombone oyster lamp";

beforeAll(buildDist);

/** A gateway process that was never started before. */
async function prepareFirstStart(): Promise<() => Promise<{ gateway: LaunchedGateway; link: string }>> {
  const database = await createTestDatabase();
  const data = await makeScratchDir();
  onTestFinished(async () => {
    await database.drop();
    await data.remove();
  });
  const settings = {
    NODE_ENV: "test",
    DATABASE_URL: database.url,
    WAYGATE_SECRET_KEY: randomBytes(32).toString("base64"),
    WAYGATE_DATA_DIR: data.path,
    WAYGATE_PORT: "0",
    WAYGATE_WHATSAPP_URL: "ws://127.0.0.1:1/",
    WAYGATE_BACKUP_AT: "off",
    WAYGATE_MAX_LAG: "0s",
  };
  return async () => {
    const gateway = launchGateway(settings);
    onTestFinished(async () => void (await gateway.kill()));
    await gateway.listening;
    await expect.poll(() => gateway.output()).toMatch(/\/panel\/welcome#\S+\n[\s\S]*Owner's sign-in/);
    return { gateway, link: /^ +(http\S+\/panel\/welcome#\S+)$/m.exec(gateway.output())?.[1] ?? "" };
  };
}

/** The first address of this machine besides loopback. */
const LAN = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ internal, family }) => !internal && family === "IPv4")?.address;

describeInBrowser("the way into the panel", () => {
  let story: PanelStory;
  beforeAll(async () => {
    story = await startPanelStory({ WAYGATE_HOST: "0.0.0.0" });
  });
  afterAll(() => story?.close());

  test("the printed link leads a new owner to a signed webhook, using only visible controls", async () => {
    const { openPage, press, follow, heading } = story;
    const receiver = await startReceiver();
    onTestFinished(() => receiver.close());
    const start = await prepareFirstStart();
    const { link } = await start();
    const page = await openPage();
    await page.goto(link, { waitUntil: "load" });
    await heading(page, "Welcome");
    await page.getByLabel("New password").fill(STRONG);
    await press(page, "Set the password");
    await follow(page, "Create the first instance");
    await page.getByLabel("Name").fill("Front desk");
    await press(page, "Create the instance");
    await follow(page, "Continue to linking");
    await press(page, "Show the code");
    await press(page, "Scan with a sandbox phone");
    await follow(page, "Send the first message");
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await page.locator('[data-status="read"]').waitFor();
    await page.getByLabel("Address of the webhook").fill(receiver.url);
    await press(page, "Add the webhook and test it");
    await page.getByText("Your program answered with status 200").waitFor();
  });

  test("the link's secret leaves the address bar at once, a weak password is refused with a reason, and a used link says so", async () => {
    const { openPage, look, press, heading } = story;
    const start = await prepareFirstStart();
    const { link, gateway } = await start();
    const page = await openPage();
    await page.goto(link, { waitUntil: "load" });
    await page.getByLabel("E-mail for later sign-ins").waitFor();
    expect(await page.getByLabel("E-mail for later sign-ins").inputValue()).toBe("owner@localhost");
    expect(page.url()).toBe(link.split("#")[0]);
    await look(page, "welcome");
    await page.getByLabel("New password").fill("password1234");
    await press(page, "Set the password");
    await page.getByText("This password is too easy to guess.").waitFor();
    await look(page, "welcome-weak");
    await page.getByLabel("New password").fill(STRONG);
    await press(page, "Set the password");
    await page.waitForURL("**/panel/instances");
    const other = await openPage(DESKTOP);
    await other.goto(link, { waitUntil: "load" });
    await other.getByText("This link does not work any more").waitFor();
    await look(other, "welcome-used");
    await other.getByRole("link", { name: "Sign in" }).click();
    await heading(other, "Sign in");
    const [, secret = "none"] = link.split("#");
    expect(gateway.output().split(secret)).toHaveLength(2);
  });

  test("after a kill between printing and using the link, the next start prints another one, and both work", async () => {
    const { openPage } = story;
    const start = await prepareFirstStart();
    const first = await start();
    await first.gateway.kill("SIGKILL");
    const second = await start();
    const { origin } = new URL(second.link);
    const page = await openPage();
    for (const link of [second.link, `${origin}/panel/welcome#${first.link.split("#")[1]}`]) {
      await page.goto("about:blank");
      await page.goto(link, { waitUntil: "load" });
      await page.getByLabel("New password").waitFor();
    }
  });

  test("a user with a password set by an administrator must choose another one before the panel opens", async () => {
    const { url, gateway, openPage, look, press, heading } = story;
    const ana = { name: "Ana", email: "ana@example.com", password: PASSWORD };
    await gateway.owner.confirmPassword({ password: OWNER.password });
    await gateway.owner.createUser(ana);
    const page = await openPage();
    await page.goto(`${url}crm`, { waitUntil: "load" });
    await page.getByLabel("E-mail").fill(ana.email);
    await page.getByLabel("Password").fill(PASSWORD);
    await press(page, "Sign in");
    await heading(page, "Choose your own password");
    await page.reload({ waitUntil: "load" });
    await heading(page, "Choose your own password");
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    await look(page, "own-password");
    await page.getByLabel("Present password").fill(PASSWORD);
    await page.getByLabel("New password").fill(STRONG);
    await press(page, "Change the password");
    await heading(page, "Contacts");
    await page.reload({ waitUntil: "load" });
    await heading(page, "Contacts");
  });

  test("a person with many accounts chooses one, and opens the eleventh by its number", async () => {
    const { url, gateway, openPage, press, follow, look, heading } = story;
    const email = "carla@example.com";
    const make = async (name: string, password = PASSWORD) => {
      const own = { name, email, password, must_change_password: false };
      return (await gateway.owner.createAccount(own)).data.id;
    };
    await gateway.owner.confirmPassword({ password: OWNER.password });
    const [bakery, garage] = [await make("Bakery"), await make("Garage")];
    for (let i = 3; i <= 10; i++) await make(`Shop ${i}`, `${STRONG} ${i}`);
    const eleventh = await make("Eleventh", STRONG);
    const page = await openPage(DESKTOP);
    const enter = async (password: string) => {
      await page.goto(`${url}sign-in`, { waitUntil: "load" });
      await page.getByLabel("E-mail").fill(email);
      await page.getByLabel("Password").fill(password);
      await press(page, "Sign in");
    };
    await enter(PASSWORD);
    await page.getByRole("button", { name: `Bakery (number ${bakery})` }).waitFor();
    await press(page, `Garage (number ${garage})`);
    await heading(page, HOME);
    await follow(page, "Settings");
    await page.getByText(`Garage (number ${garage})`).waitFor();
    await enter(STRONG);
    await page.getByText("The e-mail or the password is wrong.").waitFor();
    await page.getByLabel("Account number").fill(String(eleventh));
    await look(page, "sign-in-number");
    await press(page, "Sign in");
    await heading(page, HOME);
    await follow(page, "Settings");
    await page.getByText(`Eleventh (number ${eleventh})`).waitFor();
  });

  const DEVICE = { name: "waygate-device", httpOnly: true, sameSite: "Strict" };

  test("a reload and a second tab keep the session, no script can read it, and a sign-out ends it in both", async () => {
    const { url, openPage, signIn, heading, press } = story;
    const page = await openPage(DESKTOP);
    await signIn(page);
    await heading(page, HOME);
    await page.reload({ waitUntil: "load" });
    await heading(page, HOME);
    const stored =
      "document.cookie + Object.values({ ...localStorage }) + Object.values({ ...sessionStorage })";
    expect(await page.evaluate<string>(stored)).not.toMatch(/eyJ|__Host/);
    const cookies = await page.context().cookies();
    expect(cookies.find(({ name }) => name === "__Host-waygate")).toMatchObject({
      httpOnly: true,
      secure: true,
      sameSite: "Strict",
    });
    const second = await page.context().newPage();
    await second.goto(`${url}crm`, { waitUntil: "load" });
    await press(second, "Sign out");
    await heading(second, "Sign in");
    expect(await page.context().cookies()).toMatchObject([DEVICE]);
    await page.reload({ waitUntil: "load" });
    await heading(page, "Sign in");
    // Another client behind the same address guesses passwords. This known browser can still sign in.
    for (let i = 0; i < 6; i++)
      await fetch(new URL("/api/auth/login", url), {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ email: OWNER.email, password: "wrong" }),
      });
    await signIn(page);
    await heading(page, HOME);
  });

  test("a new sign-in after the end of a session leads back to the page with its filters", async () => {
    const { url, openPage, signIn, heading, press } = story;
    const page = await openPage(DESKTOP);
    await signIn(page);
    await heading(page, HOME);
    await page.context().clearCookies();
    await page.goto(`${url}crm?search=Ana&stage=Novo`, { waitUntil: "load" });
    await heading(page, "Sign in");
    await page.getByLabel("E-mail").fill(OWNER.email);
    await page.getByLabel("Password").fill(OWNER.password);
    await press(page, "Sign in");
    await page.waitForURL("**/panel/crm?search=Ana&stage=Novo");
  });

  test("a sign-out after the end of a session leads to the sign-in page without a sign-in dialog", async () => {
    const { url, openPage, signIn, heading, press } = story;
    const page = await openPage(DESKTOP);
    await signIn(page);
    await heading(page, HOME);
    await page.goto(`${url}settings`, { waitUntil: "load" });
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    await page.context().clearCookies();
    const ended = page.waitForResponse(/\/auth\/logout$/);
    await press(page, "Sign out");
    expect((await ended).status()).toBe(401);
    await heading(page, "Sign in");
    expect(await page.getByRole("dialog").count()).toBe(0);
  });

  test("a sign-out asks for confirmation if the page has unsaved changes", async () => {
    const { openPage, signIn, heading, press } = story;
    const page = await openPage();
    await signIn(page, "administration/plans/new");
    await heading(page, "New plan");
    await page.getByLabel("Name").fill("Small");
    await press(page, "Sign out");
    await page.getByRole("alertdialog", { name: "Leave without saving?" }).waitFor();
    await press(page, "Stay here");
    expect(await page.getByLabel("Name").inputValue()).toBe("Small");
    await press(page, "Sign out");
    await press(page, "Leave");
    await heading(page, "Sign in");
    expect(await page.context().cookies()).toMatchObject([DEVICE]);
  });

  test("another site can neither use the session nor show the panel in a frame", async () => {
    const { url, openPage, signIn, heading } = story;
    const page = await openPage(DESKTOP);
    await signIn(page);
    await heading(page, HOME);
    const me = `${story.gateway.url}/api/auth/me`;
    const opened = await page.context().newPage();
    expect((await opened.goto(me))?.status()).toBe(401);
    // Another host name of this machine is another site.
    await opened.goto(url.replace("127.0.0.1", "localhost"), { waitUntil: "load" });
    await heading(opened, "Sign in");
    const headers = `{ "x-waygate-panel": "1" }`;
    const asked = `fetch("${me}", { credentials: "include", headers: ${headers} }).then((r) => r.status, () => "refused")`;
    expect(await withoutPolicy(opened, asked)).toBe("refused");
    await page.reload({ waitUntil: "load" });
    await heading(page, HOME);
  });

  test(
    "over plain HTTP from another machine, the page says that a reload signs out, and so it does",
    skipUnless(LAN !== undefined, "this machine has no address in a network"),
    async () => {
      const { url, openPage, look, press, heading } = story;
      const page = await openPage();
      await page.goto(url.replace("127.0.0.1", LAN ?? ""), { waitUntil: "load" });
      await page.getByText("This page came without HTTPS.").waitFor();
      await look(page, "sign-in-http");
      await page.getByLabel("E-mail").fill(OWNER.email);
      await page.getByLabel("Password").fill(OWNER.password);
      await press(page, "Sign in");
      await heading(page, HOME);
      expect(await page.context().cookies()).toMatchObject([DEVICE]);
      await page.reload({ waitUntil: "load" });
      await heading(page, "Sign in");
    },
  );
});

/** Evaluates a script in a page of the same site without a CSP. */
async function withoutPolicy(page: Page, script: string): Promise<unknown> {
  await page.route("**/blank", (route) => route.fulfill({ contentType: "text/html", body: "" }));
  await page.goto(`${new URL(page.url()).origin}/blank`);
  return page.evaluate(script);
}
