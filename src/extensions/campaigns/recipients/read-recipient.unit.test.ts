import { expect, test } from "vitest";
import { type ParsedRecipient, readRecipient, readRecipientCsv } from "./read-recipient.ts";

const OPTIONS = { country: { code: "BR", isSet: true }, isConfirmed: true };

async function readAll(...lines: string[]): Promise<ParsedRecipient[]> {
  const found: ParsedRecipient[] = [];
  for await (const rows of readRecipientCsv(Buffer.from(lines.join("\n")), OPTIONS)) found.push(...rows);
  return found;
}

/** The phone of a recipient, or the code of its error. */
function codeOf(found: ParsedRecipient | undefined): string | undefined {
  if (!found || "phone" in found) return found?.phone;
  return "warning" in found ? found.warning.code : found.code;
}

/** The phones of a file, with rejected rows in angle brackets. */
async function phonesOf(...lines: string[]): Promise<string[]> {
  const found = await readAll(...lines);
  return found.map((one) => ("phone" in one ? one.phone : `<${"reason" in one && one.reason}>`));
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
])("a file without a header and with an ambiguous phone column is refused: %s", async (_what, lines) => {
  await expect(phonesOf(...lines)).rejects.toThrow("file: has no names of columns");
});

test.each([
  ["country_code,phone", "1,2125550123", "12125550123"],
  ["DDI;Telefone", "351;912 345 678", "351912345678"],
  ["DDI;DDD;Fone", "55;31;98765-0003", "5531987650003"],
  ["DDI;Telefone", "55;51987654321", "5551987654321"],
  ["Dial Code,Mobile", "+44,07400 123456", "447400123456"],
  ["Country,Phone", "US,2125550123", "12125550123"],
  ["Country,Phone", "United Kingdom,07400 123456", "447400123456"],
  ["Phone,Country", "2125550123,USA", "12125550123"],
  ["País;Teléfono", "España;612 34 56 78", "34612345678"],
  ["País;Celular", "México;55 1234 5678", "525512345678"],
  ["País;DDD;Celular", "Brasil;21;98765-0003", "5521987650003"],
  ["Country,Phone", "Germany,5511987650003", "5511987650003"],
  ["Country,Phone", "Narnia,+12125550123", "12125550123"],
  ["Country,Phone", "Portugal,351912345678", "351912345678"],
  // Ambiguous, or of the wrong country.
  ["País;Celular", "Brasil;51987654321", "ambiguous_country"],
  ["Country,Phone", "Narnia,11987650003", "unknown_context"],
  ["País;DDD;Celular", "Narnia;21;98765-0003", "unknown_context"],
  ["country_code,phone", "076,11987650003", "unknown_context"],
  ["country_code,phone", "1,11987650003", "unknown_context"],
  ["country_code,phone", "55,119.610.222-24", "ambiguous_number"],
  ["country_code,phone", "82,2. 010-1234-5678", "unknown_context"],
  ["country_code,phone", "49,2. 301234567", "several_numbers"],
  ["Country,Phone", "US,11987650003", "no_country_code"],
  // Damaged by a spreadsheet.
  ["telefone", "5,51199E+12", "changed_by_spreadsheet"],
  ["telefone", "5511987650003,00", "changed_by_spreadsheet"],
  ["5,5E+12", "5,51199E+12", "changed_by_spreadsheet"],
  ["Ana;5,5E+12", "Bia;5,51199E+12", "changed_by_spreadsheet"],
])("the columns %j with %j lead to %s", async (head, row, meaning) => {
  const [found] = (await readAll(head, row)).flat();
  expect(codeOf(found)).toBe(meaning);
});

test.each<[object, string]>([
  [{ country_code: "1", phone: "2125550123" }, "12125550123"],
  [{ countryCode: 44, number: 2079460018 }, "442079460018"],
  [{ country: "ES", phone: "612 34 56 78" }, "34612345678"],
  [{ country: "Narnia", phone: "11987650003" }, "unknown_context"],
  [{ country: {}, phone: "11987650003" }, "unknown_context"],
  [{ phone: "", whatsapp: "5511987650003" }, "5511987650003"],
  [{ phone: "  ", number: null, to: "5511987650003" }, "5511987650003"],
  [{ phone: "+55 11 98765-0003", number: 5511987650003 }, "5511987650003"],
  [{ phone: "5511987650003", number: "5511987650004" }, "different_addresses"],
  [{ whatsapp: "5511987650003", celular: "5511987650004" }, "different_addresses"],
  [{ phone: "" }, "missing"],
])("the recipient %j leads to %s", (recipient, meaning) => {
  expect(codeOf(readRecipient(recipient, 1, OPTIONS))).toContain(meaning);
});
