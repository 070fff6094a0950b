import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { OWNER, PASSWORD, signIn } from "../test/sign-in.ts";
import { DESKTOP, describeInBrowser, type PanelStory, startPanelStory } from "../test/stories/panel-story.ts";

const NEW_PASSWORD = "purple otter lantern 42 velvet";

describeInBrowser("the account in the panel", () => {
  let story: PanelStory;
  beforeAll(async () => {
    story = await startPanelStory();
  });
  afterAll(() => story?.close());

  async function open(page: Page, tab?: string): Promise<void> {
    await story.signIn(page);
    await page.getByRole("navigation", { name: "Main" }).waitFor();
    const more = page.getByRole("button", { name: "More" });
    if (await more.isVisible()) await more.click();
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Account" }).click();
    const pages = page.getByRole("navigation", { name: "Pages of the account" });
    await pages.waitFor();
    if (tab !== undefined) await pages.getByRole("link", { name: tab, exact: true }).click();
  }

  test("the account page shows the plan's limits as text, and saves a new name and settings", async () => {
    await story.gateway.connectInstance({ name: "Front desk" });
    const page = await story.openPage(DESKTOP);
    await open(page);
    await page.getByText("1 used, no limit").first().waitFor();
    await page.getByText("Campaigns included").waitFor();
    await story.lookBoth(page, "account");
    await page.getByLabel("Name of the account").fill("North store");
    await page.getByText("Let every API key list and create instances").click();
    await page.getByLabel("Time zone").selectOption("America/Sao_Paulo");
    await page.getByLabel("Country of numbers without a country code").selectOption("Brazil");
    await story.press(page, "Save");
    await story.heading(page, "North store");
    const { data } = await story.gateway.owner.getAccount();
    expect(data.settings).toMatchObject({
      keys_manage_instances: false,
      time_zone: "America/Sao_Paulo",
      default_country: "BR",
    });
    // A zone can have several names, and a browser lists only one of them.
    for (const time_zone of ["America/Argentina/Buenos_Aires", "America/Buenos_Aires"]) {
      await story.gateway.owner.updateAccount({ settings: { time_zone } });
      await page.reload();
      expect(await page.getByLabel("Time zone").inputValue()).toBe(time_zone);
    }
    await page.getByRole("link", { name: "API keys" }).click();
    await page.getByText("Keys list their own instance only, and create none.").waitFor();
    await story.lookBoth(page, "account-keys");
    await page.getByRole("link", { name: "Open the key of Front desk" }).click();
    await page.waitForURL(/instances\/\d+\/settings$/);
  });

  test("an administrator adds a user, changes the role, and removes the user after reading the consequence", async () => {
    const page = await story.openPage(DESKTOP);
    await open(page, "Users");
    await story.heading(page, "Users");
    await story.press(page, "Add a user");
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("Ana");
    await dialog.getByLabel("E-mail").fill("ana@example.com");
    await dialog.getByLabel("First password").fill("password1234");
    await dialog.getByRole("button", { name: "Add a user" }).click();
    await dialog.getByText("is too common").waitFor();
    await story.look(page, "account-add-user");
    await dialog.getByLabel("First password").fill(NEW_PASSWORD);
    await dialog.getByRole("button", { name: "Add a user" }).click();
    const row = page.getByRole("listitem").filter({ hasText: "ana@example.com" });
    await row.getByText("Agent").waitFor();
    await story.lookBoth(page, "account-users");
    await row.getByRole("button", { name: "Edit" }).click();
    await page.getByRole("dialog").getByLabel("Role").selectOption("admin");
    await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
    await row.getByText("Administrator").waitFor();
    await page.getByRole("combobox", { name: "Role" }).selectOption("agent");
    await page.getByText("No user has this role.").waitFor();
    expect(page.url()).toContain("role=agent");
    await page.getByRole("combobox", { name: "Role" }).selectOption("All");
    await row.getByRole("button", { name: "Delete" }).click();
    const confirmation = page.getByRole("alertdialog", { name: "Remove Ana?" });
    await confirmation.getByText("The user is signed out at once").waitFor();
    await confirmation.getByRole("button", { name: "Remove the user" }).click();
    await row.waitFor({ state: "detached" });
    await page.getByText("Your own password is changed at Your sign-in.").waitFor();
  });

  test("an agent is limited to one instance, which the list shows, and sees nothing about the whole account", async () => {
    const { createInstance, owner } = story.gateway;
    await createInstance({ name: "Branch" });
    await createInstance({ name: "Head office" });
    await owner.confirmPassword({ password: OWNER.password });
    const caio = { name: "Caio", email: "caio@example.com", password: PASSWORD, must_change_password: false };
    await owner.createUser(caio);
    const page = await story.openPage(DESKTOP);
    await open(page, "Users");
    const row = page.getByRole("listitem").filter({ hasText: caio.email });
    await row.getByRole("button", { name: "Edit" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Instances").selectOption("Only some");
    await dialog.getByText("Branch", { exact: true }).click();
    await story.lookBoth(page, "account-agent-instances");
    await dialog.getByRole("button", { name: "Save" }).click();
    await row.getByText("Only: Branch").waitFor();
    await row.getByRole("button", { name: "Edit" }).click();
    await expect.poll(() => dialog.getByRole("checkbox", { name: "Branch" }).isChecked()).toBe(true);
    await dialog.getByLabel("Role").selectOption("admin");
    expect(await dialog.getByLabel("Instances").count()).toBe(0);

    const own = await story.openPage(DESKTOP);
    await own.goto(story.url, { waitUntil: "load" });
    await own.getByLabel("E-mail").fill(caio.email);
    await own.getByLabel("Password").fill(PASSWORD);
    await story.press(own, "Sign in");
    await story.follow(own, "Instances");
    await own.getByRole("link", { name: "Branch", exact: true }).waitFor();
    expect(await own.getByText("Head office").count()).toBe(0);
    await story.follow(own, "Contacts");
    await own.getByRole("button", { name: "New contact" }).waitFor();
    expect(await own.getByRole("link", { name: "Import" }).count()).toBe(0);
    await story.follow(own, "Quick replies");
    await story.heading(own, "Quick replies");
    expect(await own.getByRole("button", { name: "New quick reply" }).count()).toBe(0);
  });

  test("a change that needs the password asks for it, reports a wrong one, and then completes", async () => {
    const { pool } = story.gateway.database;
    const page = await story.openPage(DESKTOP);
    // New sessions count as confirmed an hour ago.
    await pool.query("alter table sign_in alter confirmed_at set default now() - interval '1 hour'");
    await open(page, "Users");
    await pool.query("alter table sign_in alter confirmed_at set default now()");
    await story.press(page, "Add a user");
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("Bia");
    await dialog.getByLabel("E-mail").fill("bia@example.com");
    await dialog.getByLabel("First password").fill(NEW_PASSWORD);
    await dialog.getByRole("button", { name: "Add a user" }).click();
    const passwordDialog = page.getByRole("dialog", { name: "Your password, please" });
    await passwordDialog.getByLabel("Password").fill("not the password");
    await passwordDialog.getByRole("button", { name: "Confirm" }).click();
    await passwordDialog.getByText("The password is wrong.").waitFor();
    await story.lookBoth(page, "account-confirm-password");
    await passwordDialog.getByLabel("Password").fill(PASSWORD);
    await passwordDialog.getByRole("button", { name: "Confirm" }).click();
    await page.getByRole("listitem").filter({ hasText: "bia@example.com" }).waitFor();
  });

  test("an assistant is listed with its permissions, and loses access when it is disconnected", async () => {
    const { database, owner, connectInstance } = story.gateway;
    const { id } = await connectInstance({ name: "Night shift" });
    const { data: me } = await owner.me();
    await database.db
      .insertInto("oauth_grant")
      .values({
        account_id: me.account.id,
        user_id: me.user.id,
        client_id: "https://assistant.example/client",
        client_name: "Desk assistant",
        redirect_host: "assistant.example",
        scopes: ["read", "send"],
        instance_ids: [id],
        activated_at: new Date(),
      })
      .execute();
    const page = await story.openPage(DESKTOP);
    await open(page, "Assistants");
    const row = page.getByRole("listitem").filter({ hasText: "Desk assistant" });
    await row.getByText("Reaches: Night shift").waitFor();
    await row.getByText("Reads. Sends.").waitFor();
    await page.getByText("By command, for programs on your computer").click();
    await page.getByText("WAYGATE_API_KEY").waitFor();
    await story.lookBoth(page, "account-assistants");
    await row.getByRole("button", { name: "Disconnect" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Disconnect" }).click();
    await page.getByRole("heading", { name: "No assistant is connected" }).waitFor();
    expect((await owner.listAssistants()).data).toEqual([]);
  });

  test("all data are exported, and anonymised only after the user types the account's name", async () => {
    const { owner } = story.gateway;
    await owner.createLead({ name: "Carla", phone: "5511987650044" });
    const { data: account } = await owner.getAccount();
    const page = await story.openPage(DESKTOP);
    await open(page, "Privacy");
    await story.heading(page, "Privacy");
    const download = page.waitForEvent("download");
    await story.press(page, "Export all data");
    const file = JSON.parse(await readFile(await (await download).path(), "utf8"));
    expect(file.data.leads).toEqual(expect.arrayContaining([expect.objectContaining({ name: "Carla" })]));
    await page.getByText("The file is complete").waitFor();
    await page.getByLabel("Messages and files").fill("soon");
    await page.locator("form").getByRole("button", { name: "Save" }).click();
    await page
      .getByText(/expected number|must be|number/i)
      .first()
      .waitFor();
    await page.getByLabel("Messages and files").fill("90");
    await story.follow(page, "Users");
    await page.getByRole("alertdialog", { name: "Leave without saving?" }).waitFor();
    await story.press(page, "Stay here");
    await page.locator("form").getByRole("button", { name: "Save" }).click();
    await expect.poll(async () => (await owner.getAccount()).data.settings.message_retention_days).toBe(90);
    await page.getByLabel("What", { exact: true }).selectOption("leads");
    await story.press(page, "Make anonymous");
    // A toast has this role too.
    const confirmation = page.getByRole("alertdialog", { name: /Make anonymous/ });
    await confirmation.getByText("Names, numbers and notes of contacts are removed").waitFor();
    const confirm = confirmation.getByRole("button", { name: "Make anonymous for good" });
    await confirmation.getByLabel(`Type ${account.name} to confirm`).fill("something else");
    expect(await confirm.isDisabled()).toBe(true);
    await story.look(page, "account-anonymise");
    await confirmation.getByLabel(`Type ${account.name} to confirm`).fill(account.name);
    await confirm.click();
    await confirmation.waitFor({ state: "detached" });
    await page.getByText("Anonymous: Contacts and campaigns").waitFor();
    await expect.poll(async () => JSON.stringify((await owner.listLeads()).data)).not.toContain("Carla");
    await story.lookBoth(page, "account-privacy");
  });

  test("a withdrawal replaces a recorded consent and keeps its record", async () => {
    const page = await story.openPage(DESKTOP);
    await open(page, "Privacy");
    for (const decision of ["yes", "no"]) {
      await story.press(page, "Record a consent");
      const dialog = page.getByRole("dialog");
      await dialog.getByLabel("Number").fill("+55 11 98765-0077");
      await dialog.getByLabel("Purpose").fill("offers");
      await dialog.getByLabel("What the person said").selectOption(decision);
      await dialog.getByRole("button", { name: "Record a consent" }).click();
      await dialog.waitFor({ state: "detached" });
    }
    const records = page.getByRole("list", { name: "Consent" });
    await records.getByText("Withdrawn").waitFor();
    await records.getByText("Replaced").waitFor();
  });

  test("a weak new password is refused with a reason, and a strong one ends all other sessions", async () => {
    const { url, owner } = story.gateway;
    const pupil = {
      name: "Dora",
      email: "dora@example.com",
      password: PASSWORD,
      must_change_password: false,
    };
    await owner.confirmPassword({ password: OWNER.password });
    await owner.createUser({ ...pupil, role: "agent" });
    const elsewhere = await signIn(url, { email: pupil.email });
    const page = await story.openPage();
    await page.goto(story.url, { waitUntil: "load" });
    await page.getByLabel("E-mail").fill(pupil.email);
    await page.getByLabel("Password").fill(PASSWORD);
    await story.press(page, "Sign in");
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("link", { name: "Account" }).click();
    await page.getByRole("link", { name: "Your sign-in" }).click();
    await page.getByLabel("Present password").fill("wrong");
    await page.getByLabel("New password").fill(NEW_PASSWORD);
    await story.press(page, "Change the password");
    await page.getByText("This is not your present password.").waitFor();
    await page.getByLabel("Present password").fill(PASSWORD);
    await page.getByLabel("New password").fill("aaaaaaaaaaaaaa");
    await story.press(page, "Change the password");
    await page.getByText("repeats the same characters").waitFor();
    await story.look(page, "account-security");
    await page.getByLabel("Present password").fill(PASSWORD);
    await page.getByLabel("New password").fill(NEW_PASSWORD);
    await story.press(page, "Change the password");
    await page.getByText("All other sign-ins have ended.").waitFor();
    await expect(elsewhere.client.me()).rejects.toMatchObject({ status: 401 });
    await page.getByRole("link", { name: "Privacy" }).click();
    await page.getByRole("heading", { name: "Consent" }).waitFor();
  });

  test.each([
    ["pt-BR", "Conta", "Papel"],
    ["es", "Cuenta", "Rol"],
  ])("the pages of the account are in %s", async (locale, title, role) => {
    const page = await story.openPage(undefined, locale);
    await story.signIn(page, "account/users");
    await page.getByRole("combobox", { name: role }).waitFor();
    await page.getByRole("link", { name: title, exact: true }).first().waitFor();
    await story.look(page, `account-users-${locale}`);
  });
});
