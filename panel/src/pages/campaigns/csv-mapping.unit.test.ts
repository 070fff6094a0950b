import { expect, test } from "vitest";
import type { CsvFile } from "../../api/read-csv.ts";
import { guessMapping, pickFromCsv } from "./csv-mapping.ts";

function fileOf(columns: string[], cells: string[][]): CsvFile {
  const rows = cells.map((row, at) => ({ line: at + 2, cells: row }));
  return { name: "people.csv", columns, rows, broken: [], delimiter: ",", encoding: "utf-8" };
}

test("the column with the number is found by its name, otherwise by its cells", () => {
  expect(guessMapping(fileOf(["Nome", "Telefone"], [["Ana", "x"]]))).toEqual({ phone: 1, variables: [0] });
  expect(guessMapping(fileOf(["who", "a"], [["Ana", "+55 11 98888-1001"]])).phone).toBe(1);
  expect(guessMapping(fileOf(["who", "a"], [["Ana", "seven"]])).phone).toBeUndefined();
});

test("a line without a number is a problem, and the others become recipients with their variables", () => {
  const file = fileOf(
    ["phone", "Order", "note"],
    [
      ["5511988881001", "7", "x"],
      ["", "8", "y"],
    ],
  );
  expect(pickFromCsv(file, { phone: 0, variables: [1] })).toEqual({
    recipients: [{ line: 2, phone: "5511988881001", variables: { order: "7" } }],
    problems: [{ line: 3, value: ", 8, y", problem: "missing" }],
  });
});
