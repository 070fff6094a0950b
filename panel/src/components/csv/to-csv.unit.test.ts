import { expect, test } from "vitest";
import { readEveryPage, toCsv } from "./to-csv.ts";

/** A list of the numbers from 0, with 200 on a page. */
function listOf(total: number) {
  return async ({ limit, cursor = "0" }: { limit: number; cursor?: string }) => {
    const from = Number(cursor);
    const to = Math.min(total, from + limit);
    const data = Array.from({ length: to - from }, (_, at) => from + at);
    return { data, pagination: { next_cursor: to < total ? String(to) : null } };
  };
}

test("every page of a list is read, in its order", async () => {
  const { rows, isCut } = await readEveryPage(listOf(450));
  expect([rows.length, rows[0], rows[449], isCut]).toEqual([450, 0, 449, false]);
});

test("a list that is too long is cut, and the export reports it", async () => {
  const { rows, isCut } = await readEveryPage(listOf(1_000), 400);
  expect([rows.length, isCut]).toEqual([400, true]);
});

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
