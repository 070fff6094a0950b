/** A number in the bot's format: in "1.234,5" and "1,234.5" the last separator is the decimal one. */
export function readNumber(text: string): string {
  const trimmed = text.trim();
  if (!/^[+-]?[\d.,\s]*\d$/.test(trimmed)) return trimmed;
  const digits = trimmed.replace(/\s/g, "");
  const decimal = decimalOf(digits);
  if (decimal === undefined) return digits.replace(/[.,]/g, "");
  const at = digits.lastIndexOf(decimal);
  return `${digits.slice(0, at).replace(/[.,]/g, "")}.${digits.slice(at + 1)}`;
}

/** The last separator, unless it is the only kind and occurs several times: then it groups thousands. */
function decimalOf(digits: string): string | undefined {
  const marks = digits.match(/[.,]/g) ?? [];
  const last = marks.at(-1);
  if (last === undefined) return undefined;
  if (marks.length === 1) return last;
  return marks.every((mark) => mark === last) ? undefined : last;
}
