import { deflateSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { growsLinearly } from "../../../test/cpu-time.ts";
import { countPdfPages } from "./count-pdf-pages.ts";

const pdf = (...objects: (string | Buffer)[]): Buffer =>
  Buffer.concat([
    Buffer.from("%PDF-1.7\n"),
    ...objects.map((body, i) =>
      Buffer.concat([Buffer.from(`${i + 1} 0 obj\n`), Buffer.from(body), Buffer.from("\nendobj\n")]),
    ),
    Buffer.from("trailer<</Root 1 0 R>>\n%%EOF"),
  ]);

/** An object stream, in which the objects are consecutive. */
const compressed = (objects: string): Buffer => {
  const data = deflateSync(objects);
  const head = `<</Type/ObjStm/N 2/First 10/Filter/FlateDecode/Length ${data.length}>>\nstream\r\n`;
  return Buffer.concat([Buffer.from(head), data, Buffer.from("\nendstream")]);
};

describe("the pages of a PDF", () => {
  it.each<[string, Buffer, number | undefined]>([
    [
      "are those of the root of the page tree",
      pdf(
        "<</Type/Catalog/Pages 2 0 R>>",
        "<< /Type /Pages /Resources <</Font <<>> >> /Kids [3 0 R 4 0 R] /Count 12 >>",
        "<</Count 5/Kids[]/Parent 2 0 R/Type/Pages>>",
        "<</Count 7/Kids[]/Parent 2 0 R/Type/Pages>>",
      ),
      12,
    ],
    [
      "can be compressed with other objects",
      pdf(
        "<</Type/Catalog/Pages 2 0 R>>",
        compressed("2 0 3 40 <</Type/Pages/Kids[3 0 R]/Count 3>><</Type/Page/Parent 2 0 R>>"),
      ),
      3,
    ],
    [
      "are not the entries of its outline",
      pdf("<</Type/Outlines/Count 99>>", "<</Type/Pages/Count 2/Kids[]>>"),
      2,
    ],
    [
      "are found behind a picture whose bytes look like a dictionary",
      pdf(
        Buffer.concat([
          Buffer.from("<</Length 900>>stream\n"),
          Buffer.from("<<".repeat(450)),
          Buffer.from("\nendstream"),
        ]),
        "<</Type/Pages/Count 4/Kids[]>>",
      ),
      4,
    ],
    ["are unknown if the file does not state them", pdf("<</Type/Catalog>>"), undefined],
    ["are unknown if they are too many to be true", pdf("<</Type/Pages/Count 99999999>>"), undefined],
    ["are unknown in another file", Buffer.from("<</Type/Pages/Count 4>>"), undefined],
  ])("%s", async (_, file, pages) => {
    expect(await countPdfPages(file)).toBe(pages);
  });

  it("are counted in linear time and with little memory, whatever the file claims", async () => {
    const bomb = compressed("0".repeat(64 * 1024 * 1024));
    expect(await countPdfPages(pdf(bomb, "<</Type/Pages/Count 4>>"))).toBe(4);
    const units = [
      "<<",
      "/Type/Pages",
      "/Type ",
      "<</Count 1",
      "/ObjStm",
      "/ObjStm stream\n",
      "/ObjStm stream\nx endstream",
    ];
    for (const unit of units) {
      const count = (size: number) => countPdfPages(pdf(unit.repeat(size)));
      expect(await growsLinearly(20_000, count)).toBe(true);
    }
  });
});
