import { describe, expect, test } from "vitest";
import { cpuMsOf } from "../../../../../test/cpu-time.ts";
import { readPageSummary } from "./read-page-summary.ts";

describe("the summary of a page", () => {
  test.each([
    [
      "is that for previews",
      '<title>T</title><meta property="og:title" content="Shoes">',
      { title: "Shoes" },
    ],
    [
      "is the title where there is no other",
      "<TITLE lang=en>\n Blue\n shoes </TITLE>",
      { title: "Blue shoes" },
    ],
    [
      "takes single quotes and any order",
      "<meta content='A &amp; B &#39;x&#x27;' name=description>",
      { description: "A & B 'x'" },
    ],
    ["names the picture", '<meta property="og:image" content="/a.png"/>', { image: "/a.png" }],
    ["ends with the tag", '<meta property="og:title"><p content="x">', {}],
    ["takes no half character", '<meta property="og:title" content="a&#55357;b">', { title: "a\ufffdb" }],
    [
      "names what HTML names",
      '<meta name="description" content="Caf&eacute; &euro;5">',
      { description: "Café €5" },
    ],
    [
      "is not read in comments and scripts",
      '<!-- <meta name="description" content="x"> --><script>"<title>"</script>',
      {},
    ],
    ["is not that of tags after the thousandth", `${"<i></i>".repeat(1_000)}<title>Late</title>`, {}],
    ["is empty where the page says nothing", "<html><body>og:title</body></html>", {}],
  ])("%s", (_, html, summary) => expect(readPageSummary(html)).toEqual(summary));

  test("takes linear time for closing tags below many open ones", async () => {
    const html = "<i>".repeat(1_000) + "</b>".repeat(64_000);
    expect(await cpuMsOf(async () => void readPageSummary(html))).toBeLessThan(1_000);
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
    const html = unit.repeat(Math.ceil(262_144 / unit.length));
    expect(await cpuMsOf(async () => void readPageSummary(html))).toBeLessThan(1_000);
  });
});
