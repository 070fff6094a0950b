import { describe, expect, test, vi } from "vitest";
import { growsLinearly } from "../../../test/cpu-time.ts";
import { readVcard } from "./read-vcard.ts";

const card = (...lines: string[]) => ["BEGIN:VCARD", "VERSION:3.0", ...lines, "END:VCARD"].join("\r\n");

describe("a vCard is parsed", () => {
  test.each<[string, string, object]>([
    [
      "with a WhatsApp number",
      card("FN:Ana", "TEL;type=CELL;waid=5511988887777:+55 11 98888-7777"),
      {
        name: "Ana",
        phones: [{ number: "+55 11 98888-7777", waid: "5511988887777" }],
      },
    ],
    [
      "with groups and lower case",
      card("item1.fn:Ana", "item2.tel;waid=551188887777:+55 11 8888"),
      {
        name: "Ana",
        phones: [{ number: "+55 11 8888", waid: "551188887777" }],
      },
    ],
    ["with several phones", card("FN:Ana", "TEL:1", "TEL:2"), { phones: [{ number: "1" }, { number: "2" }] }],
    [
      "of version 4",
      card("FN:Ana", 'TEL;VALUE=uri;TYPE="voice:work":tel:+5511'),
      { phones: [{ number: "+5511" }] },
    ],
    [
      "with a folded line",
      card("FN:An", " a", "TEL:+55", "\t11"),
      { name: "Ana", phones: [{ number: "+5511" }] },
    ],
    [
      "with a structured name alone",
      card("N:Silva\\;e Lima;Ana;Maria;Dr.;"),
      { name: "Dr. Ana Maria Silva;e Lima" },
    ],
    ["with a company alone", card("N:;;;;", "ORG:Padaria\\, Lda;Vendas"), { name: "Padaria, Lda Vendas" }],
    ["with both names", card("N:Silva;Ana;;;", "FN:Aninha", "ORG:Padaria"), { name: "Aninha" }],
    ["with escapes", card("FN:Ana\\, the\\nsecond"), { name: "Ana, the second" }],
    [
      "with line breaks of all kinds",
      "BEGIN:VCARD\rFN:Ana\nTEL:1\r\nEND:VCARD",
      { name: "Ana", begins: true, ends: true },
    ],
    [
      "up to its end",
      `${card("FN:Ana")}\r\n${card("FN:Eve", "TEL:1")}`,
      { name: "Ana", phones: [], ends: true },
    ],
    [
      "without a beginning",
      "FN:Ana\nTEL:1",
      { name: "Ana", phones: [{ number: "1" }], begins: false, ends: false },
    ],
    [
      "with lines that are none",
      card("", ":", ";", "TEL", "FN", "TEL;", "a.b.c", '"', "FN:Ana"),
      { name: "Ana", phones: [] },
    ],
    [
      "with quotes that do not close",
      card('TEL;TYPE="x:1', "FN:Ana"),
      { name: "Ana", phones: [{ number: "1" }] },
    ],
    [
      "with a number that is none",
      card("FN:Ana", `TEL:${"1".repeat(101)}`, "TEL;waid=x:2"),
      { phones: [{ number: "2" }] },
    ],
    ["when it is empty", "", { begins: false, ends: false, phones: [] }],
  ])("%s", (_, text, expected) => {
    expect(readVcard(text)).toMatchObject(expected);
  });

  test("with its first 20 phones only, however many there are", () => {
    const many = Array.from({ length: 5_000 }, (_, nth) => `TEL:${nth}`);
    expect(readVcard(card(...many)).phones).toHaveLength(20);
  });

  test("without its picture, which may be long", () => {
    const text = card("FN:Ana", "TEL:1", `PHOTO;ENCODING=b:${"A".repeat(200_000)}`);
    expect(readVcard(text)).toMatchObject({ name: "Ana", phones: [{ number: "1" }], ends: false });
  });
});

describe("a hostile vCard is parsed in a time that grows with its length", () => {
  test.each([
    "TEL\n",
    "FN\n",
    "item1.TEL;",
    "waid=1",
    '"',
    ":",
    "\\n",
    "\n ",
    "\r",
    "TEL:1\n",
    "a.",
    "BEGIN:VCARD\n",
    " ",
  ])("with 1 MB of %j", async (unit) => {
    for (const [begin, end] of [
      ["", ""],
      ["FN", ""],
      ["BEGIN:VCARD\n", "\nEND:VCARD"],
    ]) {
      const card = (size: number) => `${begin}${unit.repeat(size / unit.length)}${end}`;
      expect(await growsLinearly(1_000_000, (size) => readVcard(card(size)))).toBe(true);
    }
  });

  test("with soft breaks, each of its lines once", () => {
    const text = `BEGIN:VCARD\nFN;QUOTED-PRINTABLE:${"a=\n".repeat(20_000)}b`;
    const ends = vi.spyOn(String.prototype, "endsWith");
    try {
      expect(readVcard(text).name).toHaveLength(20_001);
      const looked = ends.mock.contexts.reduce((sum: number, line) => sum + String(line).length, 0);
      expect(looked).toBeLessThan(2 * text.length);
    } finally {
      ends.mockRestore();
    }
  });
});
