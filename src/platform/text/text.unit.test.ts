import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { describe, expect, it, test, vi } from "vitest";
import { growsLinearly } from "../../../test/cpu-time.ts";
import { GatewayError } from "../gateway-error.ts";
import { countryCode } from "./bounded-text.ts";
import { cleanFromNetwork, cleanJson, cleanText } from "./clean-text.ts";
import { type CsvFormat, type CsvRecord, readCsvTable } from "./csv-table.ts";
import { compileLinearPattern } from "./linear-pattern.ts";
import { toCsvLine, unmarkFormulas } from "./to-csv-line.ts";

async function read(bytes: Uint8Array, format?: CsvFormat) {
  const { columns, delimiter, encoding, records } = await readCsvTable(bytes, format);
  const found: CsvRecord[] = [];
  for await (const record of records()) found.push(record);
  return { columns, delimiter, encoding, records: found };
}

const cellsOf = async (text: string) =>
  (await read(new TextEncoder().encode(text))).records.map(({ cells, problem }) => cells ?? problem);

test("the separator and the encoding of a CSV file are detected", async () => {
  expect(await read(new TextEncoder().encode("\uFEFFphone;name\n1;Zoë\n"))).toEqual({
    columns: ["phone", "name"],
    delimiter: ";",
    encoding: "utf-8",
    records: [{ line: 2, text: "1;Zoë", cells: ["1", "Zoë"] }],
  });
  expect(await read(Buffer.from("phone\tname\n1\tZo\xeb\n", "latin1"))).toMatchObject({
    delimiter: "\t",
    encoding: "windows-1252",
    records: [{ cells: ["1", "Zoë"] }],
  });
  expect(await read(Buffer.from("\uFEFFphone,name\r\n1,Zoë\r\n", "utf16le"))).toMatchObject({
    columns: ["phone", "name"],
    encoding: "utf-16le",
    records: [{ line: 2, cells: ["1", "Zoë"] }],
  });
});

test("a separator that the reader of a CSV file names wins over the detected one", async () => {
  const bytes = new TextEncoder().encode('phone;a,b\n1;"x, y"\n');
  expect((await read(bytes, { delimiter: "," })).columns).toEqual(["phone;a", "b"]);
});

test("a CSV file with too many columns in its first line is refused, and one with as many as allowed is read", async () => {
  expect((await cellsOf(`a${",".repeat(127)}\nb${",".repeat(127)}`))[0]).toHaveLength(128);
  for (const head of [`a${",".repeat(128)}`, `a,${"b".repeat(65_536)}`, `a${",".repeat(4_000_000)}`])
    await expect(cellsOf(`${head}\n1`)).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
      message: expect.stringContaining("file: the first line has more than 128 columns or 65536 characters"),
    });
});

test("a record that cannot be read is reported with its reason, and the others are read", async () => {
  const records = [
    "1,a",
    `2${",".repeat(4_000_000)}`,
    `"3"${",".repeat(60_000)}x`,
    `4,${"x".repeat(4_000_000)}`,
    '5,"a"b',
    '6,a"b"',
    '7,"a" ',
    ...['8,"two', 'lines, and ""quotes"""'],
    ...[`9,"${"x".repeat(40_000)}`, `${"y".repeat(40_000)}"`],
    '10,"never closed',
    "11",
  ];
  expect(await cellsOf(`id,name\r\n${records.join("\r\n")}\r\n\r\n`)).toEqual([
    ["1", "a"],
    "length",
    "cells",
    "length",
    "quotes",
    "quotes",
    "quotes",
    ["8", 'two\nlines, and "quotes"'],
    "length",
    "quotes",
    ["11"],
  ]);
});

test("the records of a CSV file are the same wherever its pieces end", async () => {
  for (const end of ["\n", "\r", "\r\n"]) {
    const rows = Array.from({ length: 9_000 }, (_, at) => `${at},é"`.replace("é", "é".repeat(at % 9)));
    const found = await read(Buffer.from(`id,name${end}${rows.join(end).replaceAll('"', "")}${end}`));
    expect(found.records.map(({ line, text }) => `${line} ${text}`)).toEqual(
      rows.map((row, at) => `${at + 2} ${row.replace('"', "")}`),
    );
  }
});

test.each([
  ["empty lines", "\n"],
  ["short records", "1,2\n"],
  ["records of many cells", `1${",".repeat(30)}\n`],
  ["quotes that never close", `"\n${'a""b\n'.repeat(25)}`],
  ["lines of one quote", '"\n'],
  ["no line end", "x"],
  ["quotes without an end", '""'],
])(
  "the time to read a CSV file grows with its size, and each piece of it lets others work: %s",
  async (_what, unit) => {
    const head = Array.from({ length: 128 }, (_, at) => `c${at}`).join(",");
    const readAll = async (size: number) => {
      const { records } = await readCsvTable(Buffer.from(`${head}\n${unit.repeat(size / unit.length)}`));
      for await (const _ of records());
    };
    expect(await growsLinearly(400_000, readAll)).toBe(true);
    let turns = 0;
    let isOver = false;
    const work = () => {
      turns += 1;
      if (!isOver) setImmediate(work);
    };
    let now = 0;
    const clock = vi.spyOn(performance, "now").mockImplementation(() => {
      now += 11;
      return now;
    });
    work();
    await readAll(400_000);
    isOver = true;
    clock.mockRestore();
    expect(turns).toBeGreaterThan(400_000 / 65_536);
  },
);

const cell = fc.string({ unit: fc.constantFrom(..."ab1'\"=+-@;,|\t ＝\u00a0"), maxLength: 12 });
const FORMULA_CELL = /^[\s\p{Cc}"]*[=+\-@＝＋－＠]/u;

test("a written CSV cell begins no formula, at whichever sign a spreadsheet splits, and is read back unchanged", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(cell, { minLength: 2, maxLength: 4 }), async (cells) => {
      const line = toCsvLine(cells);
      const parts = line.split(/[,;|\t\n]/).filter((part) => !/^["\s]*[+-]\d+"*$/.test(part));
      expect(parts.filter((part) => FORMULA_CELL.test(part))).toEqual([]);
      const [read] = await cellsOf(`a,b,c,d\n${line}`);
      const isEmpty = cells.every((text) => /^[\s,;|"]*$/.test(text));
      expect(isEmpty ? cells : read).toEqual(cells);
      expect((parse(line)[0] as string[]).map(unmarkFormulas)).toEqual(cells);
    }),
  );
});

const LONE = /\p{Surrogate}/u;
/** Texts of any UTF-16 units, including lone surrogates and U+0000. */
const anyText = fc
  .array(
    fc.oneof(fc.integer({ min: 0, max: 0xffff }), fc.integer({ min: 0xd800, max: 0xdfff }), fc.constant(0)),
  )
  .map((units) => String.fromCharCode(...units));

describe("names from the network", () => {
  const NAMES = [
    ["invoice \u202efdp.exe", "invoice fdp.exe"],
    ["\u2067שלום\u2069 2.0", "שלום 2.0"],
    ["Line\r\nbreak\u0007", "Line break"],
    ["می\u200cخواهم", "می\u200cخواهم"],
    ["👩\u200d🚀 🏴\u{e0067}\u{e0062}\u{e007f}", "👩\u200d🚀 🏴\u{e0067}\u{e0062}\u{e007f}"],
  ];
  test.each(NAMES)("reorder and hide nothing: %j", (name, shown) => {
    const file_name = cleanFromNetwork({ content: [{ file_name: name, text: name }] });
    expect(file_name).toEqual({ content: [{ file_name: shown, text: cleanText(name) }] });
  });

  test("that are invisible count as no text", () => {
    const nobody = { push_name: "\u200e", verified_name: " \u3164\u2800", name: "\u200e" };
    expect(cleanFromNetwork(nobody)).toEqual({ push_name: null, verified_name: null, name: "\u200e" });
  });
});

describe("cleanText", () => {
  it("removes U+0000 and replaces lone surrogates, and nothing else", () => {
    expect(cleanText("a\0b")).toBe("ab");
    expect(cleanText("a\uD83Db")).toBe("a\uFFFDb");
    expect(cleanText("a\uDE00b")).toBe("a\uFFFDb");
    expect(cleanText("\uDE00\uD83D")).toBe("\uFFFD\uFFFD");
    expect(cleanText("😀 olá \u0001\t\n\u200D\uFFFF")).toBe("😀 olá \u0001\t\n\u200D\uFFFF");
  });

  it("joins a pair that U+0000 split, and never leaves half of one", () => {
    expect(cleanText("\uD83D\0\uDE00")).toBe("😀");
  });

  it("returns text that PostgreSQL accepts for any input, and is stable", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const clean = cleanText(text);
        expect(clean).not.toContain("\0");
        expect(LONE.test(clean)).toBe(false);
        expect(cleanText(clean)).toBe(clean);
        expect(Buffer.from(clean, "utf8").toString("utf8")).toBe(clean);
      }),
      { numRuns: 2000 },
    );
  });

  it("does not change well-formed text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        expect(cleanText(text)).toBe(text.replaceAll("\0", ""));
      }),
    );
  });
});

describe("cleanJson", () => {
  it("cleans values and keys at every level", () => {
    expect(cleanJson({ "a\0": ["b\0", { "\uD800": "\uDFFF" }], n: 1, b: true, z: null })).toEqual({
      a: ["b", { "\uFFFD": "\uFFFD" }],
      n: 1,
      b: true,
      z: null,
    });
  });

  it("keeps the key __proto__ as data and changes no prototype", () => {
    const dirty: unknown = JSON.parse(
      '{"__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}},"x":"\\u0000"}',
    );
    const clean = cleanJson(dirty) as Record<string, unknown>;
    expect(Object.getPrototypeOf(clean)).toBe(Object.prototype);
    expect(Object.keys(clean)).toEqual(["__proto__", "constructor", "x"]);
    expect(clean.admin).toBeUndefined();
    expect(Reflect.get({}, "admin")).toBeUndefined();
  });

  it("makes any JSON storable without changing the valid parts", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3, stringUnit: "binary" }), (value) => {
        const before = JSON.stringify(value);
        const after = JSON.stringify(cleanJson(value));
        expect(after).not.toMatch(/\\u0000|\\ud[89a-f]/i);
        if (!/\\u0000|\\ud[89a-f]/i.test(before)) {
          expect(after).toBe(before);
        }
      }),
      { numRuns: 200 },
    );
  });

  it("cleans random objects with invalid keys", () => {
    fc.assert(
      fc.property(fc.dictionary(anyText, anyText), (value) => {
        for (const [key, text] of Object.entries(cleanJson(value))) {
          expect(key + text).not.toContain("\0");
          expect(LONE.test(key) || LONE.test(text)).toBe(false);
        }
      }),
    );
  });

  it("does not change dates, buffers and its input", () => {
    const input = { at: new Date(0), bytes: Buffer.from("x"), text: "a\0" };
    const clean = cleanJson(input);
    expect(clean.at).toBe(input.at);
    expect(clean.bytes).toBe(input.bytes);
    expect(input.text).toBe("a\0");
  });

  it("refuses a value nested beyond 100 levels, however deep, as a bad request", () => {
    const nested = (depth: number): unknown => JSON.parse("[".repeat(depth) + "]".repeat(depth));
    expect(cleanJson(nested(100))).toEqual(nested(100));
    for (const depth of [101, 20_000]) {
      expect(() => cleanJson(nested(depth))).toThrow(GatewayError);
    }
  });
});

const matches = (expression: string, text: string) => {
  const pattern = compileLinearPattern(expression);
  if ("refused" in pattern) throw new Error(pattern.refused);
  return pattern.test(text);
};

describe("a regular expression of a client", () => {
  test.each([
    ["^\\d+$", "123", true],
    ["^ol[aá]$", "OLÁ", true],
    ["\\p{L}+ \\/start", "é /start", true],
    ["(?<word>hi|oi)", "oi", true],
    ["(?<=a)b", "ab", true],
    ["\\u{1F600}", "😀", true],
    ["^a", "ba", false],
  ])("tests %j on %j: %j", (expression, text, expected) => expect(matches(expression, text)).toBe(expected));

  test.each([
    ["(", "missing closing"],
    ["(?=a)b", "(?="],
    ["a(?!b)", "(?!"],
    ["(a)\\1", "\\1"],
    ["((a{100}){100}){100}", "repeat"],
    ["a{1,1000}b{1,1000}", "too large"],
  ])("is refused with a reason: %j", (expression, reason) => {
    expect(compileLinearPattern(expression)).toEqual({ refused: expect.stringContaining(reason) });
  });

  test.each([
    "^(a+)+$",
    "(a|a)*$",
    "(.*)*$",
    "(a|b|ab)*bc",
    `${"(x?)".repeat(80)}${"x".repeat(80)}`,
    "\\p{L}{500}!",
  ])("takes a time that grows with the text: %j", async (expression) => {
    for (const unit of ["a", "x", "ab", "é"]) {
      const text = (size: number) => `${unit.repeat(size / unit.length)}!`;
      expect(await growsLinearly(2_000, (size) => matches(expression, text(size)))).toBe(true);
    }
  });
});

test.each([
  ["br", "BR"],
  ["GB", "GB"],
  ["UK", undefined],
  ["ZZ", undefined],
  ["EU", undefined],
  ["DD", undefined],
  ["XX", undefined],
  ["BRA", undefined],
])("the code %j names the country %s", (code, country) => {
  expect(countryCode().safeParse(code).data).toBe(country);
});
