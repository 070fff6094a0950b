import { expect, test } from "vitest";
import { toCsv } from "./to-csv.ts";

test("a table becomes lines in which quotes, commas and line ends are kept", () => {
  const rows = [["a,b", 'say "no"', "two\nlines", null, 7, { a: 1 }]];
  expect(toCsv({ columns: ["one"], rows })).toBe(
    '\uFEFFone\r\n"a,b","say ""no""","two\nlines",,7,"{""a"":1}"\r\n',
  );
});

test("a text that a spreadsheet would run as a formula is marked as text, and a phone number is not", () => {
  const rows = [["=1+1", "@sum", "-2+3", "+5511999990004", -4]];
  expect(toCsv({ columns: [], rows })).toBe("\uFEFF\r\n'=1+1,'@sum,'-2+3,+5511999990004,-4\r\n");
});
