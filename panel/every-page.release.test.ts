import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { waitUntil } from "../test/gateway.ts";
import { PASSWORD } from "../test/sign-in.ts";
import {
  DESKTOP,
  describeInBrowser,
  type PanelStory,
  PHONE,
  startPanelStory,
} from "../test/stories/panel-story.ts";

/** Pages before the sign-in, which the stories of the entry cover. */
const ENTRY = ["/panel", "/sign-in", "/welcome"];
const NAMES = {
  instance: "Front desk",
  webhook: "Orders",
  contact: "Bruno",
  campaign: "May",
  account: "Bakery",
};
/** No single word of these fits on a phone. */
const LONG_NAMES = {
  instance: `Instance${"N".repeat(70)}`,
  webhook: `Webhook${"N".repeat(55)}`,
  contact: `Contact${"W".repeat(90)}`,
  campaign: `Campaign${"M".repeat(90)}`,
  account: `Account${"N".repeat(60)}`,
};
/** The catch-all route. */
const UNKNOWN_ADDRESS = "/$";
const NOT_FOUND = ["There is no such page", "Esta página não existe", "Esta página no existe"];

describeInBrowser("every page of the panel", () => {
  let story: PanelStory;
  /** Values of the path parameters. */
  let values: Record<string, string>;

  beforeAll(async () => {
    story = await startPanelStory({ WAYGATE_RETRY_SCHEDULE: "1h" });
    values = await fill(NAMES, "551198765");
  });
  afterAll(() => story?.close());

  /** Creates one of everything, so that no page is empty. Phone numbers start with `numbers`. */
  async function fill(names: typeof NAMES, numbers: string): Promise<Record<string, string>> {
    const { owner, connectInstance } = story.gateway;
    const { id, client } = await connectInstance({ name: names.instance });
    await story.gateway.createInstance({ name: "Kitchen" });
    const input = {
      id,
      name: names.webhook,
      url: "http://127.0.0.1:9/orders",
      events: ["message.received"] as const,
    };
    const { data: webhook } = await client.createWebhook({ ...input, events: [...input.events] });
    for (const text of ["Good morning", "Are you open today?"])
      await client.sandboxReceive({ id, from: `${numbers}1234`, push_name: names.contact, text });
    await client.sendText({ id, number: `${numbers}1234`, text: "Until six o'clock." });
    await waitUntil(async () => (await client.listDeliveryLogs({ id })).data.length > 0);
    const [attempt] = (await client.listDeliveryLogs({ id })).data;
    const [chat] = (await client.listChats({ id })).data;
    const { data: lead } = await owner.createLead({ name: names.contact, phone: `${numbers}1235` });
    await owner.addLeadNote({ id: lead.id, note: "Prefers the afternoon." });
    await owner.saveQuickReply({ shortcut: "hours", content: "We are open until six o'clock." });
    const { data: campaign } = await owner.createCampaign({
      name: names.campaign,
      instance_id: id,
      message_template: "Hello",
    });
    await owner.addRecipients({ id: campaign.id, numbers: [`${numbers}1236`, `${numbers}1237`] });
    const { data: account } = await owner.createAccount({
      name: names.account,
      email: `${numbers}@example.com`,
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

  /** All routes of the panel's router. */
  async function readPaths(page: Page): Promise<string[]> {
    const paths = await page.evaluate<string[]>("Object.keys(__TSR_ROUTER__.routesByPath)");
    return paths.filter((path) => !ENTRY.includes(path));
  }

  async function signIn(page: Page): Promise<void> {
    await story.signIn(page);
    await page.locator(".frame h1").waitFor();
  }

  /** Navigates without a reload, which would sign out. */
  async function visit(page: Page, path: string): Promise<void> {
    const to = JSON.stringify(`/panel${path}`);
    await page.evaluate(`history.pushState({}, "", ${to}); dispatchEvent(new PopStateEvent("popstate"));`);
    const isThere = `__TSR_ROUTER__.state.status === "idle" && location.pathname.startsWith(${to})`;
    await expect.poll(() => page.evaluate(isThere)).toBe(true);
    await page.locator("h1").first().waitFor();
    await expect.poll(() => page.locator(".loading").count()).toBe(0);
  }

  async function visitEach(page: Page, see: (name: string) => Promise<void>): Promise<void> {
    for (const path of await readPaths(page)) {
      const address = Object.entries(values).reduce((text, [name, value]) => text.replace(name, value), path);
      await visit(page, address);
      const isNotFound = NOT_FOUND.includes((await page.locator("h1").first().textContent()) ?? "");
      expect(isNotFound, path).toBe(path === UNKNOWN_ADDRESS);
      expect(await page.locator(".app-header button").isVisible(), `${path}: sign-out`).toBe(true);
      await see(path);
    }
  }

  /** `/instances/$id/chats` becomes `page-instances-id-chats`. */
  const nameOf = (path: string) =>
    `page-${path.replaceAll("$", "").split("/").filter(Boolean).join("-") || "home"}`;

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

  describe("with names that are one long word", () => {
    let shortValues: typeof values;
    beforeAll(async () => {
      shortValues = values;
      values = await fill(LONG_NAMES, "551198764");
    });
    afterAll(() => {
      values = shortValues;
    });

    test.each([
      ["a phone", PHONE],
      ["a desktop", DESKTOP],
    ])(
      "keeps its text in the window and the boxes of %s",
      async (_, viewport) => {
        const page = await story.openPage(viewport);
        await signIn(page);
        await visitEach(page, (path) => expectFit(page, path));
        await visit(page, values["/campaigns/$id"] ?? "");
        await story.press(page, "Start");
        await page.getByRole("alertdialog").waitFor();
        await expectFit(page, "the dialog that starts a campaign");
      },
      900_000,
    );
  });
});

async function expectFit(page: Page, name: string): Promise<void> {
  const outside = await page.evaluate<string[]>(FIND_TEXT_OUTSIDE);
  expect.soft(outside, name).toEqual([]);
}

/** Texts that overflow their box or the window, except in boxes that clip or scroll. */
const FIND_TEXT_OUTSIDE = `(() => {
  const texts = document.createTreeWalker(document.querySelector("#root"), NodeFilter.SHOW_TEXT);
  const found = [];
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    const element = text.parentElement;
    if (element.closest("svg, .visually-hidden, select")) continue;
    let box = element;
    while (box && getComputedStyle(box).overflowX === "visible" && !box.matches(".card, .row, .watched, .alert, .dialog"))
      box = box.parentElement;
    if (box && getComputedStyle(box).overflowX !== "visible") continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    const edge = Math.min(innerWidth, box ? box.getBoundingClientRect().right : innerWidth);
    if (range.getBoundingClientRect().right > edge + 1) found.push(text.data.slice(0, 60));
  }
  const wide = document.documentElement.scrollWidth;
  return wide > innerWidth ? [...found, "the page is " + wide + " px wide"] : found;
})()`;
