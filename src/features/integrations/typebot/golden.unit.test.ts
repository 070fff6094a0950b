import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { toBotTurn } from "./bot-turn.ts";
import { toBotInput } from "./to-bot-input.ts";
import { parseBotResponse } from "./typebot-api.ts";
import { typebotConfig } from "./typebot-config.ts";

const GOLDEN = new URL("../../../../test/golden/typebot/", import.meta.url);
const CONFIG = typebotConfig.parse({
  base_url: "http://typebot.test",
  public_id: "full",
  max_wait_seconds: 10,
});

/** Recorded responses of the real viewer by action, in order; truncated ones are omitted. */
function readRecorded(name: string) {
  const lines = readFileSync(new URL(name, GOLDEN), "utf8").split("\n");
  return lines.flatMap((line) => {
    const [, what = "", status = "", body = ""] =
      /^## (.+?) (\d{3}) (?:application\/json )?(\{.*\})$/.exec(line) ?? [];
    return what === "" ? [] : [{ what, status: Number(status), body }];
  });
}

const RECORDED = [...readRecorded("answers.txt"), ...readRecorded("edges.txt")];

function answerTo(what: string, nth = 0) {
  const found = RECORDED.filter((one) => one.what === what)[nth];
  const outcome = {
    outcome: "response" as const,
    status: found?.status ?? 0,
    headers: {},
    durationMs: 1,
    truncated: false,
    body: Buffer.from(found?.body ?? ""),
  };
  const answer = parseBotResponse(outcome);
  if (!answer) throw new Error(`the answer to ${what} cannot be read`);
  return answer;
}

function turnOf(what: string, nth = 0) {
  const answer = answerTo(what, nth);
  return toBotTurn(answer, CONFIG, answer.typebot?.settings?.typingEmulation);
}

const wordsOf = (what: string, nth = 0) =>
  turnOf(what, nth).parts.map((part) => (part.kind === "text" ? part.text : part.url));

const words = (text: string) => ({ kind: "text" as const, text });

describe("the recorded responses of a real Typebot viewer", () => {
  test("are all parsed completely if they were successful", () => {
    expect(RECORDED.length).toBeGreaterThan(50);
    const well = RECORDED.filter(({ status }) => status === 200);
    for (const { what, body } of well) {
      const outcome = {
        outcome: "response" as const,
        status: 200,
        headers: {},
        durationMs: 1,
        truncated: false,
      };
      expect(parseBotResponse({ ...outcome, body: Buffer.from(body) }), what).toBeDefined();
    }
  });

  test("become texts, files, a document and a list whose choices can be picked by number", () => {
    const body = readFileSync(new URL("start.json", GOLDEN));
    const answer = parseBotResponse({
      outcome: "response",
      status: 200,
      headers: {},
      durationMs: 1,
      truncated: false,
      body,
    });
    const { parts, isOver } = toBotTurn(answer ?? { messages: [] }, CONFIG, undefined);
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
    expect(toBotInput(answerTo(what).input, words(reply))).toEqual({ do: "send", message });
  });

  test("make the gateway reject a rating that is out of range", () => {
    const { input } = answerTo("rating bad");
    for (const reply of ["6", "2.5", "good"])
      expect(toBotInput(input, words(reply))).toEqual({ do: "refuse", why: "invalid" });
  });

  test("let a file fill a file input or an open text input, and a voice note goes as audio", () => {
    const url = "https://x.test/file.png";
    const file = { kind: "file" as const, files: [{ media_type: "image", url }], text: "" };
    expect(toBotInput(answerTo("date").input, file)).toMatchObject({ message: { text: url } });
    const { input } = answerTo("textatt");
    expect(toBotInput(input, file)).toEqual({
      do: "send",
      message: { type: "text", text: "", attachedFileUrls: [url] },
    });
    expect(toBotInput(input, { ...file, files: [{ media_type: "ptt", url }] })).toEqual({
      do: "send",
      message: { type: "audio", url },
    });
    expect(toBotInput(answerTo("invalid choice").input, file)).toEqual({ do: "refuse", why: "unsupported" });
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
    expect(wordsOf("email ok")).toEqual(["https://example.org/r", "Bye Sales file=http://127.0.0.1:9/x.png"]);
    expect(wordsOf("setvar cont")).toEqual(["x=2"]);
    expect(turnOf("script")).toMatchObject({ continueAfterMs: undefined, warnings: [] });
  });

  test("become numbered pictures, a rating scale and the format of a date", () => {
    expect(turnOf("time").parts).toEqual([
      { kind: "media", url: "https://example.org/1.png", type: "image", caption: "1. *A*\nd" },
      { kind: "text", text: "2. *B*" },
    ]);
    expect(wordsOf("replyId i1")).toEqual(["0–5"]);
    expect(wordsOf("rating ok")).toEqual(["(dd/MM/yyyy)"]);
    expect(wordsOf("file loopback")).toEqual(["1. Red\n2. Green\n3. Blue\n(1, 2, …)"]);
  });
});
