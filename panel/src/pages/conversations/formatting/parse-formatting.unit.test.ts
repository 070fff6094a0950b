import { describe, expect, test } from "vitest";
import { growsLinearly } from "../../../../../test/cpu-time.ts";
import { type Block, parseFormatting } from "./parse-formatting.ts";
import type { Part } from "./parse-line.ts";
import { stripFormatting } from "./strip-formatting.ts";

const TAGS = { bold: "b", italic: "i", strike: "s" };

/** Parts in a short notation; plain text is unchanged. */
function show(parts: readonly Part[]): string {
  return parts
    .map((part) => {
      if (typeof part === "string") return part;
      if (part.kind === "code") return `[code ${part.text}]`;
      if (part.kind === "link") return `[link ${part.url}]`;
      return `[${TAGS[part.kind]} ${show(part.parts)}]`;
    })
    .join("");
}

function showBlock(block: Block): string {
  if (block.kind === "mono") return `mono: ${block.text}`;
  if ("parts" in block) return `${block.kind}: ${show(block.parts)}`;
  return `${block.kind}: ${block.items.map(({ number = "", parts }) => `${number}<${show(parts)}>`).join(" ")}`;
}

describe("the formats of a line", () => {
  test.each([
    ["*bold*, _italic_ and ~gone~", "[b bold], [i italic] and [s gone]"],
    ["*_~all~_*", "[b [i [s all]]]"],
    ["(*bold*)! ¿*fuerte*?", "([b bold])! ¿[b fuerte]?"],
    ["*two words* 😀*joy*😀", "[b two words] 😀[b joy]😀"],
    ["Use `npm i`, or ```a *b* c```.", "Use [code npm i], or [code a *b* c]."],
  ])("%j is shown as %j", (text, shown) => {
    expect(parseFormatting(text).map(showBlock)).toEqual([`text: ${shown}`]);
  });

  test.each([
    "2*3*4 = 24, snake_case_name, a~b~c",
    "é*x*é, 你*好*吗",
    "so * spaced * and _ spaced_ and _spaced _",
    "*open, _open and ~open",
    "closed*, closed_ and closed~",
    "** __ ~~ *** ___ `` ``` ``````",
    "` ` and a`b`c",
    "*not\nacross lines*",
    "_ends\n_ here",
    "<b>no HTML</b> &amp; <script>alert(1)</script>",
    "javascript:alert(1) ftp://a.example data:text/html,x http:// https://.",
    "xhttps://a.example",
    ">no space, -5, *5, 1.5 and 1) no list",
    "```one fence\nonly",
    "```\n\n```",
  ])("%j is shown as it is", (text) => {
    expect(parseFormatting(text).map(showBlock)).toEqual([`text: ${text}`]);
  });

  test.each([
    ["*a _b* c_", "[b a _b] c_"],
    ["*a *b*", "*a [b b]"],
    ["*a _b *c_ d*", "*a [i b *c] d*"],
    ["**two**", "*[b two]*"],
    ["_*a_*", "[i *a]*"],
    ["`*a` b*", "[code *a] b*"],
  ])("in %j, an unmatched marker stays text: %j", (text, shown) => {
    expect(parseFormatting(text).map(showBlock)).toEqual([`text: ${shown}`]);
  });

  test.each([
    ["see https://a.example/x_y_z?q=*1*&b=~2~c now", "see [link https://a.example/x_y_z?q=*1*&b=~2~c] now"],
    ["*HTTP://a.example*, (https://b.example).", "[b [link HTTP://a.example]], ([link https://b.example])."],
    ["https://a.example\u202Egnp.exe", "[link https://a.example]\u202Egnp.exe"],
    ['https://a.example"onclick="x', '[link https://a.example]"onclick="x'],
    ["`https://a.example`", "[code https://a.example]"],
    [
      "see https://a.example/maria_ or https://b.example/~",
      "see [link https://a.example/maria_] or [link https://b.example/~]",
    ],
    ["_see https://a.example/maria_ now", "[i see [link https://a.example/maria]] now"],
    ["請看https://a.example 吧, xhttps://b.example", "請看[link https://a.example] 吧, xhttps://b.example"],
  ])("the links of %j are %j", (text, shown) => {
    expect(parseFormatting(text).map(showBlock)).toEqual([`text: ${shown}`]);
  });
});

describe("the lines of a text", () => {
  test("form quotes, lists and text, in their order", () => {
    const text = "Hello\nyou\n> *Where* is it?\n> Please\n- one\n* _two_\n2. second\n10. tenth\nBye";
    expect(parseFormatting(text).map(showBlock)).toEqual([
      "text: Hello\nyou",
      "quote: [b Where] is it?\nPlease",
      "bullets: <one> <[i two]>",
      "numbers: 2<second> 10<tenth>",
      "text: Bye",
    ]);
  });

  test("stay as they are between fences", () => {
    const text = "Run\n```\n- *npm* i\n> x\n```\nor\n```a\nb```then ```c```";
    expect(parseFormatting(text).map(showBlock)).toEqual([
      "text: Run",
      "mono: - *npm* i\n> x",
      "text: or",
      "mono: a\nb",
      "text: then [code c]",
    ]);
  });

  test("of an empty text are none", () => {
    expect(parseFormatting("")).toEqual([]);
  });
});

test.each([
  ["*Hi* _there_, see `x` and ~no~", "Hi there, see x and no"],
  ["> asked\n- one\n2. two", "asked\n• one\n2. two"],
  ["```a\n*b*```", "a\n*b*"],
  ["2*3*4 and *open", "2*3*4 and *open"],
])("a list shows %j as %j", (text, shown) => {
  expect(stripFormatting(text)).toBe(shown);
});

describe("a hostile text takes little time and few elements:", () => {
  const LENGTH = 65_536;
  const countAll = (parts: readonly Part[]): number =>
    parts.reduce(
      (sum, part) => sum + 1 + (typeof part !== "string" && "parts" in part ? countAll(part.parts) : 0),
      0,
    );
  const count = (block: Block): number => {
    if (block.kind === "mono") return 1;
    return "parts" in block
      ? countAll(block.parts)
      : block.items.reduce((sum, item) => sum + countAll(item.parts), 0);
  };

  test.each([
    ..."*_~`>-h\n ",
    ...[
      "*a ",
      "*a* ",
      "_*~",
      "*_~a~_* ",
      "_a ~b *c ",
      "*a _b* ",
      "`a",
      "` ",
      "` `",
      "```",
      "```\n",
      "``` ",
      "````a\n",
    ],
    ...[
      "> a\n",
      "- a\n",
      "1. a\n",
      "- *a*\n",
      "999. ",
      "http://",
      "https://.",
      "http://a ",
      "*http://a*",
      "https://)",
    ],
    ...["*\u202E", "\uD83D", "a*", " *", "* ", "*\n", "😀*"],
  ])("%j, repeated", async (unit) => {
    const text = unit.repeat(LENGTH).slice(0, LENGTH);
    expect(await growsLinearly(LENGTH, (size) => parseFormatting(text.slice(0, size)))).toBe(true);
    const blocks = parseFormatting(text);
    expect(blocks.length + blocks.reduce((sum, block) => sum + count(block), 0)).toBeLessThan(5_000);
  });

  test("one that is longer than any message stays as it is", () => {
    const text = `*a* ${"x".repeat(LENGTH)}`;
    expect(parseFormatting(text)).toEqual([{ kind: "text", parts: [text] }]);
  });

  test("one with too many formats stays as it is", () => {
    const text = "*a* ".repeat(2_001);
    expect(parseFormatting(text)).toEqual([{ kind: "text", parts: [text] }]);
  });
});
