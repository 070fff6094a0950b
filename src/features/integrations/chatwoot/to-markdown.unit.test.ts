import { describe, expect, test } from "vitest";
import { growsLinearly } from "../../../../test/cpu-time.ts";
import { toMarkdown, toWhatsAppMarkup } from "./to-markdown.ts";

describe("WhatsApp formatting converted to Markdown", () => {
  test.each([
    ["*bold* and _slanted_ and ~gone~", "**bold** and _slanted_ and ~~gone~~"],
    ["2*3*4 = 24", "2*3*4 = 24"],
    ["* no list *", "* no list *"],
    ["`*code*` and ```\n*more*\n```", "`*code*` and ```\n*more*\n```"],
    ["https://a.example/x*y*z?_q_=~1~ *b*", "https://a.example/x*y*z?_q_=~1~ **b**"],
    ["first\nsecond", "first\nsecond"],
  ])("%j becomes %j", (input, wanted) => {
    expect(toMarkdown(input)).toBe(wanted);
  });
});

describe("an agent's Markdown converted to WhatsApp formatting", () => {
  test.each([
    ["**bold** and *slanted* and _slanted_ and ~~gone~~", "*bold* and _slanted_ and _slanted_ and ~gone~"],
    ["[our page](https://a.example/x_y__z)", "our page (https://a.example/x_y__z)"],
    ["[https://a.example](https://a.example)", "https://a.example"],
    ["https://a.example/__x__/**y**", "https://a.example/__x__/**y**"],
    ["one\\\ntwo", "one\ntwo"],
    ["- one\n- two", "- one\n- two"],
    ["a\\_b and 1\\. c", "a_b and 1. c"],
    ["`**code**`", "`**code**`"],
    ["**Total:** 5*3", "*Total:* 5*3"],
    ["**one** and **two**\n**three\nfour**", "*one* and *two*\n**three\nfour**"],
    ["** no ** mark ** here", "** no ** mark ** here"],
    ["**a ** b** c", "*a ** b* c"],
    ["[[inner](https://a.example/x)]", "[inner (https://a.example/x)]"],
    ["[a](https://a.example/[b](https://b.example)", "a (https://a.example/[b](https://b.example)"],
    ["[a](https://a.example [b](https://b.example)", "[a](https://a.example b (https://b.example)"],
  ])("%j becomes %j", (input, wanted) => {
    expect(toWhatsAppMarkup(input)).toBe(wanted);
  });
});

describe("the conversion takes only a few milliseconds for hostile text:", () => {
  const units = [
    "[",
    "**a ",
    "~~a ",
    "*a ",
    "~a ",
    "`",
    "``` ",
    "[t](http://",
    "](http://a",
    "\\",
    "** ",
    "_",
    "\n",
  ];

  test.each(units)("1 MB of %j", async (unit) => {
    const text = (size: number) => `x${unit.repeat(size / unit.length)}`;
    expect(await growsLinearly(1_000_000, (size) => toWhatsAppMarkup(text(size)))).toBe(true);
    expect(await growsLinearly(1_000_000, (size) => toMarkdown(text(size)))).toBe(true);
  });
});
