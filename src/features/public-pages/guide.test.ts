import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ROOT } from "../../../test/source-files.ts";
import { createGuide, GUIDE, guidePath, toHtml } from "./guide.ts";

const guide = createGuide(join(ROOT, "docs"));

describe.each(GUIDE)("the page $slug", ({ slug }) => {
  test("is there, with one heading of the first rank and itself marked in the list", async () => {
    const html = await guide(slug);
    expect(html.match(/<h1 /g)).toHaveLength(1);
    expect(html).toContain(`<a href="${guidePath(slug)}" aria-current="page">`);
    expect(html).not.toMatch(/<script|style=|onclick|<!--|undefined/);
  });

  test("leads nowhere that is not served", async () => {
    const html = await guide(slug);
    const links = [...html.matchAll(/href="([^"]+)"/g)].map(([, href = ""]) => href);
    const served = ["", "/", "/docs", "/terms", "/privacy", "/openapi.json", "/postman.json"];
    const known = new Set([...served, ...GUIDE.map((one) => guidePath(one.slug))]);
    const ours = links
      .filter((href) => !/^https:|^\/docs\/assets\//.test(href))
      .map((href) => href.split("#"));
    const dead = [];
    for (const [path = "", hash] of ours) {
      const target = GUIDE.find((one) => guidePath(one.slug) === path)?.slug ?? slug;
      const isThere = hash === undefined || (await guide(target)).includes(` id="${hash}"`);
      if (!known.has(path) || !isThere) dead.push(`${path}#${hash ?? ""}`);
    }
    expect(dead).toEqual([]);
  });
});

test("an unknown page is not found, whatever it is called", async () => {
  for (const slug of ["nothing", "../package", "constructor", "decisions"]) {
    await expect(guide(slug)).rejects.toMatchObject({ code: "NOT_FOUND" });
  }
});

describe("Markdown", () => {
  test("is rendered without what could run or load", () => {
    const html = toHtml(
      "# A <b>c</b>\n\n<script>alert(1)</script>\n\n[x](javascript:alert(1)) ![y](https://evil.example/y.png) <img src=x onerror=alert(1)>",
    );
    expect(html).not.toMatch(/<script|javascript:|<img|onerror|evil/);
    expect(html).toContain("<h1");
  });

  test("gives headings ids that tables of contents can point at, each once", () => {
    expect(toHtml("## Now, or queued\n\n## Now, or queued")).toMatch(
      /id="now-or-queued".*id="now-or-queued-1"/s,
    );
  });

  test("keeps code as it is", () => {
    expect(toHtml('```html\n<a href="x">&amp;</a>\n```')).toContain(
      '<code class="language-html">&lt;a href=&quot;x&quot;&gt;&amp;amp;&lt;/a&gt;</code>',
    );
  });
});
