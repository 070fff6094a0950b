import { describe, expect, test } from "vitest";
import { toMarkdown, toWhatsApp } from "./markup.ts";

describe("marks of WhatsApp for the inbox", () => {
  test.each([
    ["*bold* and _slanted_ and ~gone~", "**bold** and _slanted_ and ~~gone~~"],
    ["2*3*4 = 24", "2*3*4 = 24"],
    ["* no list *", "* no list *"],
    ["`*code*` and ```\n*more*\n```", "`*code*` and ```\n*more*\n```"],
    ["https://a.example/x*y*z?_q_=~1~ *b*", "https://a.example/x*y*z?_q_=~1~ **b**"],
    ["first\nsecond", "first\nsecond"],
  ])("%j is %j", (given, wanted) => {
    expect(toMarkdown(given)).toBe(wanted);
  });
});

describe("Markdown of an agent for WhatsApp", () => {
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
  ])("%j is %j", (given, wanted) => {
    expect(toWhatsApp(given)).toBe(wanted);
  });
});
