import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";
import { Readable } from "node:stream";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { growsLinearly } from "../../../../test/cpu-time.ts";
import { GatewayError } from "../../gateway-error.ts";
import { createLog } from "../../log/log.ts";
import { type Contract, route } from "../route.ts";
import { createHttpServer, type HttpServer } from "../server/http-server.ts";
import { parseFormBody } from "./add-body-parsers.ts";
import { readBase64File } from "./base64-file.ts";
import { FormBody } from "./form-body.ts";
import { findJsonSyntaxError } from "./json-syntax-error.ts";
import { parseJsonBody } from "./parse-json-body.ts";
import { type MultipartHeader, readMultipart } from "./read-multipart.ts";

function parse(text: string): unknown {
  return parseJsonBody(Buffer.from(text));
}

const fields = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`f${n}`, [n]]));

test("any JSON value is parsed unchanged", () => {
  fc.assert(
    fc.property(fc.jsonValue({ depthSize: "medium" }), (value) => {
      expect(parse(JSON.stringify(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

test("any bytes are either parsed as JSON or refused", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      try {
        parseJsonBody(Buffer.from(bytes));
      } catch (error) {
        expect(error).toBeInstanceOf(GatewayError);
      }
    }),
  );
});

test("an empty body is an empty object", () => {
  expect(parse("")).toEqual({});
});

test("brackets, commas and quotes inside texts are not counted", () => {
  const text = `${"[{,".repeat(300_000)}\\"`;
  expect(parse(JSON.stringify({ text }))).toEqual({ text });
});

test.each([
  ["65 levels", "[".repeat(65) + "]".repeat(65)],
  ["65 levels after an escaped quote", `["\\\\\\"", ${"[".repeat(64)}${"]".repeat(65)}`],
  ["half a million values", `[${"0,".repeat(500_000)}0]`],
  ["as many empty objects", `[${"{},".repeat(250_001)}0]`],
  ["an object of 1,001 fields", JSON.stringify([0, { a: fields(1_001) }])],
])("a body is refused before it is parsed: %s", (_what, text) => {
  expect(() => parse(text)).toThrow(/levels|values|fields/);
});

test("objects of 1,000 fields and longer lists are accepted", () => {
  const value = { a: fields(999), b: fields(1_000), c: Array(2_000).fill({}) };
  expect(parse(JSON.stringify([value, value]))).toEqual([value, value]);
});

test("a nesting of 64 levels is accepted", () => {
  expect(parse("[".repeat(64) + "]".repeat(64))).toBeDefined();
});

test.each([
  ['{"a":1,}', 1, 8],
  ['{"number":"5511","text":"Hi" "x":1}', 1, 30],
  ['{\n  "a": 1,\n  b: 2\n}', 3, 3],
  ["{'a':1}", 1, 2],
  ["[1,2", 1, 5],
  ['{"a":"x\ny"}', 1, 8],
  ['{"a":"\\x"}', 1, 8],
  ['{"a":"\\u12g4"}', 1, 8],
  ['{"a":undefined}', 1, 6],
  ['{"a":01}', 1, 7],
  ['{"a":1}}', 1, 8],
  ['{"a"}', 1, 5],
  ["", 1, 1],
  ["abc", 1, 1],
])("the syntax error of %j is at line %d, column %d", (text, line, column) => {
  expect(() => JSON.parse(text)).toThrow();
  expect(findJsonSyntaxError(text)).toEqual({ line, column });
});

test("valid JSON has no syntax error", () => {
  const values = [
    '{"a":[1,-2.5e+3,{"b":null}],"c":"\\u00e9\\n\\"","d":{},"e":[]}',
    " true ",
    '"x"',
    "0",
    "[[],{}]",
  ];
  expect(values.map((text) => JSON.parse(text) !== undefined && findJsonSyntaxError(text))).toEqual(
    values.map(() => undefined),
  );
});

const parseForm = (text: string) => parseFormBody(Buffer.from(text));

test("a form gives its fields decoded, also those with special names", () => {
  expect(parseForm("a=1&b=x+y%20z&c=%C3%A7&d=&e")).toEqual({ a: "1", b: "x y z", c: "ç", d: "", e: "" });
  const special = parseForm("__proto__=x&constructor=y");
  expect(Object.entries(special)).toEqual([
    ["__proto__", "x"],
    ["constructor", "y"],
  ]);
  expect(Object.getPrototypeOf(special)).toBe(Object.prototype);
});

test("a form with a repeated field is refused, also if it is encoded in another way", () => {
  expect(() => parseForm("a=1&a=2")).toThrow("the field a more than once");
  expect(() => parseForm("state=1&st%61te=2")).toThrow("the field state more than once");
});

test("a form with too many fields is refused before they are decoded", () => {
  expect(() => parseForm("&".repeat(60_000))).toThrow("more than 1000 fields");
  expect(parseForm(Array.from({ length: 1_000 }, (_, index) => `a${index}=`).join("&"))).toHaveProperty(
    "a999",
    "",
  );
});

const read = (input: string, maxBytes = 1_048_576) => {
  const { mime_type, pieces } = readBase64File("file", input, maxBytes);
  return { mime_type, text: Buffer.concat([...pieces]).toString("utf8") };
};

describe("a file in base64", () => {
  test.each([
    ["ZG90", { mime_type: undefined, text: "dot" }],
    ["ZG90IQ==", { mime_type: undefined, text: "dot!" }],
    ["ZG\n90\r\n IQ", { mime_type: undefined, text: "dot!" }],
    ["data:image/png;base64,ZG90", { mime_type: "image/png", text: "dot" }],
    ["data:audio/ogg;codecs=opus;base64,ZG90", { mime_type: "audio/ogg", text: "dot" }],
    ["data:;base64,ZG90", { mime_type: "", text: "dot" }],
    ["", { mime_type: undefined, text: "" }],
  ])("%j is read", (input, expected) => expect(read(input)).toEqual(expected));

  const PLUS = Buffer.from(Array.from({ length: 400 }, (_, n) => (n * n * 31 + n * 7) % 256));
  const bytesOf = (input: string) => Buffer.concat([...readBase64File("file", input, 1_048_576).pieces]);
  const wrapped = (bytes: Buffer, width: number, by: string) =>
    (bytes.toString("base64").match(new RegExp(`.{1,${width}}`, "g")) ?? []).join(by);
  const ONE_PLUS = Buffer.from("%PDF-1.4\n\xf8 the end", "latin1");
  const NO_PLUS = Buffer.from("%PDF-1.7 of many lines\n".repeat(20));
  const inForm = (text: string) => text.replaceAll("+", " ");

  test.each<[string, string, Buffer]>([
    ["plus signs that became blanks, proved by the padding", "AA A", Buffer.from([0, 15, 128])],
    ["a plus sign at the end that became a blank", "AAA ", Buffer.from("AAA+", "base64")],
    ["a plus sign at the start that became a blank, with padding", " AA=", Buffer.from("+AA=", "base64")],
    ["the plus signs of a whole file", inForm(ONE_PLUS.toString("base64")), ONE_PLUS],
    ["lines of 76 with plus signs that became blanks", inForm(wrapped(PLUS, 76, "\r\n")), PLUS],
    [
      "lines that end with a plus sign",
      inForm("AAAAAAA+\nAAAAAAA+\nAAA="),
      Buffer.from("AAAAAAA+AAAAAAA+AAA=", "base64"),
    ],
    [
      "lines that begin with a plus sign",
      inForm("+AAAAAAA\n+AAAAAAA\nAAA="),
      Buffer.from("+AAAAAAA+AAAAAAAAAA=", "base64"),
    ],
    ["a blank after the comma of a data URI", "data:text/plain;base64, ZG90", Buffer.from("dot")],
    ["lines of 76", wrapped(NO_PLUS, 76, "\n"), NO_PLUS],
    ["lines of 64 that a shell joined by blanks", wrapped(NO_PLUS, 64, " "), NO_PLUS],
    ["lines of 12 with indentation", `\n    ${wrapped(NO_PLUS, 12, "\n    ")}\n`, NO_PLUS],
    ["groups of four", wrapped(NO_PLUS, 4, " "), NO_PLUS],
    ["blanks beside plus signs that are still there", wrapped(PLUS, 76, " "), PLUS],
    ["blanks in the alphabet of addresses", "-_-_ -_ -_", Buffer.from("-_-_-_-_", "base64")],
    ["a blank inside the padding", "ZG90IQ= =", Buffer.from("dot!")],
    ["blanks around the text", "  ZG90\t\n", Buffer.from("dot")],
    ["plus signs in percent encoding", "%2B%2f%2BA", Buffer.from("+/+A", "base64")],
    ["padding in percent encoding", "data:text/plain;base64,ZG90IQ%3D%3D", Buffer.from("dot!")],
    ["DATA:;BASE64", "DATA:text/plain;charset=utf-8; BASE64,ZG90", Buffer.from("dot")],
  ])("with %s is read as it was", (_, input, bytes) => {
    expect(bytesOf(input).equals(bytes)).toBe(true);
  });

  test("is never cut, whatever its length, if its plus signs became blanks", () => {
    let restored = 0;
    for (let length = 1; length <= 300; length++) {
      const bytes = Buffer.from(Array.from({ length }, (_, n) => (n * 7919 + length * 31) % 256));
      const text = bytes.toString("base64");
      try {
        expect(bytesOf(inForm(text)).equals(bytes)).toBe(true);
        restored += 1;
      } catch (error) {
        expect(error).toMatchObject({ code: "VALIDATION_ERROR", message: expect.stringContaining("%2B") });
      }
    }
    expect(restored).toBeGreaterThan(200);
  });

  test.each([
    ["a*b", "is not base64"],
    ["data:image/png,dot", "is a data URI without base64"],
    ["data:image/png;base64", "is not base64"],
    ["ZG90I", "is not whole"],
    ["ZG90I=", "is not whole"],
    ["ZG90===", "is not base64"],
    ["=ZG90", "is not base64"],
    ["ZG=90", "is not base64"],
    ["ZG90IQ=", "is not whole"],
    ["A AAA AA A A", "has blanks where plus signs may have been"],
    ["AAAAA A", "has blanks where plus signs may have been"],
    ["%ZG90", "is not base64"],
    ["\u{1d5ad}G90", "is not base64"],
  ])("%j is refused, with the reason", (input, reason) => {
    expect(() => read(input)).toThrow(
      expect.objectContaining({ code: "VALIDATION_ERROR", message: expect.stringContaining(reason) }),
    );
  });

  test("that is larger than allowed is refused", () => {
    expect(() => read("ZG90", 2)).toThrow(expect.objectContaining({ code: "PAYLOAD_TOO_LARGE" }));
  });

  test.each(["a", ";", "data:", "=", " ", "data:a;", "a=", "a ", "aaaa ", "a \n", "%2B"])(
    "is checked in a time that grows with its length where it is full of %j",
    async (unit) => {
      const isLinear = await growsLinearly(1_000_000, (size) =>
        expect(() => read(`data:${unit.repeat(size / unit.length)}*`)).toThrow(),
      );
      expect(isLinear).toBe(true);
    },
  );
});

const TYPE = "multipart/form-data; boundary=XX";

/** The parts of a body that arrives in pieces of `size` bytes. */
async function readParts(body: Buffer | string, size = 1_000_000, type = TYPE) {
  const bytes = Buffer.from(body);
  const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) =>
    bytes.subarray(n * size, (n + 1) * size),
  );
  const parts: { head: MultipartHeader; content: Buffer }[] = [];
  for await (const one of readMultipart(Readable.from(pieces), type)) {
    if ("part" in one) parts.push({ head: one.part, content: Buffer.alloc(0) });
    else {
      const last = parts.at(-1);
      if (last) last.content = Buffer.concat([last.content, one.piece]);
    }
  }
  return parts;
}

test("the texts and the file name of a form are read in their charset", async () => {
  const body = Buffer.concat([
    part('content-disposition: form-data; name="caption"', Buffer.from("Ol\xe1", "latin1")),
    part(
      'content-disposition: form-data; name="title"\r\ncontent-type: text/plain; charset=windows-1251',
      Buffer.from("\xcf\xf0\xe8", "latin1"),
    ),
    part(named("text"), "Olá"),
    part(Buffer.from(`${named("file")}; filename="Número.pdf"`, "latin1"), "x"),
    Buffer.from("--XX--"),
  ]);
  const form = new FormBody(Readable.from([body]), TYPE);
  expect(await form.read({ upload: "file", limitBytes: 1_000 })).toEqual({
    caption: "Olá",
    title: "При",
    text: "Olá",
    file: { bytes: Buffer.from("x"), file_name: "Número.pdf", mime_type: undefined },
  });
});

const part = (head: string | Buffer, content: string | Buffer) =>
  Buffer.concat([
    Buffer.from("--XX\r\n"),
    Buffer.from(head),
    Buffer.from("\r\n\r\n"),
    Buffer.from(content),
    Buffer.from("\r\n"),
  ]);
const named = (name: string) => `content-disposition: form-data; name="${name}"`;
const end = Buffer.from("--XX--\r\n");

describe("a form", () => {
  const file = Buffer.concat([randomBytes(300), Buffer.from("\r\n--X\r\n--XXX\r\r\n-"), randomBytes(300)]);
  const body = Buffer.concat([
    Buffer.from("preamble, which is nobody's\r\n"),
    part(named("a"), "1"),
    part(named("empty"), ""),
    part(`${named("b")}; filename="x.png"\r\ncontent-type: image/png`, "\r\n\r\n"),
    part(named("last"), file.subarray(0, 280)),
    end,
    Buffer.from("epilogue"),
  ]);

  test.each([1, 2, 3, 7, 64, 1_000_000])("has the same parts in pieces of %i bytes", async (size) => {
    expect(await readParts(body, size)).toEqual([
      { head: { name: "a" }, content: Buffer.from("1") },
      { head: { name: "empty" }, content: Buffer.alloc(0) },
      { head: { name: "b", file_name: "x.png", mime_type: "image/png" }, content: Buffer.from("\r\n\r\n") },
      { head: { name: "last" }, content: file.subarray(0, 280) },
    ]);
  });

  test("may contain text that looks like its boundary", async () => {
    const tricky = Buffer.from("\r\n--X\r\n-XX--\r--XX\r\n--");
    for (const size of [1, 5, 1000]) {
      const [only] = await readParts(Buffer.concat([part(named("f"), tricky), end]), size);
      expect(only?.content).toEqual(tricky);
    }
  });

  test.each([
    ['form-data; name="a"; filename="a \\"b\\".txt"', 'a "b".txt'],
    ['form-data; name="a"; filename="a %22b%22%0A.txt"', 'a "b"\n.txt'],
    ['form-data; filename="ü.txt"; name="a"', "ü.txt"],
    ["form-data; name=a; filename=plain.txt", "plain.txt"],
    ['form-data; name="a"; filename=""', ""],
    ['form-data; name="a"', undefined],
  ])("names its file as %s", async (disposition, file_name) => {
    const [only] = await readParts(Buffer.concat([part(`Content-Disposition: ${disposition}`, "x"), end]));
    expect([only?.head.name, only?.head.file_name]).toEqual(["a", file_name]);
  });

  test.each([
    ["cut off in its content", Buffer.concat([part(named("a"), "x")])],
    ["cut off in a head", "--XX\r\ncontent-dispo"],
    ["empty", ""],
    ["of another boundary", "--YY\r\n\r\n--YY--"],
    ["without a name", Buffer.concat([part("content-disposition: form-data", "x"), end])],
    ["without a disposition", Buffer.concat([part("content-type: text/plain", "x"), end])],
    ["with a head that has no end", `--XX\r\n${"x".repeat(20_000)}`],
    ["with a torn boundary", "--XXoops\r\n\r\n"],
    ["with a head that ends in a boundary", `--XX\r\n${named("a")}\r\n--XX--\r\n`],
    ["with a part without a head", Buffer.concat([Buffer.from("--XX\r\n"), part(named("a"), "x"), end])],
    [
      "with a bare line break in a head",
      Buffer.concat([part('content-disposition: form-data; name="a\nb"', "x"), end]),
    ],
    [
      "with too many headers before the name",
      Buffer.concat([part(`${"x: y\r\n".repeat(5_000)}${named("a")}`, "x"), end]),
    ],
    ["with a head of 100 KB", Buffer.concat([part(`x: ${"y".repeat(100_000)}\r\n${named("a")}`, "x"), end])],
    ["with a header named __proto__", Buffer.concat([part(`__proto__: x\r\nconstructor: x`, "x"), end])],
  ])("%s is refused", async (_, broken) => {
    await expect(readParts(broken)).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
    await expect(readParts(broken, 3)).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  });

  test.each([1_000, 16_384, 65_536, 1_000_000])(
    "ends after a large file in pieces of %i bytes",
    async (size) => {
      const file = randomBytes(700_000);
      const form = Buffer.concat([
        part(`${named("f")}; filename="f"`, file),
        end,
        Buffer.alloc(100_000, "epilogue"),
      ]);
      const [only] = await readParts(form, size);
      expect(only?.content.equals(file)).toBe(true);
    },
  );

  test("is parsed at its reader's pace: each chunk is read after the previous one is consumed", async () => {
    let chunks = 0;
    async function* body() {
      yield Buffer.from(`--XX\r\n${named("f")}; filename="f"\r\n\r\n`);
      for (chunks = 1; chunks < 100; chunks++) yield Buffer.alloc(64 * 1024, "\r\n--X");
    }
    const form = readMultipart(body(), TYPE);
    for (let nth = 0; nth < 5; nth++) await form.next();
    expect(chunks).toBeLessThan(6);
    await form.return(undefined);
  });

  test("without a boundary in its type is refused, and one in quotes is accepted", async () => {
    await expect(readParts(end, 10, "multipart/form-data")).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
    });
    expect(await readParts(end, 10, 'multipart/form-data; charset=utf-8; boundary="XX"')).toEqual([]);
  });
});

const KIB = 1024;
const contract = {
  keep: route({
    http: "POST /keep",
    access: "account",
    tag: "Bodies",
    summary: "Keep a body in memory until it is let go",
    input: z.object({ name: z.string(), text: z.string() }),
    output: z.object({ bytes: z.number() }),
  }),
  fetch: route({
    http: "POST /fetch",
    access: "account",
    tag: "Bodies",
    summary: "Keep as many bytes in memory as asked until it is let go",
    input: z.object({ name: z.string(), bytes: z.number() }),
    output: z.null(),
  }),
  look: route({
    http: "GET /look",
    access: "account",
    tag: "Bodies",
    summary: "Look at nothing",
    input: z.object({}),
    output: z.null(),
  }),
} satisfies Contract;

let server: HttpServer;
let url: string;
const statuses: number[] = [];
/** Releases the kept bodies by name. */
const kept = new Map<string, () => void>();
/** Authenticates the caller. */
let lookUp = async () => {};

beforeAll(async () => {
  server = await createHttpServer({
    contract,
    handlers: {
      keep: async ({ input: { name, text } }) => {
        if (name !== "") await new Promise<void>((letGo) => kept.set(name, letGo));
        kept.delete(name);
        return { bytes: text.length };
      },
      fetch: async ({ input: { name, bytes }, reserveMemory }) => {
        reserveMemory(bytes);
        await new Promise<void>((letGo) => kept.set(name, letGo));
        kept.delete(name);
        return null;
      },
      look: async () => null,
    },
    authorise: async (_route, { credential }) => {
      await lookUp();
      if (!credential) throw new GatewayError("AUTH_REQUIRED", "Send an API key.");
      return { kind: "user", account_id: 1, user_id: 1, role: "admin", session: "s" } as never;
    },
    log: createLog("silent"),
    strictOutput: true,
    bodyLimitBytes: 1024 * KIB,
    maxBodyBytes: 300 * KIB,
    onResponse: ({ status }) => void statuses.push(status),
  });
  ({ url } = await server.listen("127.0.0.1", 0));
});
afterAll(() => server.close());

const HEADERS = { "content-type": "application/json", "x-api-key": "k" };

function send(name: string, kib: number, { isChunked = false, signal }: SendOptions = {}): Promise<Response> {
  const text = JSON.stringify({ name, text: "x".repeat(kib * KIB) });
  const body = isChunked ? new Blob([text]).stream() : text;
  const init = { method: "POST", headers: HEADERS, body, duplex: "half", ...(signal && { signal }) };
  return fetch(`${url}/keep`, init as RequestInit);
}

interface SendOptions {
  isChunked?: boolean;
  signal?: AbortSignal;
}

const letGo = (name: string) => kept.get(name)?.();
const isKept = (name: string) => expect.poll(() => kept.has(name)).toBe(true);

test("large bodies are refused while others use up the memory budget, and accepted afterwards", async () => {
  const first = send("first", 200);
  await isKept("first");
  for (const isChunked of [false, true]) {
    const refused = await send("", 150, { isChunked });
    expect(refused.status).toBe(503);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await refused.json()).toMatchObject({ code: "UNAVAILABLE" });
    expect((await send("", 90, { isChunked })).status).toBe(200);
    expect((await send("", 10, { isChunked })).status).toBe(200);
  }
  letGo("first");
  expect((await first).status).toBe(200);
  for (const isChunked of [false, true]) expect((await send("", 150, { isChunked })).status).toBe(200);
});

test("a single body is accepted at any size that its route allows", async () => {
  for (const isChunked of [false, true]) {
    expect((await send("", 900, { isChunked })).status).toBe(200);
    expect((await send("", 1100, { isChunked })).status).toBe(413);
  }
});

test("a body holds its memory until its work is over, even when its sender has disconnected", async () => {
  const leave = new AbortController();
  const gone = send("left", 200, { signal: leave.signal }).catch(() => "gone");
  await isKept("left");
  leave.abort();
  expect(await gone).toBe("gone");
  await expect.poll(() => statuses).toContain(499);
  expect((await send("", 150)).status).toBe(503);
  letGo("left");
  await expect.poll(async () => (await send("", 150)).status).toBe(200);
});

test("a file that a handler reads into memory counts in the budget until the handler is done", async () => {
  const load = (name: string, kib: number) =>
    fetch(`${url}/fetch`, {
      method: "POST",
      headers: HEADERS,
      body: JSON.stringify({ name, bytes: kib * KIB }),
    });
  const first = load("fetched", 200);
  await isKept("fetched");
  const refused = await load("too much", 150);
  expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([503, "UNAVAILABLE"]);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect((await send("", 150)).status).toBe(503);
  letGo("fetched");
  expect((await first).status).toBe(200);
  const next = load("next", 150);
  await isKept("next");
  letGo("next");
  expect((await next).status).toBe(200);
});

test("an incomplete body releases its memory, and unauthenticated clients reserve none", async () => {
  const stranger = await announce("");
  expect((await send("", 150)).status).toBe(200);
  const torn = await announce("x-api-key: k\r\n");
  expect((await send("", 150)).status).toBe(503);
  torn.destroy();
  await expect.poll(async () => (await send("", 150)).status).toBe(200);
  stranger.destroy();
});

test("an unread body does not delay the next request of its connection", async () => {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let received = "";
  socket.on("data", (piece) => {
    received += piece;
  });
  const head = "HTTP/1.1\r\nhost: gateway\r\nx-api-key: k\r\n";
  const bytes = 500 * KIB;
  socket.write(`GET /look ${head}content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`);
  socket.write(`${bytes.toString(16)}\r\n${"x".repeat(bytes)}\r\n0\r\n\r\n`);
  socket.write(`GET /look ${head}\r\n`);
  await expect.poll(() => received).toMatch(/^HTTP\/1\.1 200 [\s\S]*HTTP\/1\.1 200 /);
  socket.destroy();
});

test("a body whose sender disconnects during the credential check reserves no memory", async () => {
  let know = () => {};
  let isAsked = false;
  lookUp = () => {
    isAsked = true;
    return new Promise((known) => {
      know = known;
    });
  };
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write("POST /keep HTTP/1.1\r\nhost: gateway\r\nx-api-key: k\r\n");
  socket.write("content-type: application/json\r\ncontent-length: 204800\r\n\r\n");
  await expect.poll(() => isAsked).toBe(true);
  const before = statuses.length;
  socket.destroy();
  await expect.poll(() => statuses.length).toBeGreaterThan(before);
  lookUp = async () => {};
  know();
  expect((await send("", 150)).status).toBe(200);
});

/** An accepted request whose body never arrives. */
async function announce(credential: string) {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const about = "content-type: application/json\r\ncontent-length: 204800\r\nexpect: 100-continue\r\n";
  socket.write(`POST /keep HTTP/1.1\r\nhost: gateway\r\n${credential}${about}\r\n`);
  await once(socket, "data");
  return socket;
}
