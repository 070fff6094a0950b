import { expect, test } from "vitest";
import { readRecipientCsv } from "./read-recipient.ts";

const OPTIONS = { country: { code: "BR", isSet: true }, isConfirmed: true };

/** The phones of a file; a row that is refused in angle brackets. */
async function phonesOf(...lines: string[]): Promise<string[]> {
  const found: string[] = [];
  for await (const rows of readRecipientCsv(Buffer.from(lines.join("\n")), OPTIONS))
    found.push(...rows.map((one) => ("phone" in one ? one.phone : `<${"reason" in one && one.reason}>`)));
  return found;
}

test.each<[string, string[], string[]]>([
  ["a tax id and an order number", ["111.444.777-35;1024;11987650003;Ana"], ["5511987650003"]],
  ["the tax id of a company", ["11.222.333/0001-81;Ana;5511987650003"], ["5511987650003"]],
  [
    "tax ids of which one is also a number abroad",
    ["123.456.789-09;5511987650003", "111.444.777-35;5511987650004"],
    ["5511987650003", "5511987650004"],
  ],
  ["a tax id that is also a number abroad", ["123.456.789-09;Ana;5511987650003"], ["5511987650003"]],
  ["an order number that is also a phone", ["20240115001;Ana;5511987650003"], ["5511987650003"]],
  ["a row without a phone", ["Ana;5511987650003", "Bia;", "Eva"], ["5511987650003", "line 2", "line 3"]],
  ["a damaged phone", ["Ana;5511987650003", "Bia;5511987650004.0"], ["5511987650003", "line 2"]],
  ["one column, whatever it has", ["987650003", "5511987650003"], ["line 1", "5511987650003"]],
])("a file without a head is read by its column of phones: %s", async (_what, lines, phones) => {
  const found = await phonesOf(...lines);
  expect(found.map((phone) => /line \d+/.exec(phone)?.[0] ?? phone)).toEqual(phones);
});

test.each([
  ["several phones in a row", ["5511987650003,5511987650004,5511987650005"]],
  ["several phones in some rows", ["5511987650003,551133330001", "5511987650004,", "5511987650005"]],
  ["one text among its phones", ["Ana,5511987650003", "Bia,none", "Eva,5511987650005"]],
  ["numbers that are no phones", ["Ana,987650003"]],
])("a file without a head whose column of phones is in doubt is refused: %s", async (_what, lines) => {
  await expect(phonesOf(...lines)).rejects.toThrow("file: has no names of columns");
});
