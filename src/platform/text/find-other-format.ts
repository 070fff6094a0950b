/** The kinds of files that are given as CSV by mistake, by their first characters. */
const FORMATS: readonly [RegExp | string, string][] = [
  [
    "PK\u0003\u0004",
    "is an Excel workbook, or another kind of ZIP file. Save the sheet as CSV, and send that file",
  ],
  ["\u00d0\u00cf\u0011\u00e0", "is a workbook of an older Excel. Save the sheet as CSV, and send that file"],
  [/^%PDF/, "is a PDF document. Send the list as CSV"],
  [
    /^<(?:!doctype html|html|head|body|meta|table|div|style)/i,
    "is an HTML page. Save the table as CSV, and send that file",
  ],
  [/^<[?!a-z]/i, "is an XML file. Save the table as CSV, and send that file"],
  [/^\{\\rtf/, "is a text document. Save the table as CSV, and send that file"],
  [/^(?:\{\s*"|\[\s*[{["])/, "is JSON. Send it with the type application/json, or save the list as CSV"],
  ["\u001f", "is a compressed file. Unpack it, and send the CSV file"],
  [/^(?:.PNG|\u00ff\u00d8\u00ff|GIF8|RIFF)/, "is a picture or another kind of media. Send the list as CSV"],
  [
    /^\[?\d{1,4}[./-]\d{1,2}[./-]\d{2,4},? \d{1,2}[:.]\d{2}.{0,20}(?:\] | - )/,
    "is the history of a WhatsApp chat, which is no list of contacts. Send a CSV file with a column phone",
  ],
];
const SAMPLED_BYTES = 512;

/** What is wrong with a file that is no table of text. */
export function findOtherFormat(bytes: Uint8Array): string | undefined {
  const sample = new TextDecoder("windows-1252").decode(bytes.subarray(0, SAMPLED_BYTES));
  // Behind the marks of UTF-8 and of the direction of text, in Windows-1252.
  const text = sample.replace(/^(?:\u00ef\u00bb\u00bf|\u00e2\u20ac\u017d|\u00e2\u0080\u008e|\s)+/, "");
  return FORMATS.find(([start]) =>
    typeof start === "string" ? text.startsWith(start) : start.test(text),
  )?.[1];
}
