import { describe, expect, test } from "vitest";
import { growsLinearly } from "../../../../test/cpu-time.ts";
import { findTriggerProblem, isTrigger } from "./bot-trigger.ts";
import { toBotTurn } from "./bot-turn.ts";
import { bubbleToReply } from "./bubble-to-reply.ts";
import { findOption, findOptions } from "./choice-option.ts";
import { readNumber } from "./read-number.ts";
import { toBotInput } from "./to-bot-input.ts";
import { toPrompt } from "./to-prompt.ts";
import { toWhatsAppText } from "./to-whatsapp-text.ts";
import { savedTypebotConfig, typebotConfig } from "./typebot-config.ts";

const p = (...children: object[]) => ({ type: "p", children });

describe("rich text", () => {
  test.each([
    ["marks", [p({ text: "bold", bold: true })], "*bold*"],
    ["nested formatting", [p({ text: "x", bold: true, italic: true })], "*_x_*"],
    ["spaces outside of the marks", [p({ text: " bold ", bold: true }, { text: "x" })], " *bold* x"],
    ["no marks around empty text", [p({ text: " ", bold: true }, { text: "", italic: true })], " "],
    [
      "one pair of marks around adjacent text of one format",
      [p({ text: "a", bold: true }, { text: "b", bold: true })],
      "*ab*",
    ],
    ["marks in each line", [p({ text: "a\nb", bold: true })], "*a*\n*b*"],
    [
      "a variable",
      [p({ text: "Hi " }, { type: "inline-variable", children: [p({ text: "Ana", bold: true })] })],
      "Hi *Ana*",
    ],
    ["underline as plain text", [p({ text: "u", underline: true })], "u"],
    [
      "a bare link",
      [p({ type: "a", url: "https://x.test/a_b_c", children: [{ text: "" }] })],
      "https://x.test/a_b_c",
    ],
    [
      "blank lines, but none at the end",
      [p({ text: "a" }), p({ text: "" }), p({ text: "b" }), p({ text: "" })],
      "a\n\nb",
    ],
    [
      "lists within lists",
      [
        {
          type: "ul",
          children: [
            {
              type: "li",
              children: [
                { type: "lic", children: [{ text: "a" }] },
                {
                  type: "ol",
                  children: [{ type: "li", children: [{ type: "lic", children: [{ text: "b" }] }] }],
                },
              ],
            },
          ],
        },
      ],
      "- a\n  1. b",
    ],
    ["nothing for a value that is not text", "nonsense", ""],
  ])("is converted to WhatsApp formatting: %s", (_, blocks, text) => {
    expect(toWhatsAppText(blocks)).toBe(text);
  });
});

describe("bubbles", () => {
  test.each([
    [
      "image",
      { url: "https://x.test/a.png", clickLink: { url: "https://x.test/" } },
      { kind: "media", url: "https://x.test/a.png", type: "image", caption: "https://x.test/" },
    ],
    [
      "image",
      { url: "https://x.test/a.gif" },
      { kind: "media", url: "https://x.test/a.gif", type: "document" },
    ],
    ["image", { url: "data:image/png;base64,AAAA" }, undefined],
    [
      "video",
      { url: "https://x.test/a.mp4", type: "url" },
      { kind: "media", url: "https://x.test/a.mp4", type: "video" },
    ],
    ["video", { url: "vimeo.com/1", id: "1", type: "vimeo" }, { kind: "text", text: "https://vimeo.com/1" }],
    [
      "video",
      { url: "tiktok.com/@a/video/1", id: "1", type: "tiktok" },
      { kind: "text", text: "https://tiktok.com/@a/video/1" },
    ],
    ["embed", { url: "https://x.test/page" }, { kind: "text", text: "https://x.test/page" }],
    ["custom-embed", { initFunction: {} }, undefined],
    ["text", { richText: [p({ text: "" })] }, undefined],
    ["something new", { url: "https://x.test" }, undefined],
  ])("of type %s are converted from %j", (type, content, part) => {
    expect(bubbleToReply({ id: "b", type, content })).toEqual(part);
  });
});

describe("choices", () => {
  const options = ["Sim, quero", "Não", "2"].map((text, index) => ({ id: `i${index}`, text, others: [] }));

  test.each([
    ["1", "Sim, quero"],
    ["1.", "Sim, quero"],
    ["3️⃣", "2"],
    ["2", "2"],
    ["NAO", "Não"],
    ["sim,  QUERO", "Sim, quero"],
    ["4", undefined],
    ["sim", undefined],
  ])("are matched so that %j means %j", (reply, text) => expect(findOption(options, reply)?.text).toBe(text));

  test("several choices are named by number or text, and one unclear name makes all unclear", () => {
    expect(findOptions(options, "1 e 3")).toBeUndefined();
    expect(findOptions(options, "1, 3")?.map(({ text }) => text)).toEqual(["Sim, quero", "2"]);
    expect(findOptions(options, "não; 1")?.map(({ text }) => text)).toEqual(["Não", "Sim, quero"]);
    expect(findOptions(options, "1, 9")).toBeUndefined();
  });

  test("cards are chosen by path and numbered across all cards", () => {
    const card = (id: string, title: string) => ({
      id,
      title,
      description: "d",
      imageUrl: "https://x.test/1.png",
      paths: [
        { id: `${id}1`, text: "Go" },
        { id: `${id}2`, text: "More" },
      ],
    });
    const input = { id: "c", type: "cards", items: [card("a", "Paris"), card("b", "London")] };
    expect(toPrompt(input)[1]).toMatchObject({ type: "image", caption: "*London*\nd\n3. Go\n4. More" });
    expect(toBotInput(input, { kind: "text", text: "4" })).toMatchObject({ message: { text: "b2" } });
  });

  test("a payment is shown, and no reply fills it", () => {
    const input = { id: "p", type: "payment input", runtimeOptions: { amountLabel: "R$ 10" } };
    expect(toPrompt(input)).toEqual([{ kind: "text", text: "R$ 10" }]);
    expect(toBotInput(input, { kind: "text", text: "paid" })).toEqual({ do: "refuse", why: "unsupported" });
  });

  test("an optional file can be skipped", () => {
    const input = { id: "f", type: "file input", options: { isRequired: false, labels: { skip: "Pular" } } };
    expect(toPrompt(input)).toEqual([{ kind: "text", text: "📎\n1. Pular" }]);
    for (const text of ["pular", "1", "skip"])
      expect(toBotInput(input, { kind: "text", text })).toEqual({ do: "send", message: undefined });
  });
});

test.each([
  ["1.234,5", "1234.5"],
  ["1,234.5", "1234.5"],
  ["1234,5", "1234.5"],
  ["1.234.567", "1234567"],
  ["12", "12"],
  ["-3,5", "-3.5"],
  ["about 3", "about 3"],
])("the number %j is read as %j", (reply, number) => expect(readNumber(reply)).toBe(number));

test("rich text of many empty blocks is converted in a time that grows with their number", async () => {
  const blocks = (length: number) => [...Array.from({ length }, () => p({ text: "" })), p({ text: "x" })];
  expect(await growsLinearly(40_000, (size) => toWhatsAppText(blocks(size)))).toBe(true);
});

describe("a trigger", () => {
  const config = (more: object) =>
    typebotConfig.parse({ base_url: "https://t.test/api/", public_id: "b", trigger: "keyword", ...more });

  test.each([
    [{ trigger_value: "Olá" }, "ola", true],
    [{ trigger_value: "Olá" }, "ola you", false],
    [{ trigger_value: "ola", trigger_operator: "startsWith" }, "Olá you", true],
    [{ trigger_value: "^\\d+$", trigger_operator: "regex" }, "123", true],
    [{ trigger_value: "^(a+)+$", trigger_operator: "regex" }, `${"a".repeat(60)}!`, false],
  ])("%j for the text %j: %j", (more, reply, starts) => expect(isTrigger(config(more), reply)).toBe(starts));

  test.each(["a(?=b)", "(a)\\1", "a{1,1000}b{1,1000}"])(
    "is rejected when it is saved with the slow or unsupported pattern %j",
    (trigger_value) => {
      expect(() => config({ trigger_operator: "regex", trigger_value })).toThrow(/RE2|too large/);
    },
  );

  test("saved under earlier rules with a lookahead never starts the bot", () => {
    const input = {
      base_url: "https://t.test",
      public_id: "b",
      trigger: "keyword",
      trigger_operator: "regex",
    };
    const saved = savedTypebotConfig.parse({ ...input, trigger_value: "a(?=b)" });
    expect([isTrigger(saved, "ab"), findTriggerProblem(saved)]).toEqual([
      false,
      expect.stringContaining("(?="),
    ]);
  });

  test("needs a value and, if it is a pattern, a valid one", () => {
    expect(() => config({})).toThrow(/is required for a keyword/);
    expect(() => config({ trigger_operator: "regex", trigger_value: "(" })).toThrow(
      /not a regular expression/,
    );
    expect(config({ trigger_value: "x" }).base_url).toBe("https://t.test");
  });
});

test("the typing indicator depends on the text length within both limits, and can be disabled", () => {
  const say = (id: string, text: string) => ({ id, type: "text", content: { richText: [p({ text })] } });
  const answer = { messages: [say("a", "first"), say("b", "two words"), say("c", "word ".repeat(500))] };
  const config = typebotConfig.parse({ base_url: "https://t.test", public_id: "b", max_delay_ms: 2_000 });
  const typing = { speed: 120, maxDelay: 3, delayBetweenBubbles: 0.5 };
  expect(toBotTurn(answer, config, typing).parts.map(({ delay_ms }) => delay_ms)).toEqual([
    undefined,
    1500,
    2000,
  ]);
  const silent = toBotTurn(answer, { ...config, typing_presence: false }, typing).parts;
  expect(silent.map(({ delay_ms, run_at }) => [delay_ms, run_at !== undefined])).toEqual([
    [undefined, false],
    [undefined, true],
    [undefined, true],
  ]);
});
