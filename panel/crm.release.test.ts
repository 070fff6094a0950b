import { readFile } from "node:fs/promises";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { newPhone, waitUntil } from "../test/gateway.ts";
import { PASSWORD } from "../test/sign-in.ts";
import {
  DESKTOP,
  describeInBrowser,
  type PanelStory,
  PHONE,
  startPanelStory,
} from "../test/stories/panel-story.ts";

describeInBrowser("the contacts of the panel", () => {
  let story: PanelStory;
  beforeAll(async () => {
    story = await startPanelStory();
    await story.gateway.connectInstance({ name: "Shop" });
  });
  afterAll(() => story?.close());

  const stageOf = async (id: number) => (await story.gateway.owner.getLeadDetails({ id })).data.kanban_status;
  const waitForStage = (id: number, stage: string | null) =>
    waitUntil(async () => (await stageOf(id)) === stage);

  test("a new team creates stages and a contact, and finds both with a filter", async () => {
    const { openPage, look, press, follow, heading } = story;
    const page = await openPage();
    await story.signIn(page, "crm");
    await heading(page, "Contacts");
    await page.getByRole("heading", { name: "No contact yet" }).waitFor();
    await look(page, "contacts-empty");
    await press(page, "New contact");
    await page.getByLabel("Name", { exact: true }).fill("Caio Dias");
    await page.getByLabel("Phone").fill("12");
    await press(page, "Save");
    await page.getByText("must have 7 to 15 digits").waitFor();
    await look(page, "contact-new-error");
    await page.getByLabel("Phone").fill(newPhone());
    await page.getByLabel("Tags").fill("vip, shop");
    await press(page, "Save");
    await page.getByRole("link", { name: "Caio Dias" }).waitFor();
    await page.getByLabel("Tag", { exact: true }).selectOption("vip");
    await page.waitForURL(/tag=vip/);
    await page.getByLabel("Search").fill("nobody");
    await page.getByRole("heading", { name: "No contact matches" }).waitFor();
    await page.waitForURL(/search=nobody/);
    await look(page, "contacts-no-match");
    await follow(page, "Show all");
    await page.getByRole("link", { name: "Caio Dias" }).waitFor();
    await follow(page, "Board");
    await press(page, /^Begin with/);
    await page.getByRole("region", { name: "Talking" }).waitFor();
    await look(page, "board");
    const { lead_stages } = (await story.gateway.owner.getAccount({})).data.settings;
    expect(lead_stages.indexOf("Talking")).toBe(1);
    await press(page, "Move Talking to the left");
    const stages = async () => (await story.gateway.owner.getAccount({})).data.settings.lead_stages;
    await waitUntil(async () => (await stages())[0] === "Talking");
    expect((await stages()).toSorted()).toEqual(lead_stages.toSorted());
    const other = await openPage();
    await story.signIn(other, "crm/board");
    await other.getByRole("region", { name: "Talking" }).waitFor();
    await other.getByRole("button", { name: "Remove this stage: Talking" }).click();
    await other.getByRole("region", { name: "Talking" }).waitFor({ state: "detached" });
    await page.reload();
    await page.getByRole("region", { name: "No stage" }).waitFor();
    expect(await page.getByRole("region", { name: "Talking" }).count()).toBe(0);
  });

  test("a contact is moved on the board by drag, by keyboard and by a list, and a move can be undone", async () => {
    const { gateway, openPage, look, press, heading } = story;
    const { data: eva } = await gateway.owner.createLead({
      name: "Eva Lima",
      kanban_status: "Alpha",
      tags: ["vip"],
    });
    await gateway.owner.createLead({ name: "Bia Souza", phone: newPhone(), kanban_status: "Beta" });
    const page = await openPage(DESKTOP);
    await story.signIn(page, "crm/board");
    await heading(page, "Contacts");
    const column = (name: string) => page.getByRole("region", { name, exact: true });
    const card = column("Alpha").getByRole("row", { name: "Eva Lima" });
    await card.waitFor();
    await look(page, "board");
    await card.getByText("vip").dragTo(column("Beta").getByRole("grid"));
    await column("Beta").getByRole("row", { name: "Eva Lima" }).waitFor();
    await waitForStage(eva.id, "Beta");
    // The toast stays while it has the focus.
    await page.getByRole("button", { name: "Undo" }).focus();
    await page.getByText("Eva Lima is in Beta.").waitFor();
    await look(page, "board-moved");
    await press(page, "Undo");
    await waitForStage(eva.id, "Alpha");
    await card.waitFor();

    await card.getByRole("button", { name: "Drag Eva Lima" }).focus();
    await page.keyboard.press("Enter");
    const isInBeta = () =>
      page.evaluate<boolean>(`document.activeElement?.closest('[aria-label="Beta"]') !== null`);
    for (let tabs = 0; tabs < 20 && !(await isInBeta()); tabs++) await page.keyboard.press("Tab");
    expect(await isInBeta()).toBe(true);
    await page.keyboard.press("Enter");
    await waitForStage(eva.id, "Beta");

    await page.getByLabel("Move to stage: Eva Lima").selectOption("No stage");
    await waitForStage(eva.id, null);
    await column("No stage").getByRole("row", { name: "Eva Lima" }).waitFor();
  });

  test("the list and the board are one stop of the Tab key each, and the arrows move between rows and columns", async () => {
    const { owner } = story.gateway;
    for (const name of ["Una", "Duo", "Tria"])
      await owner.createLead({ name: `Key ${name}`, kanban_status: name === "Tria" ? "Key B" : "Key A" });
    const page = await story.openPage(DESKTOP);
    const waitForFocus = (one: Locator) => one.and(page.locator(":focus")).waitFor();
    const press = (keys: string) => page.keyboard.press(keys);
    await story.signIn(page, "crm?search=Key");
    const rows = page.getByRole("list", { name: "Contacts" }).getByRole("link");
    await expect.poll(() => rows.count()).toBe(3);
    await rows.first().focus();
    for (const [key, at] of [
      ["ArrowDown", 1],
      ["j", 2],
      ["k", 1],
      ["Home", 0],
      ["End", 2],
    ] as const) {
      await press(key);
      await waitForFocus(rows.nth(at));
    }
    await press("Shift+Tab");
    expect(await rows.and(page.locator(":focus")).count()).toBe(0);
    await press("Tab");
    await waitForFocus(rows.nth(2));
    await press("Escape");
    await waitForFocus(page.getByRole("searchbox"));

    await story.follow(page, "Board");
    const cards = page.getByRole("region", { name: "Key A" }).getByRole("row");
    const card = cards.first();
    await card.focus();
    const name = (await card.getByRole("link").textContent()) ?? "";
    await press("ArrowDown");
    await waitForFocus(cards.nth(1));
    await press("ArrowRight");
    await waitForFocus(page.getByRole("row", { name: "Key Tria" }));
    await press("ArrowLeft");
    await waitForFocus(card);
    for (const control of [card.getByRole("button"), card.getByRole("link"), card.getByRole("combobox")]) {
      await press("Tab");
      await waitForFocus(control);
    }
    await press("Tab");
    expect(await page.locator(".board :focus").count()).toBe(0);
    await card.focus();
    await press("Enter");
    await story.heading(page, name);
  });

  test("in an account with a default country, a foreign contact is changed and exported, and a pasted link is read as a phone", async () => {
    const { owner } = story.gateway;
    await owner.updateAccount({ settings: { default_country: "BR" } });
    onTestFinished(() => void owner.updateAccount({ settings: { default_country: null } }));
    const { data: lead } = await owner.createLead({ name: "Inca Rojas", phone: "+51987654399" });
    await owner.recordConsent({
      phone: "+51987654399",
      purpose: "offers",
      consent_type: "opt_in",
      granted: true,
    });
    const page = await story.openPage();
    await story.signIn(page, `crm/${lead.id}`);
    await story.heading(page, "Inca Rojas");
    const edit = page.getByRole("dialog", { name: "Change the contact" });
    const save = () => edit.getByRole("button", { name: "Save" }).click();
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    await edit.getByLabel("E-mail").fill("inca@example.com");
    await save();
    await page.getByText("inca@example.com").first().waitFor();
    const download = page.waitForEvent("download");
    await story.press(page, "Export this person’s data");
    const person = JSON.parse(await readFile(await (await download).path(), "utf8"));
    expect(person.contact).toMatchObject({ phone: "51987654399", email: "inca@example.com" });
    expect(person.consents).toMatchObject([{ purpose: "offers", granted: true }]);
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    await edit.getByLabel("Phone").fill("");
    await page.keyboard.insertText(
      "https://wa.me/%2B51987654388?text=Good%20morning%2C%20is%20it%20ready%3F",
    );
    await save();
    await edit.waitFor({ state: "detached" });
    expect((await owner.getLeadDetails({ id: lead.id })).data.phone).toBe("51987654388");
  });

  test("a contact's page saves tags, typed fields, notes, and consent with its opt-out", async () => {
    const { gateway, openPage, look, press, follow, heading } = story;
    const { owner } = gateway;
    const phone = newPhone();
    const { data: lead } = await owner.createLead({ name: "Duda Reis", phone });
    const desk = await gateway.connectInstance({ name: "Front desk" });
    await desk.client.sandboxReceive({ id: desk.id, from: phone, text: "Hello" });
    const place = { latitude: -23.5, longitude: -46.6, name: "Paulista" };
    await desk.client.sendLocation({ id: desk.id, number: phone, ...place });
    const page = await openPage();
    await story.signIn(page, "crm/fields");
    await heading(page, "Contacts");
    await page.getByRole("heading", { name: "No field yet" }).waitFor();
    await press(page, "New field");
    await page.getByLabel("Name of the field").fill("size");
    await page.getByLabel("Type").selectOption("Number");
    await press(page, "Save");
    await page.getByRole("heading", { name: "size" }).waitFor();
    await look(page, "fields");
    await follow(page, "List");
    await follow(page, "Duda Reis");
    await heading(page, "Duda Reis");
    await page
      .getByRole("region", { name: "Conversations" })
      .getByText("Front desk", { exact: true })
      .waitFor();
    await page.getByText("Location: Paulista").waitFor();
    await page.getByLabel("New tag").fill("vip");
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByRole("button", { name: "Remove the tag vip" }).waitFor();
    await page.getByLabel("size").fill("42.5");
    const leaving = page.getByRole("alertdialog", { name: "Leave without saving?" });
    await page.locator("main").getByRole("link", { name: "Contacts", exact: true }).click();
    await leaving.waitFor();
    await press(page, "Stay here");
    await page.getByRole("region", { name: "Fields" }).getByRole("button", { name: "Save" }).click();
    await page.getByLabel("New note").fill("Wants a call.");
    await page.locator("main").getByRole("link", { name: "Contacts", exact: true }).click();
    await leaving.waitFor();
    await press(page, "Stay here");
    await press(page, "Add the note");
    await page.getByRole("listitem").filter({ hasText: "Wants a call." }).waitFor();
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    const edit = page.getByRole("dialog", { name: "Change the contact" });
    await edit.getByLabel("Phone").fill("11 98765-1234");
    await edit.getByText("The country code seems to be missing.").waitFor();
    await look(page, "contact-without-country");
    await page.keyboard.press("Escape");
    await leaving.getByRole("button", { name: "Stay here" }).click();
    await edit.getByLabel("Phone").fill(phone);
    await edit.getByText("With country and area code.").waitFor();
    await edit.getByRole("button", { name: "Cancel" }).click();
    await leaving.getByRole("button", { name: "Leave" }).click();
    await edit.waitFor({ state: "detached" });
    await press(page, "Record a consent");
    const consent = page.getByRole("dialog", { name: "Record a consent" });
    await consent.getByLabel("Purpose").fill("offers");
    await consent.getByRole("button", { name: "Save" }).click();
    await page.getByText("agreed").waitFor();
    await press(page, "Opt out");
    await page.getByText(/Campaigns do not write to this person/).waitFor();
    await look(page, "contact");
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      press(page, "Export this person’s data"),
    ]);
    const person = JSON.parse(await readFile(await file.path(), "utf8"));
    expect(person.contact).toMatchObject({ phone, notes: [{ note: "Wants a call." }] });
    expect(person.consents).toMatchObject([{ purpose: "offers", granted: true }]);
    const [{ messages }] = person.conversations;
    expect(messages.map(({ type }: { type: string }) => type)).toEqual(["location", "text"]);
    const { data } = await owner.getLeadDetails({ id: lead.id });
    expect(data).toMatchObject({ tags: ["vip"], custom_fields: { size: 42.5 } });
    expect(data.opted_out_at).not.toBeNull();
    await press(page, "Delete the note");
    await page.getByText("The note is deleted.").waitFor();
    await press(page, "Undo");
    await page.getByRole("listitem").filter({ hasText: "Wants a call." }).waitFor();
    await page.setViewportSize(DESKTOP);
    await look(page, "contact");
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByRole("alertdialog", { name: "Delete Duda Reis?" }).waitFor();
    await page.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click();
    await heading(page, "Contacts");
    await waitUntil(async () => (await owner.listLeads({ q: "Duda Reis" })).data.length === 0);
  });

  test("a person's data are erased from the contact's page after the user types the name and the password", async () => {
    const { gateway, openPage, look, press, heading } = story;
    const { owner } = gateway;
    const phone = newPhone();
    const { data: lead } = await owner.createLead({ name: "Lia Prado", phone });
    const desk = await gateway.connectInstance({ name: "Back desk" });
    await desk.client.sandboxReceive({ id: desk.id, from: phone, text: "I moved house" });
    const page = await openPage();
    const { pool } = gateway.database;
    // New sessions count as confirmed an hour ago.
    await pool.query("alter table sign_in alter confirmed_at set default now() - interval '1 hour'");
    await story.signIn(page, `crm/${lead.id}`);
    await heading(page, "Lia Prado");
    await pool.query("alter table sign_in alter confirmed_at set default now()");
    await page.getByText("I moved house").waitFor();
    await press(page, "Erase this person’s data");
    const dialog = page.getByRole("alertdialog", { name: "Erase all data of Lia Prado?" });
    await dialog.getByText(/An opt-out stays, without the number/).waitFor();
    await look(page, "contact-erase");
    await dialog.getByLabel("Type Lia Prado to confirm").fill("Lia Prado");
    await dialog.getByRole("button", { name: "Erase for good" }).click();
    const password = page.getByRole("dialog", { name: "Your password, please" });
    await password.getByLabel("Password").fill(PASSWORD);
    await password.getByRole("button", { name: "Confirm" }).click();
    await heading(page, `anon-${lead.id}`);
    expect(await page.getByText("I moved house").count()).toBe(0);
    const { data } = await owner.getLeadDetails({ id: lead.id });
    expect(JSON.stringify(data)).not.toMatch(new RegExp(`Lia|moved|${phone}`));
  });

  test("open pages show a contact that was deleted elsewhere as deleted", async () => {
    const { gateway, openPage, look, heading } = story;
    const { owner } = gateway;
    const { data: lead } = await owner.createLead({ name: "Rosa Dias", phone: newPhone() });
    const page = await openPage();
    await story.signIn(page, `crm/${lead.id}`);
    await heading(page, "Rosa Dias");
    await page.getByLabel("New tag").fill("vip");
    await owner.deleteLead({ id: lead.id });
    // The page notices it at the first action or refetch.
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByRole("heading", { name: "This contact was deleted." }).waitFor();
    expect(await page.getByRole("button", { name: "Delete", exact: true }).count()).toBe(0);
    await look(page, "contact-deleted");
    const { data: other } = await owner.createLead({ name: "Saul Dias", phone: newPhone() });
    await page.goto(`${story.url}crm/999999`, { waitUntil: "load" });
    await page.getByRole("heading", { name: "There is no such contact" }).waitFor();
    await page.goto(`${story.url}crm/${other.id}`, { waitUntil: "load" });
    await heading(page, "Saul Dias");
    await owner.deleteLead({ id: other.id });
    await expectReadAgain(page, "This contact was deleted.");
  });

  /** A page refetches when the user returns to it, at most every few seconds. */
  async function expectReadAgain(page: Page, title: string): Promise<void> {
    await expect
      .poll(async () => {
        await page.evaluate(`dispatchEvent(new Event("visibilitychange"))`);
        return page.getByRole("heading", { name: title }).count();
      })
      .toBe(1);
  }

  test("contacts are imported from a file with chosen columns, and each rejected row is listed with its line", async () => {
    const { gateway, openPage, look, press, follow, heading } = story;
    await gateway.owner.updateAccount({ settings: { default_country: "BR" } });
    const page = await openPage(PHONE);
    await story.signIn(page, "crm");
    await follow(page, "Import");
    await heading(page, "Import contacts");
    const iris = newPhone();
    const rows = [
      "Nome,Celular,cidade",
      `Iris,${iris}.0,Recife`,
      "Joao,,Olinda",
      `Kim,${newPhone()},Natal`,
      "Lia,(11) 98765-4321,Santos",
    ];
    const buffer = Buffer.from(rows.join("\n"));
    await page
      .locator("input[type=file]")
      .setInputFiles({ name: "people.csv", mimeType: "text/csv", buffer });
    await page.getByText("4 rows in 3 columns").waitFor();
    await page.getByLabel("cidade").selectOption("Field: cidade");
    await page.getByText("1 of 4 rows can be imported.").waitFor();
    await page.getByText("changed by a spreadsheet such as Excel").waitFor();
    await page.getByLabel("Number for line 2").fill(iris);
    await page.keyboard.press("Enter");
    await page.getByText("2 of 4 rows can be imported.").waitFor();
    await look(page, "contacts-import");
    await press(page, "Import 4 rows");
    await page.getByText("2 contacts created, 0 changed, 0 as before, 2 rows not imported.").waitFor();
    await page
      .locator("table.problem-table")
      .getByRole("row")
      .filter({ hasText: "Joao" })
      .getByRole("cell", { name: "3", exact: true })
      .waitFor();
    await look(page, "contacts-imported");
    const { data } = await gateway.owner.listLeads({ q: "Iris" });
    expect(data).toMatchObject([{ name: "Iris", custom_fields: { cidade: "Recife" } }]);
    await page.getByText("Meant is perhaps +55 11 98765-4321.").waitFor();
    await press(page, "Add the country code and import this row");
    await page.getByText("1 contact created, 0 changed, 2 as before, 1 row not imported.").waitFor();
    expect((await gateway.owner.listLeads({ q: "Lia" })).data).toMatchObject([{ phone: "5511987654321" }]);
  });

  test("a quick reply is written with a preview, changed, deleted and restored", async () => {
    const { gateway, openPage, look, press, heading } = story;
    const { owner } = gateway;
    const page = await openPage();
    await story.signIn(page, "quick-replies");
    await heading(page, "Quick replies");
    await page.getByRole("heading", { name: "No quick reply yet" }).waitFor();
    await press(page, "New quick reply");
    await page.getByLabel("Shortcut").fill("/hours");
    await page.getByLabel("Text", { exact: true }).fill("Open from 9 to 18.");
    await look(page, "quick-reply-new");
    await press(page, "Save");
    await page.getByRole("heading", { name: "/hours" }).waitFor();
    await look(page, "quick-replies");
    await press(page, "Edit");
    await page.getByLabel("Text", { exact: true }).fill("Open from 8 to 18.");
    await press(page, "Save");
    await page.getByRole("listitem").getByText("Open from 8 to 18.").waitFor();
    await press(page, "Delete /hours");
    await page.getByRole("heading", { name: "No quick reply yet" }).waitFor();
    await press(page, "Undo");
    await page.getByRole("heading", { name: "/hours" }).waitFor();
    expect((await owner.listQuickReplies()).data).toMatchObject([
      { shortcut: "hours", content: "Open from 8 to 18." },
    ]);
  });

  test.each([
    ["pt-BR", "Contatos"],
    ["es", "Contactos"],
  ])("the contacts speak %s on a phone", async (locale, title) => {
    const { openPage, look, heading } = story;
    const page = await openPage(PHONE, locale);
    await story.signIn(page, "crm/board");
    await heading(page, title);
    await look(page, `board-${locale}`);
  });
});
