import { describe, expect, test } from "vitest";
import { FileResponseLimit } from "./file-response-limit.ts";
import { parseWorkflowReplies } from "./parse-workflow-replies.ts";

const AT_ONCE = 16;

describe("files in workflow responses", () => {
  test("wait while sixteen others are read, and all of them are read in the end", async () => {
    const files = new FileResponseLimit();
    const order: string[] = [];
    const ends: (() => void)[] = [];
    const read = (name: string) =>
      files.use(async (takeRoom) => {
        await takeRoom();
        order.push(name);
        await new Promise<void>((resolve) => ends.push(resolve));
      });
    const readings = Array.from({ length: AT_ONCE + 1 }, (_, n) => read(`file ${n}`));
    await expect.poll(() => order).toHaveLength(AT_ONCE);
    ends[0]?.();
    await expect.poll(() => order.at(-1)).toBe(`file ${AT_ONCE}`);
    for (const end of ends) end();
    await Promise.all(readings);
  });

  test("leave the queue when their request ends first", async () => {
    const files = new FileResponseLimit();
    const ends: (() => void)[] = [];
    const held = Array.from({ length: AT_ONCE }, () =>
      files.use(async (takeRoom) => {
        await takeRoom();
        await new Promise<void>((resolve) => ends.push(resolve));
      }),
    );
    await expect.poll(() => ends).toHaveLength(AT_ONCE);
    await files.use(async (takeRoom) => void takeRoom());
    for (const end of ends) end();
    await Promise.all(held);
    const again = Array.from({ length: AT_ONCE }, () => files.use((takeRoom) => takeRoom()));
    await Promise.all(again);
  });

  test("are not queued when they need no memory", async () => {
    const files = new FileResponseLimit();
    expect(await files.use(async () => "text")).toBe("text");
  });
});

const JSON_TYPE = "application/json; charset=utf-8";

function read(said: unknown, type = JSON_TYPE, headers: Record<string, string> = {}) {
  const body = Buffer.isBuffer(said)
    ? said
    : Buffer.from(type === JSON_TYPE ? JSON.stringify(said) : String(said));
  return parseWorkflowReplies({ headers: { "content-type": type, ...headers }, body, truncated: false });
}

describe("the response of a workflow", () => {
  test.each([
    [{ output: "a" }, ["a"]],
    [{ answer: "b" }, ["b"]],
    [{ response: "c" }, ["c"]],
    [{ reply: "d" }, ["d"]],
    [{ content: "e" }, ["e"]],
    [
      [{ text: "f" }, { message: "g" }],
      ["f", "g"],
    ],
    [{ output: "h", mediaUrl: null }, ["h"]],
    [{ output: "i", text: null }, ["i"]],
    [{ output: null, text: "j" }, ["j"]],
    [{ output: 42 }, ["42"]],
    [{ output: true }, ["true"]],
    [{ output: { text: "k" } }, ["k"]],
    [{ message: { role: "assistant", content: "l" } }, ["l"]],
    [{ output: ["m", "n", 3] }, ["m", "n", "3"]],
    [
      ["o", "p"],
      ["o", "p"],
    ],
    [{ json: { output: "q" } }, ["q"]],
    [
      [{ json: { output: "r" } }, { json: { output: "s" } }],
      ["r", "s"],
    ],
    ["t", ["t"]],
  ])("%j contains the replies %j", (said, texts) => {
    const { replies, problem } = read(said);
    expect(replies.map(({ text }) => text)).toEqual(texts);
    expect(problem).toBeUndefined();
  });

  test.each([
    [{ message: "Workflow was started" }, /"Workflow was started".*Set Respond of the Webhook node/],
    [
      { message: "Workflow executed successfully but no data was returned" },
      /workflow itself returned nothing.*Set Respond/,
    ],
    [{ data: [{ output: "too deep" }] }, /no text under output.*it has data\./],
    [{ output: null }, /no text under output/],
    [null, /nothing to send/],
  ])("%j contains no reply, and the warning says what to do", (said, words) => {
    const { replies, problem } = read(said);
    expect(replies).toEqual([]);
    expect(problem).toMatch(words);
  });

  test.each([
    ['{"output": "He said "hi" to me"}', "application/json; charset=utf-8"],
    ['{"output": "two\nlines"}', "text/html; charset=utf-8"],
    ['[{"output": "unfinished', "text/plain"],
    ["Hello", "application/problem+json"],
  ])("%j is invalid JSON and is not sent", (body, type) => {
    const { replies, problem } = read(Buffer.from(body), type);
    expect(replies).toEqual([]);
    expect(problem).toMatch(/not valid JSON, so nothing was sent.*JSON\.stringify/);
  });

  test("may begin with a bracket if it is plain text, and with a byte order mark", () => {
    for (const text of ["[Info] we are open", "{not json}", "[1, 2) is an interval"])
      expect(read(text, "text/plain").replies).toEqual([{ text }]);
    expect(read(Buffer.from('\uFEFF{"output": "a"}'), JSON_TYPE).replies).toEqual([{ text: "a" }]);
  });

  test.each([[[]], [{ output: "" }], [[{ text: "" }]]])("%j deliberately sends no reply", (said) => {
    expect(read(said)).toEqual({ replies: [] });
  });

  test("is sent unchanged if it is plain text, which n8n labels text/html", () => {
    for (const type of ["text/plain", "text/html; charset=utf-8"])
      expect(read("Hello, Ana", type).replies).toEqual([{ text: "Hello, Ana" }]);
    expect(read("<html><body>Oops</body></html>", "text/html").replies).toEqual([]);
    expect(read("", "text/plain").problem).toMatch(/returned an empty response/);
  });

  test("is a file if its content type is that of a file", () => {
    const bytes = Buffer.from("%PDF-1.7");
    const named = { "content-disposition": 'attachment; filename="price list.pdf"' };
    expect(read(bytes, "application/pdf", named).replies).toEqual([
      { file: { bytes, mime_type: "application/pdf", file_name: "price list.pdf" } },
    ]);
    expect(read(bytes, "image/png").replies).toEqual([{ file: { bytes, mime_type: "image/png" } }]);
  });

  test.each([
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "application/zip",
    "application/msword",
    "application/octet-stream",
  ])("is a file and not a text if its type is %s", (mime_type) => {
    const bytes = Buffer.from("PK\u0003\u0004 not words");
    expect(read(bytes, mime_type).replies).toEqual([{ file: { bytes, mime_type } }]);
  });

  test.each([
    ["application/vnd.api+json", '{"output": "a"}'],
    ["application/x-www-form-urlencoded", "a"],
    ["application/javascript", "a"],
    ["application/yaml", "a"],
    ["", '{"output": "a"}'],
  ])("is a text and not a file if its type is %j", (type, body) => {
    expect(read(Buffer.from(body), type).replies).toEqual([{ text: "a" }]);
  });

  test("can contain a file with its caption and a list of texts after it", () => {
    expect(read({ mediaUrl: "https://a.example/b.png", caption: "look" }).replies).toEqual([
      { media_url: "https://a.example/b.png", text: "look" },
    ]);
    expect(read({ media_url: "https://a.example/b.png", output: ["one", "two"] }).replies).toEqual([
      { media_url: "https://a.example/b.png", text: "one" },
      { text: "two" },
    ]);
  });

  test("is limited to 20 messages, 65,536 characters each and five levels", () => {
    expect(read(Array.from({ length: 500 }, (_, n) => `m${n}`)).replies).toHaveLength(20);
    expect(read({ output: "x".repeat(100_000) }).replies[0]?.text).toHaveLength(65_536);
    let nested: unknown = "deep";
    for (let level = 0; level < 50; level++) nested = { output: nested };
    expect(read(nested).replies).toEqual([]);
  });
});
