import { readFile } from "node:fs/promises";
import { gunzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PASSWORD, signIn } from "../test/sign-in.ts";
import { DESKTOP, describeInBrowser, type PanelStory, startPanelStory } from "../test/stories/panel-story.ts";

describeInBrowser("the administration in the panel", () => {
  let story: PanelStory;
  let instance: number;
  beforeAll(async () => {
    story = await startPanelStory();
    const { owner, connectInstance } = story.gateway;
    const desk = await connectInstance({ name: "Front desk" });
    instance = desk.id;
    await desk.client.sendText({ id: desk.id, number: "5511987651234", text: "Hello" });
    await owner.createAccount({ name: "Bakery", email: "boss@bakery.example", password: PASSWORD });
  });
  afterAll(() => story?.close());

  async function open(page: Page, tab?: string): Promise<void> {
    await story.signIn(page);
    await page
      .getByRole("navigation", { name: "Main" })
      .getByRole("link", { name: "Administration" })
      .click();
    const pages = page.getByRole("navigation", { name: "Pages of the administration" });
    await pages.waitFor();
    if (tab !== undefined) await pages.getByRole("link", { name: tab, exact: true }).click();
  }

  /** The state in which a restore leaves a pending delivery. */
  async function holdDelivery(): Promise<void> {
    const { db } = story.gateway.database;
    const now = new Date();
    const { global_lane: lane } = await db
      .selectFrom("instance")
      .select("global_lane")
      .where("id", "=", instance)
      .executeTakeFirstOrThrow();
    const times = { backup_at: now, restored_at: now };
    await db
      .insertInto("restore_record")
      .values({ backup: "bkp_1", ...times })
      .execute();
    const held = { id: 1, lane: lane ?? 0, kind: "webhook", prio: 1, pos: 1, grp: "x", ref: "{}" };
    await db
      .insertInto("held_job")
      .values({ ...held, run_at: now, attempts: 0, max_attempts: 9 })
      .execute();
  }

  test("the overview shows totals of the gateway, with links to the instances behind each", async () => {
    const page = await story.openPage(DESKTOP);
    await open(page);
    await story.heading(page, "The whole gateway");
    const figures = page.getByRole("list", { name: "Figures" });
    const accounts = figures.getByRole("listitem").filter({ hasText: "in service" });
    await accounts.getByText("2", { exact: true }).waitFor();
    await page.getByRole("heading", { name: "Messages of Owner in 24 hours" }).waitFor();
    await story.lookBoth(page, "administration-overview");
    await page.getByRole("link", { name: "Show instances: Connected" }).click();
    await page.waitForURL(/monitor\?status=connected/);
    await page.getByRole("heading", { name: "Front desk" }).waitFor();
  });

  test("the monitor lists a banned instance and a failing webhook with their remedies", async () => {
    const { gateway } = story;
    const { id, client } = await gateway.connectInstance({ name: "Returns" });
    await client.createWebhook({ id, name: "Shop", url: "http://127.0.0.1:9/hook", events: ["*"] });
    await client.sandboxReceive({ id, from: "5511987651239", text: "Hi" });
    await gateway.owner.sandboxBan({ id });
    const page = await story.openPage(DESKTOP);
    await open(page, "Monitor");
    const alerts = page.getByRole("list", { name: "What needs a person" });
    const lost = alerts.getByRole("listitem").filter({ hasText: "Returns is no longer connected: Banned." });
    await lost.getByText("Critical").waitFor();
    await lost.getByText("What to do:").waitFor();
    await alerts.getByText("The webhook Shop fails. Its program refuses the connection.").waitFor();
    await page.getByRole("heading", { name: "Failing webhooks" }).waitFor();
    await story.lookBoth(page, "administration-monitor");
    await page.getByRole("combobox", { name: "Status" }).selectOption("connected");
    await page.getByRole("heading", { name: "Returns" }).waitFor({ state: "detached" });
    expect(page.url()).toContain("status=connected");
    await lost.getByRole("link", { name: "Read the log" }).click();
    await page.waitForURL(/logs\?/);
    await page.getByRole("list", { name: "Connections" }).getByText("banned").first().waitFor();
    await page.getByRole("navigation", { name: "Pages of the administration" }).getByText("Monitor").click();
    await lost.getByRole("link", { name: `Open instance ${id}` }).click();
    await story.heading(page, "Returns");
  });

  test("an account is created with a generated password, blocked, given a new password, and removed after its name is typed", async () => {
    const { url } = story.gateway;
    const page = await story.openPage(DESKTOP);
    await open(page, "Accounts");
    await story.lookBoth(page, "administration-accounts");
    await page.route("**/api/admin/overview", async (route) => {
      const { data, ...body } = await (await route.fetch()).json();
      await route.fulfill({ json: { ...body, data: { ...data, next_account_closes_this_machine: true } } });
    });
    await story.follow(page, "New account");
    await page.getByText("the gateway no longer calls this machine").waitFor();
    await page.getByLabel("Name of the account").fill("Florist");
    await page.getByLabel("E-mail of the first user").fill("boss@florist.example");
    await page.getByLabel("Trial ends").fill("tomorrow");
    await story.press(page, "Create the account");
    await page.locator(".field-error").filter({ hasText: /\w/ }).first().waitFor();
    await story.lookBoth(page, "administration-new-account");
    await page.getByLabel("Trial ends").fill("2036-01-31");
    await page.getByLabel("Country of numbers without a country code").selectOption("Mexico");
    await story.press(page, "Create the account");
    await story.heading(page, "Florist is created");
    const password = await page.getByRole("region", { name: "Password" }).textContent();
    const { client } = await signIn(url, { email: "boss@florist.example", password: password ?? "" });
    expect((await client.getAccount()).data.settings.default_country).toBe("MX");
    await story.follow(page, "Open the account");
    await story.heading(page, "Florist");
    await page.getByText("On trial", { exact: true }).first().waitFor();
    await page.getByLabel("Status").selectOption("blocked");
    await story.press(page, "Save");
    await page.getByText("Blocked", { exact: true }).first().waitFor();
    await story.lookBoth(page, "administration-account");
    await story.press(page, "New password");
    await page.getByRole("alertdialog").getByRole("button", { name: "New password" }).click();
    await page.getByText("has a new password").waitFor();
    await story.press(page, "Remove the account");
    const dialog = page.getByRole("alertdialog", { name: "Remove Florist with all its data?" });
    await dialog.getByLabel("Type Florist to confirm").fill("Florist");
    await story.look(page, "administration-remove-account");
    await dialog.getByRole("button", { name: "Remove it for good" }).click();
    await page.getByRole("heading", { name: "Accounts", level: 1 }).waitFor();
    await page.getByRole("link", { name: "Florist" }).waitFor({ state: "detached" });
  });

  test("the list of accounts is searched by part of a name, keeps its filter in the URL, and is exported filtered", async () => {
    const page = await story.openPage(DESKTOP);
    await open(page, "Accounts");
    await page.getByRole("link", { name: "Bakery" }).waitFor();
    await page.getByRole("searchbox", { name: "Name or e-mail" }).fill("owner@");
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "Bakery" }).waitFor({ state: "detached" });
    expect(new URL(page.url()).searchParams.get("search")).toBe("owner@");
    const download = page.waitForEvent("download");
    await story.press(page, "Export as CSV");
    const csv = await readFile(await (await download).path(), "utf8");
    expect(csv).toMatch(/^\uFEFFid,name,account_type/);
    expect(csv).toContain("Owner");
    expect(csv).not.toContain("Bakery");
    await page.getByRole("searchbox", { name: "Name or e-mail" }).fill("nobody at all");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "No account matches" }).waitFor();
  });

  test("a plan is created with a limit, shows its validation errors, is changed and deleted", async () => {
    const page = await story.openPage(DESKTOP);
    await open(page, "Plans");
    await page.getByRole("heading", { name: "standard" }).waitFor();
    await story.lookBoth(page, "administration-plans");
    await page.evaluate(`history.pushState({}, "", "/panel/administration/plans/1")`);
    await story.heading(page, "unlimited");
    await page.getByText("This is the owner's own plan. It cannot be changed.").waitFor();
    expect(await page.locator("main input, main button[type=submit]").count()).toBe(0);
    await story.lookBoth(page, "administration-plan-fixed");
    await story.follow(page, "All plans");
    await story.follow(page, "New plan");
    await story.heading(page, "New plan");
    await page.getByLabel("Name").fill("Small");
    await page.getByLabel("Instances", { exact: true }).fill("two");
    await story.press(page, "Save");
    await page
      .locator(".field-error")
      .filter({ hasText: /number/ })
      .first()
      .waitFor();
    await story.lookBoth(page, "administration-plan");
    await page.getByLabel("Instances", { exact: true }).fill("2");
    await page.getByLabel("Contacts and tags").selectOption("Not included");
    await story.follow(page, "All plans");
    await page.getByRole("alertdialog", { name: "Leave without saving?" }).waitFor();
    await story.press(page, "Stay here");
    await story.press(page, "Save");
    const name = page.getByRole("heading", { name: "Small" });
    const card = page.getByRole("listitem").filter({ has: name });
    await card.getByText("Without: Contacts and tags.").waitFor();
    await story.follow(page, "Edit Small");
    await page.getByLabel("Messages a month").fill("5000");
    await story.press(page, "Save");
    await card.getByText("5,000").waitFor();
    const { data } = await story.gateway.owner.listPlans();
    const small = data.find((plan) => plan.name === "Small");
    expect(small).toMatchObject({ max_instances: 2, max_messages: 5000, features: { crm: false } });
    await card.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click();
    await card.waitFor({ state: "detached" });
  });

  test("each log keeps its filter in the URL, and an entry expands to all its fields", async () => {
    const page = await story.openPage(DESKTOP);
    await open(page, "Logs");
    const audit = page.getByRole("list", { name: "Audit" });
    const entry = audit.getByRole("listitem").filter({ hasText: "account.create" }).first();
    await entry.locator("summary").click();
    await entry.getByText("request_id").waitFor();
    await story.lookBoth(page, "administration-logs");
    await page.getByRole("searchbox", { name: "Action" }).fill("instance.*");
    await page.keyboard.press("Enter");
    await audit.getByText("instance.create").first().waitFor();
    await audit.getByText("account.create").first().waitFor({ state: "detached" });
    await page.getByRole("combobox", { name: "Log" }).selectOption("messages");
    await page.getByRole("list", { name: "Messages" }).getByText("outbound text").first().waitFor();
    await page.getByRole("searchbox", { name: "Instance number" }).fill(String(instance + 1_000));
    await page.keyboard.press("Enter");
    await page.getByText("No entry matches.").waitFor();
    for (const [type, name] of [
      ["api", "Requests"],
      ["connections", "Connections"],
      ["webhooks", "Webhooks"],
    ] as const) {
      await page.getByRole("searchbox", { name: "Instance number" }).fill("");
      await page.keyboard.press("Enter");
      await page.getByRole("combobox", { name: "Log" }).selectOption(type);
      await page.getByRole("list", { name }).or(page.getByText("No entry matches.")).waitFor();
      await story.look(page, `administration-logs-${type}`);
    }
  });

  test("a backup shows its progress and the result of its restore test, and is downloaded", async () => {
    const page = await story.openPage(DESKTOP);
    await open(page, "Backups");
    await page.getByRole("heading", { name: "No backup yet" }).waitFor();
    await story.lookBoth(page, "administration-no-backup");
    await story.press(page, "Back up now");
    await page.getByText("Restore test").waitFor();
    await story.look(page, "administration-backup-running");
    await page.getByText("It was restored as a test, and every table is complete.").waitFor();
    await story.lookBoth(page, "administration-backups");
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download" }).click();
    const file = await download;
    expect(file.suggestedFilename()).toMatch(/^waygate-.*\.backup$/);
    const bytes = await readFile(await file.path());
    const { data } = await story.gateway.owner.listBackups();
    expect(bytes.length).toBe(data[0]?.size);
    expect(() => gunzipSync(bytes)).toThrow();
  });

  test("the privacy requests of all accounts are listed and filtered, with links to their accounts", async () => {
    const { client } = await signIn(story.gateway.url, { email: "boss@bakery.example" });
    await (await client.exportData()).json();
    const page = await story.openPage(DESKTOP);
    await open(page, "Privacy requests");
    const list = page.getByRole("list", { name: "Privacy requests" });
    await list.getByRole("listitem").filter({ hasText: "Bakery" }).getByText("Done").waitFor();
    await story.lookBoth(page, "administration-requests");
    await page.getByRole("combobox", { name: "Kind" }).selectOption("anonymize");
    await page.getByText("No request matches.").waitFor();
    await page.getByRole("combobox", { name: "Kind" }).selectOption("export");
    await list.getByRole("link", { name: "Bakery" }).click();
    await story.heading(page, "Bakery");
  });

  test("the system page shows nodes, health, and where to set the global webhook", async () => {
    const page = await story.openPage(DESKTOP);
    await open(page, "System");
    await page.getByText("Database works").waitFor();
    await page.getByRole("heading", { name: "One node runs" }).waitFor();
    await page.getByText("It is set with the administrative token").waitFor();
    await story.lookBoth(page, "administration-system");
  });

  test("an operator decides about the work that a restore holds back after reading the consequence", async () => {
    await holdDelivery();
    const page = await story.openPage(DESKTOP);
    await open(page);
    await page.getByRole("heading", { name: "The restored backup holds work back" }).waitFor();
    await story.lookBoth(page, "administration-held");
    await story.press(page, "Discard");
    const dialog = page.getByRole("alertdialog", { name: "Discard what was held back?" });
    await dialog.getByText("Nothing is sent twice").waitFor();
    await dialog.getByRole("button", { name: "Discard" }).click();
    await page.getByText("It is given up.").waitFor();
  });

  test.each([
    ["pt-BR", "O gateway inteiro", "pt-br"],
    ["es", "Todo el gateway", "es"],
  ])("the administration is in %s", async (locale, title, name) => {
    const page = await story.openPage(undefined, locale);
    await story.signIn(page, "administration");
    await story.heading(page, title);
    await story.look(page, `administration-overview-${name}`);
  });
});
