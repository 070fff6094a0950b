import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { type MultipartHeader, readMultipart } from "./read-multipart.ts";

const TYPE = "multipart/form-data; boundary=XX";

/** The parts of a body that arrives in pieces of that size. */
async function parse(body: Buffer | string, size = 1_000_000, type = TYPE) {
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

const part = (head: string, content: string | Buffer) =>
  Buffer.concat([Buffer.from(`--XX\r\n${head}\r\n\r\n`), Buffer.from(content), Buffer.from("\r\n")]);
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
    expect(await parse(body, size)).toEqual([
      { head: { name: "a" }, content: Buffer.from("1") },
      { head: { name: "empty" }, content: Buffer.alloc(0) },
      { head: { name: "b", file_name: "x.png", mime_type: "image/png" }, content: Buffer.from("\r\n\r\n") },
      { head: { name: "last" }, content: file.subarray(0, 280) },
    ]);
  });

  test("may contain text that looks like its boundary", async () => {
    const tricky = Buffer.from("\r\n--X\r\n-XX--\r--XX\r\n--");
    for (const size of [1, 5, 1000]) {
      const [only] = await parse(Buffer.concat([part(named("f"), tricky), end]), size);
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
    const [only] = await parse(Buffer.concat([part(`Content-Disposition: ${disposition}`, "x"), end]));
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
    await expect(parse(broken)).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
    await expect(parse(broken, 3)).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
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
      const [only] = await parse(form, size);
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
    await expect(parse(end, 10, "multipart/form-data")).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
    expect(await parse(end, 10, 'multipart/form-data; charset=utf-8; boundary="XX"')).toEqual([]);
  });

  test.each([16, 64, 256, 1024])("ends with a piece of %i KiB of a large file", async (kibibytes) => {
    const large = Buffer.alloc(700_000, "0123456789\n");
    const [only] = await parse(Buffer.concat([part(named("f"), large), end]), kibibytes * 1024);
    expect(only?.content.equals(large)).toBe(true);
  });
});
