import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { waitUntil } from "../test/gateway.ts";
import { DESKTOP, describeInBrowser, type PanelStory, PHONE, startPanelStory } from "../test/panel-story.ts";
import { OWNER, PASSWORD } from "../test/sign-in.ts";
import { ROOT } from "../test/source-files.ts";

const PERSON = "5511987651234";
/** Before a sign-in: the stories of the entry open them. */
const ENTRY = ["/panel", "/sign-in", "/welcome"];
const NOT_FOUND = ["There is no such page", "Esta página não existe", "Esta página no existe"];

describeInBrowser("every page of the panel", () => {
  let story: PanelStory;
  /** What stands in an address for each parameter of a path. */
  let values: Record<string, string>;

  beforeAll(async () => {
    story = await startPanelStory({ WAYGATE_RETRY_SCHEDULE: "1h" });
    values = await fill();
  });
  afterAll(() => story?.close());

  /** Something of every kind, so that no page is empty. */
  async function fill(): Promise<Record<string, string>> {
    const { owner, connectInstance } = story.gateway;
    const { id, client } = await connectInstance({ name: "Front desk" });
    await story.gateway.createInstance({ name: "Kitchen" });
    const input = {
      id,
      name: "Orders",
      url: "http://127.0.0.1:9/orders",
      events: ["message.received"] as const,
    };
    const { data: webhook } = await client.createWebhook({ ...input, events: [...input.events] });
    for (const text of ["Good morning", "Are you open today?"])
      await client.sandboxReceive({ id, from: PERSON, push_name: "Carla", text });
    await client.sendText({ id, number: PERSON, text: "Until six o'clock." });
    await waitUntil(async () => (await client.listDeliveryLogs({ id })).data.length > 0);
    const [attempt] = (await client.listDeliveryLogs({ id })).data;
    const [chat] = (await client.listChats({ id })).data;
    const { data: lead } = await owner.createLead({ name: "Bruno", phone: "5511987651235" });
    await owner.addLeadNote({ id: lead.id, note: "Prefers the afternoon." });
    await owner.saveQuickReply({ shortcut: "hours", content: "We are open until six o'clock." });
    const { data: campaign } = await owner.createCampaign({
      name: "May",
      instance_id: id,
      message_template: "Hello",
    });
    await owner.addRecipients({ id: campaign.id, numbers: ["5511987651236", "5511987651237"] });
    const { data: account } = await owner.createAccount({
      name: "Bakery",
      email: "boss@bakery.example",
      password: PASSWORD,
    });
    const [plan] = (await owner.listPlans()).data;
    return {
      "/instances/$id": `/instances/${id}`,
      "/campaigns/$id": `/campaigns/${campaign.id}`,
      "/crm/$id": `/crm/${lead.id}`,
      $jid: chat?.jid ?? "",
      $webhookId: String(webhook.id),
      $eventId: attempt?.event_id ?? "",
      $logId: String(attempt?.id),
      $provider: "typebot",
      $accountId: String(account.id),
      $planId: String(plan?.id),
    };
  }

  /** Of every route, as the router of the panel has them. */
  async function readPaths(page: Page): Promise<string[]> {
    const paths = await page.evaluate<string[]>("Object.keys(__TSR_ROUTER__.routesByPath)");
    return paths.filter((path) => !ENTRY.includes(path));
  }

  async function signIn(page: Page): Promise<void> {
    await page.goto(story.url, { waitUntil: "load" });
    await page.locator("input[name=email]").fill(OWNER.email);
    await page.locator("input[name=password]").fill(OWNER.password);
    await page.keyboard.press("Enter");
    await page.locator("h1").waitFor();
  }

  /** Without a new load, which would ask for the sign-in again. */
  async function visit(page: Page, path: string): Promise<void> {
    const to = JSON.stringify(`/panel${path}`);
    await page.evaluate(`history.pushState({}, "", ${to}); dispatchEvent(new PopStateEvent("popstate"));`);
    const isThere = `__TSR_ROUTER__.state.status === "idle" && location.pathname.startsWith(${to})`;
    await expect.poll(() => page.evaluate(isThere), { timeout: 30_000 }).toBe(true);
    await page.locator("h1").first().waitFor();
    await expect.poll(() => page.locator(".loading").count(), { timeout: 30_000 }).toBe(0);
  }

  async function visitEach(page: Page, see: (name: string) => Promise<void>): Promise<void> {
    for (const path of await readPaths(page)) {
      const address = Object.entries(values).reduce((text, [name, value]) => text.replace(name, value), path);
      await visit(page, address);
      expect(NOT_FOUND, path).not.toContain(await page.locator("h1").first().textContent());
      await see(path);
    }
  }

  /** `/instances/$id/chats` is kept as `page-instances-id-chats`. */
  const nameOf = (path: string) =>
    `page-${path.replaceAll("$", "").split("/").filter(Boolean).join("-") || "home"}`;

  test("is shown in the pictures of the documents", async () => {
    const page = await story.openPage();
    await page.goto(story.url, { waitUntil: "load" });
    const text = readFileSync(join(ROOT, "docs/reference/panel-pages.md"), "utf8");
    const shown = [...text.matchAll(/pages\/([\w-]+)\.webp/g)].map(([, name]) => `page-${name}`);
    expect(shown.toSorted()).toEqual((await readPaths(page)).map(nameOf).toSorted());
  });

  test.each([
    ["a desktop", DESKTOP],
    ["a phone", PHONE],
  ])(
    "fits the window of %s, and axe finds nothing on it, light and dark",
    async (_, viewport) => {
      const page = await story.openPage(viewport);
      await signIn(page);
      await visitEach(page, (path) => story.look(page, nameOf(path)));
    },
    900_000,
  );

  test.each(["pt-BR", "es"])(
    "fits the window of a phone in the language %s, and axe finds nothing on it",
    async (locale) => {
      const page = await story.openPage(PHONE, locale);
      await signIn(page);
      await visitEach(page, (path) => story.look(page, `${nameOf(path)}-${locale}`, ["light"]));
    },
    900_000,
  );
});
