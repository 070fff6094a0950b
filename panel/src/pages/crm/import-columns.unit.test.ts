import { expect, test } from "vitest";
import { guessColumns, toImportTable } from "./import-columns.ts";

test("columns of a file are known by their names in three languages, each meaning once", () => {
  const columns = ["Telefone", "Nome", "phone", "Etapa", "city", "custom_fields.size", "other"];
  expect(guessColumns(columns, ["city"])).toEqual([
    "phone",
    "name",
    "",
    "kanban_status",
    "custom_fields.city",
    "custom_fields.size",
    "",
  ]);
});

test("only the chosen columns of a file are sent, each row as one line", () => {
  const rows = [{ line: 2, cells: ["Ana", "5511988881001", "a\nb"] }];
  const file = {
    name: "x",
    columns: ["a", "b", "c"],
    rows,
    broken: [],
    delimiter: ",",
    encoding: "utf-8",
  } as const;
  expect(toImportTable(file, ["", "phone", "name"])).toEqual({
    columns: ["phone", "name"],
    rows: [["5511988881001", "a b"]],
  });
});
