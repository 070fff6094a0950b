/** What an address may hold: a whole number from 1; undefined: nothing usable. */
export function readId(value: unknown): number | undefined {
  const id = typeof value === "string" ? Number(value) : value;
  return typeof id === "number" && Number.isSafeInteger(id) && id > 0 ? id : undefined;
}

/** A text of at most `most` characters, without spaces around it. */
export function readText(value: unknown, most = 100): string | undefined {
  const text = typeof value === "number" ? String(value) : typeof value === "string" ? value.trim() : "";
  return text === "" || text.length > most ? undefined : text;
}

/** One of the known words. */
export function readOneOf<Word extends string>(words: readonly Word[], value: unknown): Word | undefined {
  return words.find((word) => word === value);
}
