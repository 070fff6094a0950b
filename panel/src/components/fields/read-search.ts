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
export function readOneOf<Value extends string>(known: readonly Value[], value: unknown): Value | undefined {
  return known.find((one) => one === value);
}

/** A field for a limit: empty is none. What is no number goes to the gateway as typed, which says what is wrong with it. */
export function readLimit(text = ""): number | null {
  const typed = text.trim();
  if (typed === "") return null;
  return /^\d+$/.test(typed) ? Number(typed) : (typed as unknown as number);
}

/** The text fields of a form by name. */
export function readForm(form: HTMLFormElement): Partial<Record<string, string>> {
  const entries = [...new FormData(form)].filter((entry): entry is [string, string] => {
    return typeof entry[1] === "string";
  });
  return Object.fromEntries(entries);
}
