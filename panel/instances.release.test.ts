import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient } from "../src/client/client.ts";
import { startHttpProxy } from "../test/servers/proxy-server.ts";
import { OWNER } from "../test/sign-in.ts";
import { DESKTOP, describeInBrowser, type PanelStory, startPanelStory } from "../test/stories/panel-story.ts";

describeInBrowser("the instances of the panel", () => {
  let story: PanelStory;
  beforeAll(async () => {
    story = await startPanelStory();
  });
  afterAll(() => story?.close());

  const openInstances = async (page: Page) => {
    await story.signIn(page);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.locator("nav").first().getByRole("link", { name: "Instances" }).click();
    await story.heading(page, "Instances");
  };
  const openTab = (page: Page, name: string) =>
    page.locator(".tab-links").getByRole("link", { name, exact: true }).click();
  const openInstance = async (page: Page, name: string) => {
    await openInstances(page);
    await page.getByRole("link", { name, exact: true }).click();
    await story.heading(page, name);
  };

  test("the list is searched, filtered by status, sorted, linked to and exported", async () => {
    const { gateway, openPage, look, press, heading } = story;
    await gateway.connectInstance({ name: "Alpha" });
    await gateway.createInstance({ name: "Gamma" });
    await gateway.createInstance({ name: "beta" });
    const page = await openPage(DESKTOP);
    await openInstances(page);
    await look(page, "instances-list");
    await page.getByLabel("Search").fill("ALP");
    await expect
      .poll(() => page.getByRole("list", { name: "Your instances" }).getByRole("listitem").count())
      .toBe(1);
    expect(new URL(page.url()).searchParams.get("search")).toBe("ALP");
    await page.getByLabel("Search").fill("nothing like this");
    await heading(page, "Instances");
    await page.getByRole("heading", { name: "No instance matches" }).waitFor();
    await look(page, "instances-none");
    await page.getByLabel("Search").fill("");
    await page.getByLabel("Status").selectOption("created");
    await page.getByLabel("Order").selectOption("name");
    const names = page.getByRole("list", { name: "Your instances" }).getByRole("heading");
    await expect.poll(() => names.allTextContents()).toEqual(["beta", "Gamma"]);
    const download = page.waitForEvent("download");
    await press(page, "Export as CSV");
    const file = readFileSync(await (await download).path(), "utf8");
    expect(file.split("\r\n").map((line) => line.split(",")[1])).toEqual([
      "name",
      "beta",
      "Gamma",
      undefined,
    ]);
  });

  test("a URL with an invalid number shows the not-found page without a request to the gateway", async () => {
    const { gateway, openPage } = story;
    const { id } = await gateway.connectInstance({ name: "Numbered" });
    const page = await openPage(DESKTOP);
    await openInstances(page);
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    const paths = [
      "instances/abc",
      "instances/abc/chats",
      "instances/0/link",
      "crm/1.5",
      "campaigns/x/edit",
      `instances/${id}/webhooks/x`,
      `instances/${id}/webhooks/x/edit`,
      `instances/${id}/webhooks/attempts/x`,
      "administration/accounts/x",
      "administration/plans/x",
    ];
    for (const path of paths) {
      await page.evaluate(`history.pushState({}, "", "/panel/${path}")`);
      await page.getByRole("heading", { name: "There is no such page" }).waitFor();
      await page.evaluate(`history.pushState({}, "", "/panel/settings")`);
      await page.getByRole("heading", { name: "Settings", level: 1 }).waitFor();
    }
    expect(asked.filter((url) => /NaN|\/(0|abc|x|1\.5)\b/.test(url))).toEqual([]);
  });

  test("every setting is explained and validated at its field, and can be saved or discarded", async () => {
    const { gateway, openPage, look, press } = story;
    const { id } = await gateway.connectInstance({ name: "Settings shop" });
    const page = await openPage();
    await openInstance(page, "Settings shop");
    await openTab(page, "Settings");
    await page.getByText("Everything is saved.").waitFor();
    await look(page, "settings");
    await page.getByText("Reject phone calls").click();
    await page.getByLabel("Text for a rejected caller").fill("Please write to us.");
    await page.getByLabel("Shortest pause, in seconds").fill("soon");
    await page.getByText("There are changes that are not saved.").waitFor();
    await openTab(page, "Logs");
    await page.getByRole("alertdialog", { name: "Leave without saving?" }).waitFor();
    await look(page, "settings-leave");
    await press(page, "Stay here");
    const reload = page.waitForEvent("dialog");
    void page.reload({ waitUntil: "commit" }).catch(() => {});
    const prompt = await reload;
    expect(prompt.type()).toBe("beforeunload");
    await prompt.dismiss();
    await press(page, "Save the settings");
    await page.getByText("Enter a number.").waitFor();
    await look(page, "settings-error");
    await page.getByLabel("Shortest pause, in seconds").fill("2.5");
    await press(page, "Save the settings");
    await page.getByText(/is more than send_delay_max_ms/).waitFor();
    await page.getByLabel("Longest pause, in seconds").fill("4");
    await press(page, "Save the settings");
    await page.getByText("The settings are saved.").waitFor();
    const { data } = await gateway.owner.getInstance({ id });
    expect(data.settings).toMatchObject({
      reject_calls: true,
      reject_message: "Please write to us.",
      send_delay_min_ms: 2_500,
      send_delay_max_ms: 4_000,
    });
    await page.getByLabel("Name", { exact: true }).fill("Other");
    await page.context().setOffline(true);
    await press(page, "Save the settings");
    const notice = page.getByRole("alert").filter({ hasText: "Nothing was changed" });
    await notice.waitFor();
    const { y = 0, height = 0 } = (await notice.boundingBox()) ?? {};
    expect(y + height).toBeLessThanOrEqual(page.viewportSize()?.height ?? 0);
    await page.context().setOffline(false);
    await press(page, "Discard the changes");
    expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("Settings shop");
  });

  test("after the session has ended, a sign-in above the page keeps the form and completes its action", async () => {
    const { gateway, openPage, look, press, heading, url } = story;
    const { id } = await gateway.connectInstance({ name: "Long open" });
    const page = await openPage();
    await openInstance(page, "Long open");
    await openTab(page, "Settings");
    await page.getByLabel("Name", { exact: true }).fill("Still typed");
    await page.context().clearCookies();
    await press(page, "Save the settings");
    const dialog = page.getByRole("dialog", { name: "Sign in again" });
    await dialog.getByText("Your session has ended. Sign in again to continue.").waitFor();
    expect(await dialog.getByLabel("E-mail").inputValue()).toBe(OWNER.email);
    await look(page, "session-ended");
    await dialog.getByLabel("Password").fill("not the password");
    await dialog.getByRole("button", { name: "Sign in" }).click();
    await dialog.getByText("The e-mail or the password is wrong.").waitFor();
    await dialog.getByLabel("Password").fill(OWNER.password);
    await dialog.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("The settings are saved.").waitFor();
    expect((await gateway.owner.getInstance({ id })).data.name).toBe("Still typed");
    await gateway.owner.updateInstance({ id, name: "By another program" });
    await heading(page, "By another program");
    await page.context().clearCookies();
    await page.getByLabel("Name", { exact: true }).fill("Given up");
    await press(page, "Save the settings");
    await dialog.getByRole("button", { name: "Use another sign-in" }).click();
    await heading(page, "Sign in");
    await page.getByLabel("E-mail").fill(OWNER.email);
    await page.getByLabel("Password").fill(OWNER.password);
    await press(page, "Sign in");
    await page.waitForURL(`${url}instances/${id}/settings`);
  });

  test("a sign-in in another tab closes the sign-in dialog of a page whose session has ended, and completes its action", async () => {
    const { gateway, openPage, press, heading, url } = story;
    const { id } = await gateway.connectInstance({ name: "Two tabs" });
    const page = await openPage(DESKTOP);
    await openInstance(page, "Two tabs");
    await openTab(page, "Settings");
    const name = page.getByLabel("Name", { exact: true });
    const dialog = page.getByRole("dialog", { name: "Sign in again" });
    const saveWithoutSession = async (text: string) => {
      await name.fill(text);
      await page.context().clearCookies();
      await press(page, "Save the settings");
      await dialog.waitFor();
    };
    await saveWithoutSession("By the other tab");
    const other = await page.context().newPage();
    await other.goto(url, { waitUntil: "load" });
    await other.getByLabel("E-mail").fill(OWNER.email);
    await other.getByLabel("Password").fill(OWNER.password);
    await press(other, "Sign in");
    await page.getByText("The settings are saved.").waitFor();
    await dialog.waitFor({ state: "detached" });
    expect((await gateway.owner.getInstance({ id })).data.name).toBe("By the other tab");
    // A tab that missed the message finds the session when the user returns to it.
    const cookies = await page.context().cookies();
    await saveWithoutSession("After a look elsewhere");
    await page.context().addCookies(cookies);
    await page.evaluate(`dispatchEvent(new Event("focus"))`);
    await dialog.waitFor({ state: "detached" });
    await heading(page, "After a look elsewhere");
    // Another user's session must not complete this user's action.
    await gateway.owner.confirmPassword({ password: OWNER.password });
    const second = { name: "Dora", email: "dora@example.com", password: OWNER.password };
    await gateway.owner.createUser({ ...second, role: "agent", must_change_password: false });
    await saveWithoutSession("By the wrong user");
    await other.goto(url, { waitUntil: "load" });
    await other.getByLabel("E-mail").fill(second.email);
    await other.getByLabel("Password").fill(second.password);
    const looked = page.waitForResponse(/\/auth\/me$/);
    await press(other, "Sign in");
    expect((await looked).status()).toBe(200);
    await page.evaluate("new Promise(requestAnimationFrame)");
    expect(await dialog.isVisible()).toBe(true);
    expect((await gateway.owner.getInstance({ id })).data.name).toBe("After a look elsewhere");
  });

  test("a proxy is tested before it is used, and the result is explained", async () => {
    const { gateway, openPage, look, press } = story;
    const proxy = await startHttpProxy();
    await gateway.owner.createInstance({ name: "Proxied", network: "whatsapp" });
    const page = await openPage(DESKTOP);
    await openInstance(page, "Proxied");
    await openTab(page, "Settings");
    const section = page.getByRole("region", { name: "Proxy" });
    await section.getByText("No proxy: the gateway connects by itself.").waitFor();
    await section.getByLabel("Address of the proxy").fill("http://127.0.0.1:1");
    await press(page, "Test this address");
    await section.getByText("WhatsApp was not reached through this proxy.").waitFor();
    await section.scrollIntoViewIfNeeded();
    await look(page, "settings-proxy");
    const leaving = page.getByRole("alertdialog", { name: "Leave without saving?" });
    await openTab(page, "Logs");
    await leaving.waitFor();
    await press(page, "Stay here");
    await page.getByText("Reject phone calls").click();
    await section.getByLabel("Address of the proxy").fill(`http://shop:secret@127.0.0.1:${proxy.port}`);
    await press(page, "Use this proxy");
    await section.getByText(`http://***@127.0.0.1:${proxy.port}/`).waitFor();
    await press(page, "Remove the proxy");
    await page.getByRole("alertdialog", { name: "Remove the proxy?" }).waitFor();
    await page.getByRole("alertdialog").getByRole("button", { name: "Remove the proxy" }).click();
    await section.getByText("No proxy: the gateway connects by itself.").waitFor();
    await section.getByLabel("Address of the proxy").fill("http://127.0.0.1:1");
    await openTab(page, "Logs");
    await leaving.getByRole("button", { name: "Leave" }).click();
    // One confirmation covers the settings and the proxy.
    await page.waitForURL(/\/logs$/);
    await proxy.close();
  });

  test("a new key is shown once, a leaked key ends with the keys made with it, and an instance is deleted only after its name is typed", async () => {
    const { gateway, openPage, look, press, heading } = story;
    const { id, api_key } = await gateway.createInstance({ name: "Old shop" });
    const page = await openPage(DESKTOP);
    await openInstance(page, "Old shop");
    await openTab(page, "Settings");
    const section = page.getByRole("region", { name: "API key" });
    await section.getByText(`${api_key.slice(-4)}`).waitFor();
    await section.getByLabel("The old key ends").selectOption("at once");
    await press(page, "Create a new key");
    const dialog = page.getByRole("alertdialog", { name: "Create a new key for Old shop?" });
    await dialog.getByText("The old key ends now").waitFor();
    await dialog.getByRole("button", { name: "Create a new key" }).click();
    const shown = await page.getByRole("region", { name: "The new key" }).textContent();
    expect(shown).toMatch(/^wg_[0-9A-Za-z]{49}$/);
    expect(shown).not.toBe(api_key);
    await section.scrollIntoViewIfNeeded();
    await look(page, "settings-key");
    await press(page, "I have stored it");
    const program = createClient({ baseUrl: gateway.url, apiKey: shown ?? "" });
    const { data: made } = await program.createInstanceWithKey({ name: "Night desk" });
    await page.reload({ waitUntil: "load" });
    await section.getByLabel("The old key ends").selectOption("at once, because others may have it");
    await press(page, "Create a new key");
    await dialog.getByText("the key of 1 instance that was made with it").waitFor();
    await dialog.getByRole("button", { name: "Create a new key" }).click();
    await section.getByText("The keys of these instances have ended too.").waitFor();
    await section.getByRole("link", { name: "Night desk" }).waitFor();
    await look(page, "settings-key-leaked");
    const madeKey = createClient({ baseUrl: gateway.url, apiKey: made.api_key });
    await expect(madeKey.getInstance({ id: made.id })).rejects.toMatchObject({ code: "INVALID_API_KEY" });
    await press(page, "I have stored it");
    await press(page, "Let it read the whole account");
    await page.getByRole("alertdialog").getByRole("button", { name: "Change it" }).click();
    await section.getByText("The chats and messages of all instances of the account.").waitFor();
    await press(page, "Delete the instance");
    const last = page.getByRole("alertdialog", { name: "Delete Old shop for good?" });
    const forGood = last.getByRole("button", { name: "Delete it for good" });
    expect(await forGood.isDisabled()).toBe(true);
    await look(page, "settings-delete");
    await last.getByLabel("Type Old shop to confirm").fill("Old shop");
    await forGood.click();
    await heading(page, "Instances");
    await expect(gateway.owner.getInstance({ id })).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test("the logs explain each kind of entry, and can be filtered, linked to and exported", async () => {
    const { gateway, openPage, look, press } = story;
    const shop = await gateway.connectInstance({ name: "Logged" });
    await shop.client.sendText({ id: shop.id, number: "5511999990004", text: "Hello" });
    await gateway.owner.sandboxBan({ id: shop.id });
    const page = await openPage();
    await openInstance(page, "Logged");
    await openTab(page, "Logs");
    const entries = page.getByRole("list", { name: "Connections" }).getByRole("listitem");
    await entries.filter({ hasText: "Banned" }).waitFor();
    await look(page, "logs");
    await page.getByText("Only what went wrong").click();
    await expect.poll(() => entries.count()).toBe(1);
    await page.getByLabel("What", { exact: true }).selectOption("messages");
    await page.getByRole("heading", { name: "No entries" }).waitFor();
    expect(new URL(page.url()).search).toBe("?failed=true&kind=messages");
    await page.getByText("Only what went wrong").click();
    await page.getByText("To +55 11 99999-0004").first().waitFor();
    await page.getByLabel("What", { exact: true }).selectOption("api");
    await page.getByText("POST /api/v1/instances/:id/send-text").first().waitFor();
    await look(page, "logs-requests");
    const download = page.waitForEvent("download");
    await press(page, "Export as CSV");
    expect(readFileSync(await (await download).path(), "utf8")).toContain("/send-text");
  });

  test("the built-in receiver shows a signed webhook and verifies its signature", async () => {
    const { gateway, openPage, look, press, follow } = story;
    const { id } = await gateway.connectInstance({ name: "Receiving" });
    const page = await openPage(DESKTOP);
    await openInstances(page);
    await follow(page, "Send a message: Receiving");
    await page.getByText("The receiver is open.").waitFor();
    await page.getByRole("button", { name: "Send", exact: true }).click();
    const received = page.getByRole("list", { name: "What your program receives" });
    await received.getByText("message.sent").first().click();
    await received.getByText("Signature valid").first().waitFor();
    await received.getByText("x-waygate-signature", { exact: true }).waitFor();
    await received.getByText('"text": "Hello from Waygate"').waitFor();
    await look(page, "receiver");
    await press(page, "Close the receiver");
    await page.getByRole("button", { name: "Open the receiver" }).waitFor();
    expect((await gateway.owner.listWebhooks({ id })).data).toEqual([]);
  });

  test("a connected phone shows its profile, which can be changed, and reconnecting is explained", async () => {
    const { gateway, openPage, look, press } = story;
    const { id } = await gateway.connectInstance({ name: "Profiled" });
    const page = await openPage();
    await openInstance(page, "Profiled");
    const profile = page.getByRole("region", { name: "Profile on WhatsApp" });
    await profile.waitFor();
    await look(page, "profile");
    await press(page, "Change the name");
    await page.getByRole("dialog").getByLabel("Name").fill("Corner shop");
    await press(page, "Save");
    await profile.getByText("Corner shop").waitFor();
    expect((await gateway.owner.getProfile({ id })).data.name).toBe("Corner shop");
    await press(page, "Reconnect");
    await page
      .getByRole("alertdialog", { name: "Reconnect Profiled?" })
      .getByText("Nothing is lost.")
      .waitFor();
    await look(page, "reconnect");
    await page.getByRole("alertdialog").getByRole("button", { name: "Reconnect" }).click();
    await page.getByText("The gateway is reconnecting.").waitFor();
  });

  test("a state that changes elsewhere is shown at once, and a new instance appears automatically", async () => {
    const { gateway, openPage } = story;
    const { id } = await gateway.connectInstance({ name: "Watched" });
    const page = await openPage();
    await openInstances(page);
    const row = page.getByRole("listitem").filter({ hasText: "Watched" });
    await row.getByText("Connected", { exact: true }).waitFor();
    await gateway.owner.sandboxBan({ id });
    await row.getByText("Banned", { exact: true }).waitFor();
    await gateway.createInstance({ name: "Appeared" });
    await page.getByRole("listitem").filter({ hasText: "Appeared" }).waitFor();
  });

  test("a list scrolled past 500 instances adds a new one and drops a deleted one", async () => {
    const { gateway, openPage } = story;
    const { id } = await gateway.createInstance({ name: "First of many" });
    await gateway.database.pool.query(
      `insert into instance (account_id, lane, global_lane, name, network, webhook_secret, status)
       select account_id, lane, global_lane, 'Many ' || lpad(n::text, 3, '0'), network, webhook_secret, 'created'
       from instance, generate_series(1, 620) n where id = $1`,
      [id],
    );
    const page = await openPage(DESKTOP);
    await openInstances(page);
    const row = (name: string) => page.getByRole("listitem").filter({ hasText: name });
    const lastShown = `Math.max(...[...document.querySelectorAll("[aria-posinset]")].map((one) => +one.ariaPosInSet))`;
    await expect
      .poll(async () => {
        await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)");
        return page.evaluate<number>(lastShown);
      })
      .toBeGreaterThan(600);
    const added = await gateway.createInstance({ name: "Newest of many" });
    await page.evaluate("scrollTo(0, 0)");
    await row("Newest of many").waitFor();
    await gateway.owner.confirmPassword({ password: OWNER.password });
    await gateway.owner.deleteInstance({ id: added.id });
    await row("Newest of many").waitFor({ state: "detached" });
    await row("Many 620").waitFor();
    await gateway.database.pool.query("delete from instance where name like 'Many %'");
  });
});
