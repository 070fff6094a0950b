import { invalidField } from "../../platform/errors.ts";

/** The name and the first phone of a vCard, version 2.1 to 4; a second card in the same text is not looked at. */
export function readVcard(text: string): { name?: string; phone?: string } {
  const [first, ...lines] = text
    .replace(/\r\n?|\n/g, "\n")
    .replace(/\n[ \t]/g, "")
    .trim()
    .split("\n");
  if (!/^BEGIN:VCARD$/i.test(first?.trim() ?? ""))
    throw invalidField("vcard", "does not begin with BEGIN:VCARD");
  const end = lines.findIndex((line) => /^END:VCARD$/i.test(line.trim()));
  if (end < 0) throw invalidField("vcard", "does not end with END:VCARD");
  const card = lines.slice(0, end);
  const phone = findValue(card, "TEL")?.replace(/^tel:/i, "");
  return { name: findValue(card, "FN"), phone };
}

/** The value of the first property of that name, also of one in a group (`item1.TEL`). */
function findValue(lines: readonly string[], property: string): string | undefined {
  const pattern = new RegExp(`^(?:[\\w-]+\\.)?${property}(?:;[^:]*)?:(.*)$`, "i");
  const found = lines.map((line) => pattern.exec(line)?.[1]).find((value) => value !== undefined);
  const value = found
    ?.replace(/\\n/gi, " ")
    .replace(/\\([\\,;])/g, "$1")
    .trim();
  return value || undefined;
}
