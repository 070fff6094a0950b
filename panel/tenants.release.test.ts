import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { waitUntil } from "../test/gateway.ts";
import { PASSWORD, signIn } from "../test/sign-in.ts";
import { DESKTOP, describeInBrowser, type PanelStory, startPanelStory } from "../test/stories/panel-story.ts";

const OWN = { password: PASSWORD, must_change_password: false };

interface Tenant {
  name: string;
  email: string;
  instance: number;
  lead: number;
}

describeInBrowser("tenants and roles in the panel", () => {
  let story: PanelStory;
  let bakery: Tenant;
  let garage: Tenant;

  beforeAll(async () => {
    story = await startPanelStory();
    bakery = await makeTenant("Bakery", "5511987650001");
    garage = await makeTenant("Garage", "5511987650002");
  });
  afterAll(() => story?.close());

  /** An account with an instance, a chat and a lead that carry its name. */
  async function makeTenant(name: string, person: string): Promise<Tenant> {
    const email = `boss@${name.toLowerCase()}.example`;
    const { owner, url } = story.gateway;
    const { data: plans } = await owner.listPlans();
    const plan_id = plans.find((plan) => plan.name === "unlimited")?.id;
    await owner.createAccount({ name, email, plan_id, user_name: `Boss of ${name}`, ...OWN });
    const { client } = await signIn(url, { email });
    const { data } = await client.createInstance({ name: `${name} desk`, network: "sandbox" });
    await client.sandboxScan({ id: data.id });
    await waitUntil(async () => (await client.getInstanceStatus({ id: data.id })).data.connected);
    await client.sandboxReceive({ id: data.id, from: person, push_name: `${name} guest`, text: "Hello" });
    const { data: lead } = await client.createLead({ name: `${name} lead`, phone: person });
    const agent = { name: `Agent of ${name}`, email: `agent@${name.toLowerCase()}.example` };
    await client.createUser({ ...agent, ...OWN, role: "agent" });
    return { name, email, instance: data.id, lead: lead.id };
  }

  async function enter(email: string): Promise<Page> {
    const page = await story.openPage(DESKTOP);
    await page.goto(story.url, { waitUntil: "load" });
    await page.getByLabel("E-mail").fill(email);
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("navigation", { name: "Main" }).waitFor();
    return page;
  }

  /** Navigates without a reload, because the token is in memory. */
  async function visit(page: Page, path: string): Promise<void> {
    const to = JSON.stringify(`/panel${path}`);
    await page.evaluate(`history.pushState({}, "", ${to}); dispatchEvent(new PopStateEvent("popstate"));`);
    await expect.poll(() => page.evaluate("location.pathname")).toBe(JSON.parse(to));
  }

  const textOf = async (page: Page) => (await page.locator("body").textContent()) ?? "";

  test("two tenants in two browsers at once see their own instances, users and leads, and never the other's", async () => {
    const [left, right] = await Promise.all([enter(bakery.email), enter(garage.email)]);
    for (const [page, own, other] of [
      [left, bakery, garage],
      [right, garage, bakery],
    ] as const) {
      await visit(page, "/instances");
      await page.getByRole("link", { name: `${own.name} desk`, exact: true }).waitFor();
      await visit(page, "/account/users");
      await page.getByText(`Agent of ${own.name}`).waitFor();
      await visit(page, "/account/keys");
      await page.getByText(`${own.name} desk`).waitFor();
      for (const path of [
        "/",
        "/instances",
        "/crm",
        "/campaigns",
        "/account",
        "/account/users",
        "/account/privacy",
      ]) {
        await visit(page, path);
        await page.getByRole("heading", { level: 1 }).first().waitFor();
        await expect.poll(() => page.getByText("Loading", { exact: true }).count()).toBe(0);
        expect(await textOf(page), `${own.name} at ${path}`).not.toContain(other.name);
      }
    }
    // Live changes of one account are shown to its own users only.
    await Promise.all([visit(left, "/instances"), visit(right, "/instances")]);
    await right.getByRole("link", { name: "Garage desk", exact: true }).waitFor();
    const { client } = await signIn(story.gateway.url, { email: bakery.email });
    await client.createInstance({ name: "Bakery night desk", network: "sandbox" });
    await client.sandboxBan({ id: bakery.instance });
    await left.getByText("Banned", { exact: true }).waitFor();
    await left.getByText("Bakery night desk").waitFor();
    expect(await textOf(right)).not.toContain("Bakery");
    await right.getByText("Connected", { exact: true }).waitFor();
  });

  test("the URL of another tenant's instance shows the not-found page and nothing of the instance", async () => {
    const page = await enter(garage.email);
    for (const path of ["", "/chats", "/webhooks", "/integrations", "/logs", "/settings", "/link", "/send"]) {
      await visit(page, `/instances/${bakery.instance}${path}`);
      await page.getByText("There is no such instance").first().waitFor();
      expect(await textOf(page), path).not.toContain("Bakery");
    }
    await visit(page, `/instances/${bakery.instance}`);
    await page.getByText("There is no such instance").first().waitFor();
    await story.look(page, "tenant-foreign-instance");
    await visit(page, `/crm/${bakery.lead}`);
    await page.getByRole("heading", { level: 1 }).first().waitFor();
    expect(await textOf(page)).not.toContain("Bakery");
  });

  test("an agent sees only what it may do, and a forbidden page says why", async () => {
    const page = await enter("agent@garage.example");
    const main = page.getByRole("navigation", { name: "Main" });
    await main.getByRole("link", { name: "Instances" }).waitFor();
    await main.getByRole("link", { name: "Campaigns" }).waitFor();
    expect(await main.getByRole("link", { name: "Administration" }).count()).toBe(0);
    await visit(page, `/instances/${garage.instance}`);
    const pages = page.getByRole("navigation", { name: "Pages of Garage desk" });
    await pages.getByRole("link", { name: "Overview" }).waitFor();
    expect(await pages.getByRole("link", { name: "Webhooks" }).count()).toBe(0);
    expect(await pages.getByRole("link", { name: "Settings" }).count()).toBe(0);
    await page.getByRole("region", { name: "Profile" }).waitFor();
    expect(await page.getByRole("button", { name: "Change the name" }).count()).toBe(0);
    await visit(page, "/crm");
    await page.getByRole("link", { name: "Garage lead" }).waitFor();
    expect(await page.getByRole("button", { name: "Export" }).count()).toBe(0);
    await visit(page, `/crm/${garage.lead}`);
    await page.getByRole("region", { name: "Details" }).waitFor();
    expect(await page.getByRole("button", { name: "Delete", exact: true }).count()).toBe(0);
    await main.getByRole("link", { name: "Account" }).click();
    await page.getByText("Only an administrator can change the account.").waitFor();
    await story.look(page, "agent-account");
    for (const path of [
      "/account/users",
      "/account/keys",
      "/instances/new",
      `/instances/${garage.instance}/webhooks`,
      `/instances/${garage.instance}/integrations`,
      `/instances/${garage.instance}/settings`,
      "/administration",
      "/administration/accounts",
      "/administration/backups",
    ]) {
      await visit(page, path);
      await page.getByRole("heading", { name: "You do not have access to this page" }).waitFor();
      await page.getByText("You are signed in as Agent.").waitFor();
    }
    await story.look(page, "agent-not-allowed");
  });

  test("an administrator of a customer opens the account and not the administration", async () => {
    const page = await enter(bakery.email);
    const main = page.getByRole("navigation", { name: "Main" });
    await main.getByRole("link", { name: "Account" }).click();
    await page.getByRole("link", { name: "Users", exact: true }).click();
    await page.getByRole("button", { name: "Add a user" }).waitFor();
    expect(await main.getByRole("link", { name: "Administration" }).count()).toBe(0);
    await visit(page, "/administration/logs");
    await page.getByText("Only the owner of the gateway and resellers may open it.").waitFor();
    await visit(page, "/administration/backups");
    await page.getByText("Only the owner of the gateway may open it.").waitFor();
  });

  test("a reseller administers its own customers, without backups and the system of the gateway", async () => {
    const { owner, url } = story.gateway;
    const reseller = { name: "Wholesale", email: "boss@wholesale.example" };
    await owner.createAccount({ ...reseller, account_type: "reseller", ...OWN });
    const { client } = await signIn(url, { email: reseller.email });
    await client.createAccount({ name: "Corner shop", email: "boss@corner.example", password: PASSWORD });
    const page = await enter(reseller.email);
    const main = page.getByRole("navigation", { name: "Main" });
    await main.getByRole("link", { name: "Administration" }).click();
    await page.getByRole("heading", { name: "You and your customers" }).waitFor();
    const pages = page.getByRole("navigation", { name: "Pages of the administration" });
    expect(await pages.getByRole("link", { name: "Backups" }).count()).toBe(0);
    expect(await pages.getByRole("link", { name: "System" }).count()).toBe(0);
    await pages.getByRole("link", { name: "Accounts" }).click();
    await page.getByRole("link", { name: "Corner shop" }).waitFor();
    expect(await textOf(page)).not.toMatch(/Bakery|Garage/);
    await visit(page, "/administration/system");
    await page.getByText("Only the owner of the gateway may open it.").waitFor();
  });
});
