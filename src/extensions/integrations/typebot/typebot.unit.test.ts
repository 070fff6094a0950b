import { readFileSync } from "node:fs";
import { en, parseDate } from "chrono-node";
import { describe, expect, test } from "vitest";
import { growsLinearly } from "../../../../test/cpu-time.ts";
import type { FetchOutcome } from "../../../platform/outgoing/safe-fetch.ts";
import { findTriggerProblem, isTrigger } from "./bot-trigger.ts";
import { toBotTurn } from "./bot-turn.ts";
import { bubbleToReply } from "./bubble-to-reply.ts";
import { findOption, findOptions } from "./input/choice-option.ts";
import { readNumber, toBotInput } from "./input/to-bot-input.ts";
import { toPrompt } from "./input/to-prompt.ts";
import { readOutcome } from "./read-outcome.ts";
import { toWhatsAppText } from "./to-whatsapp-text.ts";
import { parseBotResponse } from "./typebot-api.ts";
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
  const response = { messages: [say("a", "first"), say("b", "two words"), say("c", "word ".repeat(500))] };
  const config = typebotConfig.parse({ base_url: "https://t.test", public_id: "b", max_delay_ms: 2_000 });
  const typing = { speed: 120, maxDelay: 3, delayBetweenBubbles: 0.5 };
  expect(toBotTurn(response, config, typing).parts.map(({ delay_ms }) => delay_ms)).toEqual([
    undefined,
    1500,
    2000,
  ]);
  const silent = toBotTurn(response, { ...config, typing_presence: false }, typing).parts;
  expect(silent.map(({ delay_ms, run_at }) => [delay_ms, run_at !== undefined])).toEqual([
    [undefined, false],
    [undefined, true],
    [undefined, true],
  ]);
});

/** The text that a bot receives at an input of this type. */
function toInputText(type: string, text: string, options: object): string {
  const input = toBotInput({ id: "i", type, options: { ...options } }, { kind: "text", text });
  if (input.do !== "send" || input.message?.type !== "text") throw new Error("nothing is sent");
  return input.message.text;
}

const minuteOf = (date: Date | undefined) =>
  date &&
  `${[date.getFullYear(), date.getMonth() + 1, date.getDate()].join("-")} ${date.toTimeString().slice(0, 5)}`;

/** Parses a date as Typebot 3.18 does: with the British parser if the day comes first. */
function readByBot(text: string, format = "dd/MM/yyyy"): (string | undefined)[] {
  const [found] = (format.startsWith("dd") ? en.GB : en).parse(text);
  return [minuteOf(found?.start.date()), ...(found?.end ? [minuteOf(found.end.date())] : [])];
}

describe("a date", () => {
  test.each([
    ["03/04/2026", undefined, "2026-4-3 12:00"],
    ["03/04/2026", "MM/dd/yyyy", "2026-3-4 12:00"],
    ["1.2.26", "dd/MM/yyyy", "2026-2-1 12:00"],
    ["dia 1º de fevereiro de 2027", undefined, "2027-2-1 12:00"],
    ["10 de Março de 2027", undefined, "2027-3-10 12:00"],
    ["5 de diciembre del 2027", undefined, "2027-12-5 12:00"],
    ["01/02/2027 15h30", undefined, "2027-2-1 15:30"],
    ["01/02/2027 às 15h", undefined, "2027-2-1 15:00"],
    ["01/02/2027, às 15:30", undefined, "2027-2-1 15:30"],
    ["10 de dezembro de 2027 às 3 da tarde", undefined, "2027-12-10 15:00"],
    ["el 10 de diciembre de 2027 a las 8:30 de la noche", undefined, "2027-12-10 20:30"],
    ["01/02/2027 ao meio-dia", undefined, "2027-2-1 12:00"],
    ["15/02/2027", "MM/dd/yyyy", "2027-2-15 12:00"],
  ])("written as %j is read with the format %j as %s", (reply, format, date) => {
    expect(readByBot(toInputText("date input", reply, { format, hasTime: true }), format)[0]).toBe(date);
  });

  test.each(["01/02/2027 a 05/02/2027", "de 01/02/2027 até 05/02/2027", "01/02/27-05/02/27"])(
    "range written as %j is read with both its start and its end",
    (reply) => {
      const range = toInputText("date input", reply, { isRange: true });
      expect(readByBot(range)).toEqual(["2027-2-1 12:00", "2027-2-5 12:00"]);
    },
  );

  test.each([
    ["entre 1 de fevereiro de 2027 e 5 de fevereiro de 2027", ["2027-2-1 12:00", "2027-2-5 12:00"]],
    ["de 1 a 5 de fevereiro de 2027", ["2027-2-1 12:00", "2027-2-5 12:00"]],
    ["del 1 al 5 de febrero de 2027", ["2027-2-1 12:00", "2027-2-5 12:00"]],
    ["desde el 01/02/2027 hasta el 05/02/2027", ["2027-2-1 12:00", "2027-2-5 12:00"]],
    ["01/02/2027 – 05/02/2027", ["2027-2-1 12:00", "2027-2-5 12:00"]],
    ["01/02/2027 to 05/02/2027", ["2027-2-1 12:00", "2027-2-5 12:00"]],
    ["01/02/2027 15h30 até 05/02/2027 às 16h", ["2027-2-1 15:30", "2027-2-5 16:00"]],
  ])("range written as %j is read as %j", (reply, ends) => {
    expect(readByBot(toInputText("date input", reply, { isRange: true }))).toEqual(ends);
  });

  test.each([
    ["hoje", "today"],
    ["Amanhã", "tomorrow"],
    ["mañana a las 10 de la mañana", "tomorrow 10:00"],
    ["depois de amanhã", "in 2 days"],
    ["32/13/2026", "32/13/2026"],
    ["Next Friday", "Next Friday"],
  ])("entered as %j is sent as %j", (reply, date) => expect(toInputText("date input", reply, {})).toBe(date));
});

describe("a time", () => {
  test.each([
    ["15h30", "15:30"],
    ["15h", "15:00"],
    ["15 h 30 min", "15:30"],
    ["às 15h30", "15:30"],
    ["as 15", "15:00"],
    ["a las 15:30", "15:30"],
    ["15:30hs", "15:30"],
    ["15 horas", "15:00"],
    ["15.30", "15:30"],
    ["8", "08:00"],
    ["3 da tarde", "15:00"],
    ["8 e meia da noite", "20:30"],
    ["12 da noite", "00:00"],
    ["10 de la mañana", "10:00"],
    ["meio-dia", "12:00"],
    ["meio dia e meia", "12:30"],
    ["mediodía", "12:00"],
    ["meia-noite", "00:00"],
    ["a medianoche", "00:00"],
    ["24h", "00:00"],
    ["3pm", "15:00"],
    ["3:30 pm", "15:30"],
    ["pode ser às 15h?", "15:00"],
    ["tanto faz", undefined],
    ["15h75", undefined],
  ])("written as %j is read as %s", (reply, time) => {
    expect(
      parseDate(toInputText("time input", reply, {}))
        ?.toTimeString()
        .slice(0, 5),
    ).toBe(time);
  });

  test("that is impossible is passed to the bot unchanged", () => {
    const long = "às 15h ".repeat(100);
    for (const reply of ["Tanto faz", "25h61", long])
      expect(toInputText("time input", reply, {})).toBe(reply);
  });
});

const config = savedTypebotConfig.parse({ base_url: "https://bot.example.com", public_id: "shop" });

function toHttpResponse(status: number, said: string | Buffer, durationMs = 1): FetchOutcome {
  const body = Buffer.isBuffer(said) ? said : Buffer.from(said);
  return { outcome: "response", status, headers: {}, body, truncated: false, durationMs };
}

describe("the response of a bot", () => {
  test.each([
    ["a proxy reports at once that no viewer is behind it", "<html>502 Bad Gateway</html>", 5, true],
    ["a proxy reports so with an empty body", "", 5, true],
    [
      "a proxy reports so after the viewer had time to run the flow",
      "<html>502 Bad Gateway</html>",
      2_000,
      false,
    ],
    ["the viewer itself responds with 502", '{"message":"Bad Gateway"}', 5, false],
  ])("when %s: whether the bot surely received nothing is %j", (_, body, durationMs, isSafe) => {
    expect(readOutcome(toHttpResponse(502, body, durationMs), config).failure).toEqual({
      stage: isSafe ? "before" : "attempt",
      isDown: true,
    });
  });

  test.each([401, 403])("with %i makes messages wait until a person acts", (status) => {
    const reading = readOutcome(toHttpResponse(status, "{}", 5), config);
    expect(reading).toMatchObject({ isRejected: true, failure: { final: "rejected" } });
    expect(reading.error).toMatch(/Messages wait for one day/);
  });

  test("with 404 does not make messages wait for a person", () =>
    expect(readOutcome(toHttpResponse(404, "{}", 5), config).isRejected).toBe(false));
});

const GOLDEN = new URL("../../../../test/golden/typebot/", import.meta.url);
const CONFIG = typebotConfig.parse({
  base_url: "http://typebot.test",
  public_id: "full",
  max_wait_seconds: 10,
});

/** Recorded responses of the real viewer by action, in order, without truncated ones. */
function readRecorded(name: string) {
  const lines = readFileSync(new URL(name, GOLDEN), "utf8").split("\n");
  return lines.flatMap((line) => {
    const [, what = "", status = "", body = ""] =
      /^## (.+?) (\d{3}) (?:application\/json )?(\{.*\})$/.exec(line) ?? [];
    return what === "" ? [] : [{ what, status: Number(status), body }];
  });
}

const RECORDED = [...readRecorded("responses.txt"), ...readRecorded("edges.txt")];

function recordedResponse(what: string, nth = 0) {
  const found = RECORDED.filter((one) => one.what === what)[nth];
  const response = parseBotResponse(toHttpResponse(found?.status ?? 0, found?.body ?? ""));
  if (!response) throw new Error(`the response to ${what} cannot be parsed`);
  return response;
}

function turnOf(what: string, nth = 0) {
  const response = recordedResponse(what, nth);
  return toBotTurn(response, CONFIG, response.typebot?.settings?.typingEmulation);
}

const textsOf = (what: string, nth = 0) =>
  turnOf(what, nth).parts.map((part) => (part.kind === "media" ? part.url : part.text));

const textPart = (text: string) => ({ kind: "text" as const, text });

describe("the recorded responses of a real Typebot viewer", () => {
  test("are all parsed completely if they were successful", () => {
    expect(RECORDED.length).toBeGreaterThan(50);
    const well = RECORDED.filter(({ status }) => status === 200);
    for (const { what, body } of well)
      expect(parseBotResponse(toHttpResponse(200, body)), what).toBeDefined();
  });

  test("become texts, files, a document and a list whose choices can be picked by number", () => {
    const response = parseBotResponse(toHttpResponse(200, readFileSync(new URL("start.json", GOLDEN))));
    const { parts, isOver } = toBotTurn(response ?? { messages: [] }, CONFIG, undefined);
    expect(isOver).toBe(false);
    expect(parts).toEqual([
      {
        kind: "text",
        text: "Hello *Ana* _it_ ~st~ un `code` link (https://example.org/a)\n\njid 5511@s.whatsapp.net\n1. One\n2. Two\n- Bul",
      },
      { kind: "media", url: "https://example.org/i.png", type: "image" },
      { kind: "text", text: "https://www.youtube.com/watch?v=abc", delay_ms: 2150 },
      { kind: "media", url: "https://example.org/a.mp3", type: "ptt" },
      { kind: "media", url: "https://example.org/doc.pdf", type: "document", file_name: "doc.pdf" },
      { kind: "text", text: "1. Sales\n2. Support" },
    ]);
  });

  test.each([
    ["invalid choice", "2", { type: "text", text: "Support", metadata: { replyId: "i2" } }],
    ["invalid choice", "SALES", { type: "text", text: "Sales", metadata: { replyId: "i1" } }],
    ["invalid choice", "sup", { type: "text", text: "Support", metadata: { replyId: "i2" } }],
    ["invalid choice", "3", { type: "text", text: "3" }],
    ["rating bad", "4", { type: "text", text: "4" }],
    ["file ok", "1 3", { type: "text", text: "Red, Blue" }],
    ["file ok", "blue, RED", { type: "text", text: "Blue, Red" }],
    ["num bad", "1.234,5", { type: "text", text: "1234.5" }],
    ["rating ok", "25/12/2026", { type: "text", text: "2026-12-25" }],
    ["rating ok", "amanhã", { type: "text", text: "tomorrow" }],
    ["pic idx", "1", { type: "text", text: "A", metadata: { replyId: "q1" } }],
    ["num", "11 99999-0000", { type: "text", text: "11 99999-0000" }],
  ])("make the gateway convert, after %s, the reply %j to the bot's form", (what, reply, message) => {
    expect(toBotInput(recordedResponse(what).input, textPart(reply))).toEqual({ do: "send", message });
  });

  test("make the gateway reject a rating that is out of range", () => {
    const { input } = recordedResponse("rating bad");
    for (const reply of ["6", "2.5", "good"])
      expect(toBotInput(input, textPart(reply))).toEqual({ do: "refuse", why: "invalid" });
  });

  test("let a file fill a file input or an open text input, and a voice note goes as audio", () => {
    const url = "https://x.test/file.png";
    const file = { kind: "file" as const, files: [{ media_type: "image", url }], text: "" };
    expect(toBotInput(recordedResponse("date").input, file)).toMatchObject({ message: { text: url } });
    const { input } = recordedResponse("textatt");
    expect(toBotInput(input, file)).toEqual({
      do: "send",
      message: { type: "text", text: "", attachedFileUrls: [url] },
    });
    expect(toBotInput(input, { ...file, files: [{ media_type: "ptt", url }] })).toEqual({
      do: "send",
      message: { type: "audio", url },
    });
    expect(toBotInput(recordedResponse("invalid choice").input, file)).toEqual({
      do: "refuse",
      why: "unsupported",
    });
  });

  test("show by themselves that a flow has ended", () => {
    const over = [
      "email ok",
      "pause cont no msg",
      "script",
      "textonly",
      "start input bot with message",
      "cards title",
    ];
    for (const what of over) expect(turnOf(what).isOver, what).toBe(true);
    const open = ["pause start", "setvar start", "listen", "textatt", "loop", "rating ok"];
    for (const what of open) expect(turnOf(what).isOver, what).toBe(false);
  });

  test("show which steps continue without the user", () => {
    expect(turnOf("pause start").continueAfterMs).toBe(1000);
    expect(turnOf("setvar start")).toMatchObject({
      continueAfterMs: 0,
      warnings: [expect.stringMatching(/setVariable/)],
    });
    expect(turnOf("listen")).toMatchObject({ continueAfterMs: undefined, isListening: true });
    expect(textsOf("email ok")).toEqual(["https://example.org/r", "Bye Sales file=http://127.0.0.1:9/x.png"]);
    expect(textsOf("setvar cont")).toEqual(["x=2"]);
    expect(turnOf("script")).toMatchObject({ continueAfterMs: undefined, warnings: [] });
  });

  test("become numbered pictures, a rating scale and the format of a date", () => {
    expect(turnOf("time").parts).toEqual([
      { kind: "media", url: "https://example.org/1.png", type: "image", caption: "1. *A*\nd" },
      { kind: "text", text: "2. *B*" },
    ]);
    expect(textsOf("replyId i1")).toEqual(["0–5"]);
    expect(textsOf("rating ok")).toEqual(["(dd/MM/yyyy)"]);
    expect(textsOf("file loopback")).toEqual(["1. Red\n2. Green\n3. Blue\n(1, 2, …)"]);
  });
});
