import { expect, test } from "vitest";
import { LEAD_COLUMNS, REPORT_COLUMNS } from "../../../../src/platform/text/find-column-meanings.ts";
import type { CsvFile } from "../../components/csv/read-csv.ts";
import { createLineFinder, guessColumns, toImportTable } from "../crm/import-columns.ts";
import { guessMapping, pickFromCsv } from "./builder/csv-mapping.ts";
import { toLocal, toMoment } from "./zoned-time.ts";

function fileOf(columns: string[], cells: string[][]): CsvFile {
  const rows = cells.map((row, at) => ({ line: at + 2, cells: row }));
  return { name: "people.csv", columns, rows, broken: [], delimiter: ",", encoding: "utf-8", hasHead: true };
}

test("the column with the number is found by its name, otherwise by its cells", () => {
  expect(guessMapping(fileOf(["Nome", "Telefone"], [["Ana", "x"]]))).toEqual({ phone: 1, variables: [0] });
  expect(guessMapping(fileOf(["who", "a"], [["Ana", "+55 11 98888-1001"]])).phone).toBe(1);
  expect(guessMapping(fileOf(["who", "a"], [["Ana", "seven"]])).phone).toBeUndefined();
  expect(guessMapping(fileOf(["id", "a"], [["20240115001", "5511988881001"]])).phone).toBeUndefined();
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

test("a local time in a zone is converted to UTC and back", () => {
  expect(toMoment("2026-11-27T09:00", "America/Sao_Paulo")?.toISOString()).toBe("2026-11-27T12:00:00.000Z");
  expect(toMoment("2026-07-01T09:00", "Europe/Madrid")?.toISOString()).toBe("2026-07-01T07:00:00.000Z");
  expect(toMoment("2026-12-01T09:00", "Europe/Madrid")?.toISOString()).toBe("2026-12-01T08:00:00.000Z");
  expect(toLocal(new Date("2026-11-27T12:00:00Z"), "America/Sao_Paulo")).toBe("2026-11-27T09:00");
});

test("a local time just after a clock change has the new offset", () => {
  expect(toMoment("2026-03-29T03:30", "Europe/Madrid")?.toISOString()).toBe("2026-03-29T01:30:00.000Z");
  expect(toMoment("2026-03-29T01:30", "Europe/Madrid")?.toISOString()).toBe("2026-03-29T00:30:00.000Z");
});

test("an invalid local time is undefined", () => {
  expect(toMoment("", "UTC")).toBeUndefined();
  expect(toMoment("tomorrow", "UTC")).toBeUndefined();
});

test("columns of a file are recognised by their names in three languages, each meaning once", () => {
  const columns = ["Telefone", "Nome", "phone", "Etapa", "city", "custom_fields.size", "other"];
  expect(guessColumns(columns, ["city"])).toEqual([
    "",
    "name",
    "phone",
    "kanban_status",
    "custom_fields.city",
    "custom_fields.size",
    "",
  ]);
});

test("only the chosen columns of a file are sent, and a line of the table leads to its line of the file", () => {
  const rows = [
    { line: 2, cells: ["Ana\nMaria", "5511988881001", "a\nb\nc"] },
    { line: 7, cells: ["", "5511988881002", "d"] },
  ];
  const file = {
    name: "x",
    columns: ["a", "b", "c"],
    rows,
    broken: [],
    delimiter: ",",
    encoding: "utf-8",
    hasHead: true,
  } as const;
  expect(toImportTable(file, ["", "phone", "name"])).toEqual({
    columns: ["phone", "name"],
    rows: [
      ["5511988881001", "a\nb\nc"],
      ["5511988881002", "d"],
    ],
  });
  expect([2, 5].map(createLineFinder(file, ["", "phone", "name"]))).toEqual([2, 7]);
});

test("an id of another program is not chosen, and that of an export is sent with its proof", () => {
  expect(guessColumns(["ID", "Nome", "Telefone"], [])).toEqual(["", "name", "phone"]);
  const cells = LEAD_COLUMNS.map((name) => `${name} of Ana`);
  const targets = guessColumns(LEAD_COLUMNS, []).map((target) => (target === "name" ? "" : target));
  const { columns, rows } = toImportTable(fileOf([...LEAD_COLUMNS], [cells]), targets);
  expect(columns.toSorted()).toEqual(LEAD_COLUMNS.toSorted());
  const sent = Object.fromEntries(columns.map((name, at) => [name, rows[0]?.[at]]));
  expect(sent).toMatchObject({ id: "id of Ana", name: "", created_at: "created_at of Ana", updated_at: "" });
});

test("the columns of a campaign's report give the variables that its recipients had", () => {
  const columns = [...REPORT_COLUMNS, "variables.status", "variables.name"];
  const file = fileOf(columns, [["5511988881001", "sent", "", "m", "", "", "paid", "Ana"]]);
  expect(pickFromCsv(file, guessMapping(file)).recipients).toMatchObject([
    { phone: "5511988881001", variables: { status: "paid", name: "Ana" } },
  ]);
  expect(guessColumns(columns, [])).toEqual(["phone", "", "", "", "", "", "", ""]);
});
