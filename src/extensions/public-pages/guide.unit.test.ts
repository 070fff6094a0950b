import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ROOT } from "../../../test/source-files.ts";
import { EVENT_NAMES, STREAM_EVENTS } from "../../core/events/contract.ts";
import { eventExample } from "../../core/events/event-example.ts";
import { EVENT_PAYLOADS } from "../../processes/extensions.ts";
import { WEBHOOK_FORMATS } from "../webhook-formats/webhook-formats.ts";
import { createGuide } from "./guide.ts";
import { GUIDE, guidePath } from "./guide-pages.ts";
import { markdownToHtml } from "./markdown-to-html.ts";
import { unescapeHtml } from "./page-layout.ts";

const guide = createGuide({ payloads: EVENT_PAYLOADS, formats: WEBHOOK_FORMATS }, join(ROOT, "docs"));
/** Event pages have no file. */
const FILES = GUIDE.filter(({ event }) => event === undefined);

describe.each(GUIDE)("the guide page $slug", ({ slug }) => {
  test("exists with one top-level heading, and is marked in the navigation", async () => {
    const html = await guide.page(slug);
    expect(html.match(/<h1 /g)).toHaveLength(1);
    expect(html).toContain(`<a href="${guidePath(slug)}" aria-current="page">`);
    expect(html.match(/<script/g)).toHaveLength(1);
    expect(html).not.toMatch(/language-mermaid|style=|onclick|<!--/);
    expect(html.replaceAll(/<code>[^<]*<\/code>/g, "")).not.toContain("undefined");
  });

  test("links to the previous and the next page", async () => {
    const html = await guide.page(slug);
    const index = GUIDE.findIndex((one) => one.slug === slug);
    for (const [rel, neighbour] of [
      ["prev", GUIDE[index - 1]],
      ["next", GUIDE[index + 1]],
    ] as const) {
      const link = new RegExp(`<a rel="${rel}" href="([^"]+)">`).exec(html)?.[1];
      expect(link).toBe(neighbour && guidePath(neighbour.slug));
    }
  });
});

test.each([...EVENT_NAMES, ...STREAM_EVENTS])(
  "the event page of %s shows its payload and links to headers and signature",
  async (name) => {
    const html = await guide.page(name);
    expect(unescapeHtml(html)).toContain(JSON.stringify(eventExample(name), null, 2));
    expect(html).toContain('href="/docs/waygate/webhooks#headers"');
    expect(html).toContain('href="/docs/waygate/verifying-webhooks"');
    expect(await guide.page("events")).toContain(`<a href="/docs/waygate/${name}"><code>${name}</code></a>`);
  },
);

test("the page of an event shows its payload in the formats of other gateways that have a counterpart", async () => {
  expect(unescapeHtml(await guide.page("message.received"))).toMatch(
    /"messages.upsert".*"EventType".*"session"/s,
  );
  expect(await guide.page("campaign.completed")).not.toContain("In the format of");
});

test("the index of events names each event", async () => {
  const index = await readFile(join(ROOT, "docs/reference/events/README.md"), "utf8");
  const missing = [...EVENT_NAMES, ...STREAM_EVENTS].filter((name) => !index.includes(`| \`${name}\` |`));
  expect(missing).toEqual([]);
});

test("the guide's navigation lists the events only beside their pages", async () => {
  const entry = '<a href="/docs/waygate/call.received">call.received</a>';
  expect(await guide.page("events")).toContain(entry);
  expect(await guide.page("message.sent")).toContain(entry);
  expect(await guide.page("webhooks")).not.toContain(entry);
});

test("every document of docs/ is a page of the guide, apart from the index and the legal texts", async () => {
  const names = await readdir(join(ROOT, "docs"), { recursive: true });
  const documents = names.filter((name) => name.endsWith(".md") && !name.includes("legal"));
  expect(FILES.map(({ file }) => file).sort()).toEqual(
    documents.filter((name) => name !== "README.md").sort(),
  );
});

test.each(FILES)(
  "the page $slug and the index of docs/ have the title of the navigation",
  async ({ file, title, parent }) => {
    expect(await readFile(join(ROOT, "docs", file), "utf8")).toMatch(new RegExp(`^# ${title}\n`));
    const index = await readFile(join(ROOT, "docs/README.md"), "utf8");
    if (parent === undefined) expect(index).toContain(`[${title}](${file})`);
  },
);

test.each(GUIDE.filter(({ group }) => group === "Guides"))(
  "the guide $slug explains what it is, when to use it, how, and what can go wrong, in this order",
  async ({ file }) => {
    const text = await readFile(join(ROOT, "docs", file), "utf8");
    const headings = text.replace(/^ *```[\s\S]*?^ *```$/gm, "").match(/^## .*$/gm);
    expect(headings).toEqual(["## When to use it", "## How", "## What can go wrong"]);
    expect(text).toMatch(/^# .+\n\n[^#\n]/);
  },
);

test("every guide page shows the groups and the legal pages in its navigation", async () => {
  const html = await guide.page("webhooks");
  const groups = [...html.matchAll(/<p>(\w+)<\/p><ul>/g)].map(([, group]) => group);
  const titles = ["Start", "Guides", "Reference", "Operation", "Reliability", "Contributing", "Legal"];
  expect(groups).toEqual(titles);
  expect(html).toMatch(/<a href="\/privacy">.*<a href="\/terms">/);
});

test("an unknown guide page returns not found, whatever its name is", async () => {
  for (const slug of ["nothing", "../package", "constructor", "README"]) {
    await expect(guide.page(slug)).rejects.toMatchObject({ code: "NOT_FOUND" });
  }
});

describe("the guide's search", () => {
  const linksOf = async (query: string) =>
    [...(await guide.search(query)).matchAll(/<li><a href="([^"]+)">[^<]+<\/a>\n<p>/g)].map(
      ([, href]) => href,
    );

  test("finds parts with all words in any order and case, and ranks matching headings first", async () => {
    const links = await linksOf("KEY Idempotency");
    expect(links.length).toBeGreaterThan(2);
    expect(links[0]).toMatch(/^\/docs\/waygate\/asynchronous-sends#/);
    expect(await linksOf("WAYGATE_RETRY_SCHEDULE")).toContain("/docs/waygate/configuration#webhooks");
  });

  test("excludes the pages for contributors", async () => {
    expect(await linksOf("light-my-request")).toEqual([]);
  });

  test("links to existing headings", async () => {
    for (const link of await linksOf("webhook")) {
      const [path = "", id] = link?.split("#") ?? [];
      const entry = GUIDE.find(({ slug }) => guidePath(slug) === path);
      expect(await guide.page(entry?.slug ?? ""), link).toContain(` id="${id}"`);
    }
  });

  test("highlights the words and shows at most thirty parts", async () => {
    expect(await guide.search("kill -9")).toMatch(/<mark>kill<\/mark> <mark>-9<\/mark>/i);
    expect(await linksOf("e")).toHaveLength(30);
  });

  test("shows the query as text, and keeps it in the field", async () => {
    const html = await guide.search('"><script>alert(1)</script>');
    expect(html.match(/<script/g)).toHaveLength(1);
    expect(html).toContain('value="&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;"');
    expect(html).toContain("No part of the guide has all of these words.");
  });

  test("without words asks for a query", async () => {
    expect(await guide.search("  ")).toContain("Type words that the guide may hold");
  });

  test("finishes quickly for many long words", async () => {
    const html = await guide.search("a ".repeat(100));
    expect(html).toContain("<mark>a</mark>");
  });
});

describe("Markdown of the guide", () => {
  test("shows a state diagram as a table", () => {
    expect(markdownToHtml("```mermaid\nstateDiagram-v2\n  [*] --> created: POST /x\n```")).toMatch(
      /<tr><td>\(new\)<\/td><td><code>created<\/code><\/td><td>POST \/x<\/td><\/tr>/,
    );
  });

  test("is rendered without active content and without external resources", () => {
    const html = markdownToHtml(
      "# A <b>c</b>\n\n<script>alert(1)</script>\n\n[x](javascript:alert(1)) ![y](https://evil.example/y.png) <img src=x onerror=alert(1)>",
    );
    expect(html).not.toMatch(/<script|javascript:|<img|onerror|evil/);
    expect(html).toContain("<h1");
  });

  test("shows the boxes of a checklist as text", () => {
    expect(markdownToHtml("- [ ] one\n- [x] two")).toMatch(/☐ one.*☑ two/s);
  });

  test("gives each heading a unique id for tables of contents", () => {
    expect(markdownToHtml("## Now, or queued\n\n## Now, or queued")).toMatch(
      /id="now-or-queued".*id="now-or-queued-1"/s,
    );
  });

  test("keeps code unchanged", () => {
    expect(markdownToHtml('```html\n<a href="x">&amp;</a>\n```')).toContain(
      '<code class="language-html">&lt;a href=&quot;x&quot;&gt;&amp;amp;&lt;/a&gt;</code>',
    );
  });
});
