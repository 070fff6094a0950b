import { expect, test } from "vitest";
import { type CsvFormat, readCsvTable } from "./csv-table.ts";

function read(bytes: Uint8Array, format?: CsvFormat) {
  const { columns, delimiter, encoding, records } = readCsvTable(bytes, format);
  return { columns, delimiter, encoding, cells: [...records()].map((record) => record.cells) };
}

test("the separator and the encoding of a CSV file are detected", () => {
  expect(read(new TextEncoder().encode("\uFEFFphone;name\n1;Zoë\n"))).toEqual({
    columns: ["phone", "name"],
    delimiter: ";",
    encoding: "utf-8",
    cells: [["1", "Zoë"]],
  });
  expect(read(Buffer.from("phone\tname\n1\tZo\xeb\n", "latin1"))).toMatchObject({
    delimiter: "\t",
    encoding: "windows-1252",
    cells: [["1", "Zoë"]],
  });
  expect(read(Buffer.from("\uFEFFphone,name\r\n1,Zoë\r\n", "utf16le"))).toMatchObject({
    columns: ["phone", "name"],
    encoding: "utf-16le",
    cells: [["1", "Zoë"]],
  });
});

test("a separator that the reader of a CSV file names wins over the detected one", () => {
  const bytes = new TextEncoder().encode('phone;a,b\n1;"x, y"\n');
  expect(read(bytes, { delimiter: "," }).columns).toEqual(["phone;a", "b"]);
});
