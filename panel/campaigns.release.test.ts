import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newPhone, type TestInstance, waitUntil } from "../test/gateway.ts";
import {
  DESKTOP,
  describeInBrowser,
  type PanelStory,
  PHONE,
  startPanelStory,
} from "../test/stories/panel-story.ts";

describeInBrowser("the campaigns of the panel", () => {
  let story: PanelStory;
  let shop: TestInstance;
  beforeAll(async () => {
    story = await startPanelStory();
    shop = await story.gateway.connectInstance({ name: "Shop" });
  });
  afterAll(() => story?.close());

  async function openCampaigns(page: Page): Promise<void> {
    await story.signIn(page);
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Campaigns" }).click();
    await story.heading(page, "Campaigns");
  }

  async function fillMessage(page: Page, name: string): Promise<void> {
    await page.getByLabel("Name", { exact: true }).fill(name);
    await page.getByLabel("Send from").selectOption("Shop");
    await page.getByLabel("Text", { exact: true }).fill("Hello {{name}}, order {{order}}.");
  }

  async function chooseFile(page: Page, content: string | Buffer): Promise<void> {
    const input = page.getByRole("region", { name: "Recipients" }).locator("input[type=file]");
    await input.setInputFiles({ name: "people.csv", mimeType: "text/csv", buffer: Buffer.from(content) });
  }

  const storedCampaigns = async () => (await story.gateway.owner.listCampaigns()).data;

  async function sentBy(instance: TestInstance): Promise<number> {
    const { rows } = await story.gateway.database.pool.query(
      "select count(*)::int as count from sandbox.ledger where action = 'send' and phone = $1",
      [instance.phone],
    );
    return rows[0].count;
  }

  test("a campaign runs from a CSV file to its report, and nothing is stored before its problems are shown", async () => {
    const { gateway, openPage, look, press, follow, heading } = story;
    const [ana, leo, gone] = [newPhone(), newPhone(), newPhone()];
    await gateway.owner.createLead({ phone: gone, opted_out: true });
    const page = await openPage();
    await openCampaigns(page);
    await page.getByRole("heading", { name: "No campaign yet" }).waitFor();
    await look(page, "campaigns-empty");
    await follow(page, "New campaign");
    await heading(page, "New campaign");
    await press(page, "Continue to recipients");
    await page.getByText("Fill in this field.").first().waitFor();
    await look(page, "campaign-message-errors");
    await fillMessage(page, "May");
    await press(page, "Continue to recipients");
    const lines = [
      "telefone;name;order",
      `${ana};Ana;7`,
      `${leo.slice(2)};Leo;8`,
      ";Nobody;9",
      `${ana};Again;10`,
    ];
    await chooseFile(page, [...lines, `${gone};Gone;11`, "01198888;Local;12", '5511"'].join("\n"));
    await page.getByRole("heading", { name: "Checked, not stored" }).waitFor();
    await page.getByText("1 of 7 entries gets the message.").waitFor();
    await look(page, "campaign-recipients");
    await press(page, "Add the code of Brazil to this number");
    await page.getByText("2 of 7 entries get the message.").waitFor();
    const lineOf = async (problem: string) =>
      page
        .locator("details.problem-group")
        .filter({ hasText: problem })
        .locator("tbody td")
        .first()
        .textContent();
    expect(await lineOf("1 The line has no number.")).toBe("4");
    expect(await lineOf("1 This person is in the list already")).toBe("5");
    expect(await lineOf("1 This person has opted out")).toBe("6");
    expect(await lineOf("1 The number has no country code")).toBe("7");
    expect(await lineOf("1 This is not a line of CSV")).toBe("8");
    expect(await storedCampaigns()).toEqual([]);

    await press(page, "Back");
    await page.getByText("Hello Ana, order 7.").waitFor();
    await press(page, "Next");
    await page.getByText("Hello Leo, order 8.").waitFor();
    await look(page, "campaign-preview");
    await press(page, "Continue to recipients");
    await press(page, "Continue to times and consent");
    await page.getByLabel("Shortest pause (seconds)").fill("0");
    await page.getByLabel("Longest pause (seconds)").fill("0");
    await look(page, "campaign-timing");
    expect(await storedCampaigns()).toEqual([]);
    await press(page, "Save the draft and review it");
    await heading(page, "May");
    expect(await storedCampaigns()).toMatchObject([{ name: "May", status: "created" }]);
    expect(await sentBy(shop)).toBe(0);

    await page
      .getByRole("region", { name: "Check before the start" })
      .getByText("Hello Ana, order 7.")
      .waitFor();
    await look(page, "campaign-draft");
    await page.getByRole("button", { name: "Start", exact: true }).click();
    await page
      .getByRole("alertdialog", { name: "Start May?" })
      .getByText("2 recipients get this message.")
      .waitFor();
    await look(page, "campaign-start");
    await press(page, "Start it");
    await page.locator('[data-status="completed"]').waitFor();
    await page.getByRole("heading", { name: "Outcomes by the time of sending" }).waitFor();
    await page.getByText("Has opted out").first().waitFor();
    const pills = page.getByRole("region", { name: "Recipients" }).locator(".pill");
    await pills.filter({ hasText: "Read" }).nth(1).waitFor();
    await look(page, "campaign-report");
    expect(await sentBy(shop)).toBe(2);
    const [{ id = 0 } = {}] = await storedCampaigns();
    const { recipients } = (await gateway.owner.getCampaignReport({ id })).data ?? {};
    expect(recipients?.map(({ phone, status }) => [phone, status])).toEqual(
      expect.arrayContaining([[leo, "read"]]),
    );
    const [download] = await Promise.all([page.waitForEvent("download"), press(page, "Export as CSV")]);
    expect(await readFile(await download.path(), "utf8")).toContain(`${gone},skipped,opted_out`);
    await page.setViewportSize(DESKTOP);
    await look(page, "campaign-report");
    await follow(page, "All campaigns");
    await page.getByRole("listitem").filter({ hasText: "May" }).getByText("Completed").waitFor();
    await look(page, "campaigns");
  });

  test("the problems of a list are grouped and corrected in place, and a list without header keeps its first recipient", async () => {
    const { openPage, look, press } = story;
    const page = await openPage();
    await openCampaigns(page);
    await story.follow(page, "New campaign");
    await fillMessage(page, "List");
    await press(page, "Continue to recipients");
    const damaged = Array.from({ length: 120 }, (_, at) => `5511970001${100 + at}.0,Ana`);
    await chooseFile(page, [`${newPhone()},Leo`, ...damaged, "5511970001001x,Bia"].join("\n"));
    await page.getByText("The first line is: 55").waitFor();
    await page.getByText("1 of 122 entries gets the message.").waitFor();
    const group = page.locator("details.problem-group").filter({ hasText: "changed by a spreadsheet" });
    await group.getByText("120", { exact: true }).waitFor();
    await look(page, "campaign-problems");
    await page.getByLabel("Number for line 122").fill("5511970001001");
    await page.keyboard.press("Enter");
    await page.getByText("2 of 122 entries get the message.").waitFor();
    await group.locator("summary").click();
    await group.getByText("The first 50 of 120.").waitFor();
    await page.getByLabel("Number for line 2", { exact: true }).fill("+55 11 97000-2000");
    await page.keyboard.press("Enter");
    await page.getByText("3 of 122 entries get the message.").waitFor();
    expect(await page.evaluate(`document.activeElement.getAttribute("aria-label")`)).toBe(
      "Number for line 3",
    );
    await look(page, "campaign-problems-open");
    await press(page, "It names the columns");
    await page.getByText(/^0 of 121 entries/).waitFor();
    await page.getByLabel("First line").selectOption("The first entry");
    await page.getByText("1 of 122 entries gets the message.").waitFor();
  });

  async function startLongCampaign(name: string): Promise<number> {
    const { owner } = story.gateway;
    const { data } = await owner.createCampaign({
      name,
      instance_id: shop.id,
      message_template: "Hello",
      min_delay_ms: 1_000,
      max_delay_ms: 1_000,
    });
    await owner.addRecipients({ id: data.id, numbers: Array.from({ length: 600 }, newPhone) });
    await owner.startCampaign({ id: data.id });
    return data.id;
  }

  test("a pause acts at once, the page follows the campaign live, and cancelling shows its consequence", async () => {
    const { gateway, openPage, look, press, follow, heading } = story;
    const id = await startLongCampaign("June");
    const page = await openPage(DESKTOP);
    await story.signIn(page, `campaigns/${id}`);
    await heading(page, "June");
    await page.locator('[data-status="running"]').waitFor();
    await waitUntil(async () => (await gateway.owner.getCampaign({ id })).data.totals.sent > 0);
    await page.getByText(/^[1-9]\d* of 600 recipients handled/).waitFor();
    await look(page, "campaign-running");
    await press(page, "Pause now");
    await page.locator('[data-status="paused"]').waitFor();
    await page.getByText("Paused. No further message goes out.").waitFor();
    const sent = await sentBy(shop);
    await gateway.advance(60_000);
    expect(await sentBy(shop)).toBe(sent);
    expect((await gateway.owner.getCampaign({ id })).data.status).toBe("paused");
    await look(page, "campaign-paused");
    await press(page, "Cancel the campaign");
    const dialog = page.getByRole("alertdialog", { name: "Cancel June for good?" });
    await dialog.getByText("A cancelled campaign cannot continue.").waitFor();
    await dialog.getByRole("button", { name: "Cancel the campaign" }).click();
    await page.locator('[data-status="cancelled"]').waitFor();
    await press(page, "Archive");
    await page.getByRole("button", { name: "Take out of the archive" }).waitFor();
    await follow(page, "All campaigns");
    await page.getByLabel("Archive", { exact: true }).selectOption("Archived");
    await page.getByRole("link", { name: "June" }).waitFor();
  });

  test("an action without a network fails at once with a reason, and does not run later", async () => {
    const { gateway, openPage, press, heading } = story;
    const { data } = await gateway.owner.createCampaign({
      name: "Offline",
      instance_id: shop.id,
      message_template: "Hello",
    });
    await gateway.owner.addRecipients({ id: data.id, numbers: [newPhone()] });
    const page = await openPage(DESKTOP);
    await story.signIn(page, `campaigns/${data.id}`);
    await heading(page, "Offline");
    await page.context().setOffline(true);
    await press(page, "Delete");
    await page.getByRole("alertdialog").getByRole("button", { name: "Delete it" }).click();
    await page.getByText("You are offline. Nothing was changed").waitFor();
    await page.context().setOffline(false);
    await page.getByText("What you see may be out of date.").waitFor({ state: "detached" });
    await page.reload({ waitUntil: "load" });
    await heading(page, "Offline");
    expect((await gateway.owner.getCampaign({ id: data.id })).data.status).toBe("created");
  });

  test("an unsaved draft is discarded only after a confirmation, and keeps its times in a named zone", async () => {
    const { gateway, openPage, look, press, follow, heading } = story;
    await gateway.createInstance({ name: "Spare" });
    await gateway.owner.updateAccount({ settings: { time_zone: "Asia/Tokyo" } });
    const page = await openPage();
    await openCampaigns(page);
    await follow(page, "New campaign");
    await fillMessage(page, "Autumn");
    const senders = page.getByLabel("Send from").locator("optgroup");
    expect(await senders.first().getAttribute("label")).toBe("Connected");
    expect(await senders.last().locator("option").allTextContents()).toEqual(["Spare: Not linked"]);
    await follow(page, "All campaigns");
    await page.getByRole("alertdialog", { name: "Leave without saving?" }).waitFor();
    await look(page, "campaign-leave");
    await press(page, "Stay here");
    await press(page, "Continue to recipients");
    await page.getByText("Your contacts").click();
    await page.getByText("No contact matches").or(page.getByText("Checked, not stored")).waitFor();
    await look(page, "campaign-contacts");
    await press(page, "Continue to times and consent");
    await page.getByText("Start at a set time").click();
    await page.getByLabel("Start time").fill("2001-01-01T09:00");
    await press(page, "Save the draft and review it");
    await page.getByText("This time is over.").waitFor();
    await page.getByLabel("Start time").fill("2099-07-01T09:00");
    expect(await page.getByLabel("Time zone").inputValue()).toBe("Asia/Tokyo");
    await page.getByText("Days are counted in the account’s time zone, Asia/Tokyo.").waitFor();
    await page.getByLabel("Time zone").selectOption("America/Sao_Paulo");
    await page.getByText(/^Quiet hours/).click();
    await look(page, "campaign-schedule");
    await press(page, "Save the draft and review it");
    await heading(page, "Autumn");
    const [stored] = await storedCampaigns();
    expect(stored).toMatchObject({
      name: "Autumn",
      scheduled_at: "2099-07-01T12:00:00.000Z",
      quiet_hours: { start: "20:00", end: "08:00", tz: "America/Sao_Paulo" },
    });
    await gateway.owner.deleteCampaign({ id: stored?.id ?? 0 });
    await gateway.owner.updateAccount({ settings: { time_zone: null } });
  });

  test("open pages show a campaign that was deleted elsewhere as deleted", async () => {
    const { gateway, openPage, look, heading, url } = story;
    const { owner } = gateway;
    const { data } = await owner.createCampaign({
      name: "Short",
      instance_id: shop.id,
      message_template: "Hello",
    });
    const page = await openPage(DESKTOP);
    await story.signIn(page, `campaigns/${data.id}`);
    await heading(page, "Short");
    const editor = await page.context().newPage();
    await editor.goto(`${url}campaigns/${data.id}/edit`, { waitUntil: "load" });
    await editor.getByLabel("Text", { exact: true }).fill("Hello, dear friends");
    await owner.deleteCampaign({ id: data.id });
    for (const one of [page, editor])
      await expect
        .poll(async () => {
          // The user returns to the tab.
          await one.evaluate(`dispatchEvent(new Event("visibilitychange"))`);
          return one.getByText("This campaign was deleted.").count();
        })
        .toBe(1);
    await look(page, "campaign-deleted");
    expect(await page.getByRole("button", { name: "Delete", exact: true }).count()).toBe(0);
    // The typed text can still be copied.
    expect(await editor.getByLabel("Text", { exact: true }).inputValue()).toBe("Hello, dear friends");
  });

  test.each([
    ["pt-BR", "Nova campanha"],
    ["es", "Nueva campaña"],
  ])("the builder of a campaign speaks %s on a phone", async (locale, title) => {
    const { openPage, look, heading } = story;
    const page = await openPage(PHONE, locale);
    await story.signIn(page, "campaigns/new");
    await heading(page, title);
    await look(page, `campaign-new-${locale}`);
  });
});
