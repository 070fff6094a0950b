import { setTimeout as delay } from "node:timers/promises";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { TestInstance } from "../test/gateway.ts";
import { skipUnless } from "../test/run/skip-unless.ts";
import { DESKTOP, type PanelStory, startPanelStory } from "../test/stories/panel-story.ts";

const CHATS = 100_000;
const MESSAGES = 1_000_000;
/** Messages of the chat whose thread is scrolled. */
const IN_ONE_CHAT = 50_000;
const AT_ONCE = 250_000;
const MOST_NODES = 2_500;
const SCROLLS = 120;
const INSTANCES = 10_000;
/** How long the busy chat stays open. */
const WATCHED_MS = 10 * 60_000;
const EVERY_MS = 500;
/** Allowed heap growth meanwhile: the lists keep a bounded number of messages. */
const MOST_GROWTH_MB = 25;

/** Inserts rows as after a year of messages, for realistic sizes. */
async function seed({ gateway: { database } }: PanelStory, { id }: TestInstance): Promise<void> {
  const { pool } = database;
  await pool.query(
    `insert into conversation (account_id, instance_id, jid, phone, title, type, last_message_at)
     select account_id, id, (5521900000000 + n) || '@s.whatsapp.net', (5521900000000 + n)::text, 'Person ' || n,
       'contact', now() - n * interval '1 minute'
     from instance, generate_series(1, $2::int) n where id = $1`,
    [id, CHATS],
  );
  for (let from = 1; from <= MESSAGES; from += AT_ONCE)
    await pool.query(SEED_MESSAGES, [id, from, Math.min(MESSAGES, from + AT_ONCE - 1), IN_ONE_CHAT, CHATS]);
  await pool.query("analyze message; analyze conversation");
}

/** Inserts rows of instances that are never started. */
async function seedInstances({ gateway: { database } }: PanelStory, { id }: TestInstance): Promise<void> {
  await database.pool.query(
    `insert into instance (account_id, lane, global_lane, name, network, webhook_secret, status)
     select account_id, lane, global_lane, 'Desk ' || lpad(n::text, 5, '0'), network, webhook_secret,
       case n % 3 when 0 then 'created' when 1 then 'logged_out' else 'qr_expired' end
     from instance, generate_series(1, $2::int) n where id = $1`,
    [id, INSTANCES - 1],
  );
  await database.pool.query("analyze instance");
}

const SEED_MESSAGES = `
  insert into message (account_id, instance_id, conversation_id, message_id, direction, from_me, origin, jid, type,
    content, status, read_at, sent_at)
  select c.account_id, $1, c.id, 'SEED' || n, case when n % 2 = 0 then 'outbound' else 'inbound' end, n % 2 = 0,
    case when n % 2 = 0 then 'api' else 'contact' end, c.jid, 'text',
    jsonb_build_object('kind', 'text', 'text', 'Message ' || n || repeat(' and more', n % 9)),
    case when n % 2 = 0 then 'read' else 'received' end, case when n % 2 = 1 then now() end,
    case when n <= $4 then now() - n * interval '1 minute' else c.last_message_at - (n / $5::int) * interval '1 hour' end
  from generate_series($2::int, $3::int) n
  join conversation c on c.instance_id = $1
    and c.phone = (5521900000000 + case when n <= $4 then 1 else 1 + n % $5::int end)::text`;

interface Figures {
  frames: number;
  slow: number;
  p95_ms: number;
}

/** Scrolls one step per frame and measures the time between frames. */
async function scroll(page: Page, selector: string, step: number): Promise<Figures> {
  const times = await page.evaluate(
    async ({ selector, step, SCROLLS }) => {
      const { document, performance, requestAnimationFrame } = globalThis as unknown as {
        document: { querySelector(name: string): { scrollTop: number } | null };
        performance: { now(): number };
        requestAnimationFrame(run: () => void): void;
      };
      const found: number[] = [];
      let last = performance.now();
      for (let at = 0; at < SCROLLS; at++) {
        const list = document.querySelector(selector);
        if (list) list.scrollTop += step;
        await new Promise<void>((done) => requestAnimationFrame(() => done()));
        const now = performance.now();
        found.push(now - last);
        last = now;
      }
      return found;
    },
    { selector, step, SCROLLS },
  );
  const sorted = times.toSorted((a, b) => a - b);
  const slow = times.filter((ms) => ms > 50).length;
  return { frames: times.length, slow, p95_ms: Math.round(sorted[Math.floor(sorted.length * 0.95)] ?? 0) };
}

const nodesOf = (page: Page) => page.evaluate<number>("document.querySelectorAll('*').length");

const whenAsked = skipUnless(
  process.env.WAYGATE_SCALE === "full",
  "npm run test:scale runs it, for many minutes on a quiet machine",
);

describe("a panel with 100,000 chats, 1,000,000 messages and 10,000 instances", whenAsked, () => {
  let story: PanelStory;
  let shop: TestInstance;

  beforeAll(async () => {
    story = await startPanelStory();
    shop = await story.gateway.connectInstance({ name: "Large" });
    await seed(story, shop);
  });
  afterAll(() => story?.close());

  test("shows lists and threads of any length with few rows in the page, and no request fails", async () => {
    const page = await story.openPage(DESKTOP);
    const failed: string[] = [];
    page.on("response", (response) => {
      if (response.status() >= 400 && !response.url().includes("/me"))
        failed.push(`${response.status()} ${response.url()}`);
    });
    await story.signIn(page);
    const menu = page.getByRole("navigation", { name: "Main" });
    await menu.getByRole("link", { name: "Instances" }).click();
    await page.getByRole("link", { name: "Large", exact: true }).click();
    await page.getByRole("link", { name: "Conversations" }).click();
    const chats = page.getByRole("list", { name: "Chats" });
    const rows = chats.getByRole("link");
    const first = chats.getByRole("link", { name: /^Person 1 / });
    await first.waitFor();
    const heapBefore = await usedHeapMb(page);
    const list = await scroll(page, ".chat-scroll", 2_400);
    // How far the steps scroll depends on the machine.
    const further = rows.filter({ hasText: /Person \d{4}/ });
    await expect.poll(() => scrollOn(page, ".chat-scroll", 2_400, further)).toBeGreaterThan(5);
    expect(await rows.count()).toBeLessThan(40);
    expect(await nodesOf(page)).toBeLessThan(MOST_NODES);
    const back = await scroll(page, ".chat-scroll", -2_400);
    await expect.poll(() => scrollOn(page, ".chat-scroll", -2_400, first)).toBe(1);
    await first.click();
    const bubbles = page.getByRole("article");
    await bubbles.last().getByText("Message 1", { exact: false }).waitFor();
    const thread = await scroll(page, ".thread", -1_500);
    const older = bubbles.filter({ hasText: /Message \d{3,}/ });
    await expect.poll(() => scrollOn(page, ".thread", -1_500, older)).toBeGreaterThan(2);
    expect(await bubbles.count()).toBeLessThan(60);
    expect(await nodesOf(page)).toBeLessThan(MOST_NODES);
    await page.getByRole("button", { name: "Go to the newest message" }).click();
    await bubbles.last().getByText("Message 1", { exact: false }).waitFor();
    const search = page.getByRole("searchbox", { name: "Search chats and messages" });
    await search.fill("Person 77777");
    await rows.filter({ hasText: "Person 77777" }).waitFor();
    expect(failed).toEqual([]);
    const figures = { list, back, thread, heap_mb: [heapBefore, await usedHeapMb(page)] };
    process.stdout.write(`Conversations at scale: ${JSON.stringify(figures)}\n`);
  });

  test("keeps its memory while a message arrives every half second for ten minutes", {
    timeout: WATCHED_MS + 300_000,
  }, async () => {
    const page = await story.openPage(DESKTOP);
    await story.signIn(page);
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Instances" }).click();
    await page.getByRole("link", { name: "Large", exact: true }).click();
    await page.getByRole("link", { name: "Conversations" }).click();
    await page.getByRole("list", { name: "Chats" }).getByRole("link").first().click();
    await page.getByRole("article").last().waitFor();
    const from = `${5521900000000 + 1}`;
    const heap = [await usedHeapMb(page)];
    const end = performance.now() + WATCHED_MS;
    for (let n = 1; performance.now() < end; n++) {
      await shop.client.sandboxReceive({ id: shop.id, from, text: `Arrived ${n}` });
      await delay(EVERY_MS);
      if (n % 120 !== 0) continue;
      await page.getByRole("article").getByText(`Arrived ${n}`, { exact: true }).waitFor();
      heap.push(await usedHeapMb(page));
    }
    const [, settled = 0] = heap;
    expect((heap.at(-1) ?? 0) - settled).toBeLessThan(MOST_GROWTH_MB);
    expect(await nodesOf(page)).toBeLessThan(MOST_NODES);
    process.stdout.write(`Heap of a busy chat, each minute, in MB: ${JSON.stringify(heap)}\n`);
  });

  test("shows a list of 10,000 instances with few rows in the page, to its end", async () => {
    await seedInstances(story, shop);
    const page = await story.openPage(DESKTOP);
    await story.signIn(page);
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Instances" }).click();
    const rows = page.getByRole("list", { name: "Your instances" }).getByRole("listitem");
    await rows.first().waitFor();
    const figures = await scroll(page, "html", 2_400);
    await expect
      .poll(
        async () => {
          await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)");
          return rows.filter({ hasText: "Large" }).count();
        },
        { timeout: 300_000, interval: 50 },
      )
      .toBe(1);
    expect(await rows.count()).toBeLessThan(40);
    expect(await nodesOf(page)).toBeLessThan(MOST_NODES);
    await page.getByLabel("Search").fill("Desk 07777");
    await rows.filter({ hasText: "Desk 07777" }).waitFor();
    expect(await rows.count()).toBe(1);
    const heap_mb = await usedHeapMb(page);
    process.stdout.write(`Instances at scale: ${JSON.stringify({ ...figures, heap_mb })}\n`);
  });

  /** After a garbage collection. */
  async function usedHeapMb(page: Page): Promise<number> {
    const session = await page.context().newCDPSession(page);
    await session.send("HeapProfiler.collectGarbage");
    const { usedSize } = await session.send("Runtime.getHeapUsage");
    await session.detach();
    return Math.round(usedSize / 1048576);
  }

  /** Scrolls once more and counts the wanted rows. */
  async function scrollOn(page: Page, selector: string, step: number, wanted: Locator): Promise<number> {
    await page.evaluate(`document.querySelector(${JSON.stringify(selector)}).scrollTop += ${step}`);
    return wanted.count();
  }
});
