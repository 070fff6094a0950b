import { describe, expect, test } from "vitest";
import { growsLinearly } from "../../../../../test/cpu-time.ts";
import { readPageSummary } from "./read-page-summary.ts";

describe("the summary of a page", () => {
  test.each([
    [
      "prefers the metadata for previews",
      '<title>T</title><meta property="og:title" content="Shoes">',
      { title: "Shoes" },
    ],
    [
      "uses the title if there is nothing else",
      "<TITLE lang=en>\n Blue\n shoes </TITLE>",
      { title: "Blue shoes" },
    ],
    [
      "accepts single quotes and any order",
      "<meta content='A &amp; B &#39;x&#x27;' name=description>",
      { description: "A & B 'x'" },
    ],
    ["names the picture", '<meta property="og:image" content="/a.png"/>', { image: "/a.png" }],
    ["ends with its tag", '<meta property="og:title"><p content="x">', {}],
    ["contains no half characters", '<meta property="og:title" content="a&#55357;b">', { title: "a\ufffdb" }],
    [
      "decodes HTML entities",
      '<meta name="description" content="Caf&eacute; &euro;5">',
      { description: "Café €5" },
    ],
    [
      "ignores comments and scripts",
      '<!-- <meta name="description" content="x"> --><script>"<title>"</script>',
      {},
    ],
    ["ignores tags after the thousandth", `${"<i></i>".repeat(1_000)}<title>Late</title>`, {}],
    ["is empty if the page contains none", "<html><body>og:title</body></html>", {}],
  ])("%s", (_, html, summary) => expect(readPageSummary(html)).toEqual(summary));

  test("takes linear time for closing tags below many open ones", async () => {
    const html = (size: number) => "<i>".repeat(size / 64) + "</b>".repeat(size);
    expect(await growsLinearly(64_000, (size) => readPageSummary(html(size)))).toBe(true);
  });

  test.each([
    "<meta ",
    "<meta a=",
    '<meta a="',
    "<",
    "<title",
    "<meta property=og:title content=",
    "&#x",
    "<!--",
    "&amp",
  ])("takes linear time for a page full of %j", async (unit) => {
    const isLinear = await growsLinearly(262_144, (size) =>
      readPageSummary(unit.repeat(Math.ceil(size / unit.length))),
    );
    expect(isLinear).toBe(true);
  });
});
