/** Reads a positive integer of a URL, otherwise returns undefined. */
export function readId(value: unknown): number | undefined {
  const id = typeof value === "string" ? Number(value) : value;
  return typeof id === "number" && Number.isSafeInteger(id) && id > 0 ? id : undefined;
}

/** Reads a trimmed text of at most `most` characters. */
export function readText(value: unknown, most = 100): string | undefined {
  const text = typeof value === "number" ? String(value) : typeof value === "string" ? value.trim() : "";
  return text === "" || text.length > most ? undefined : text;
}

/** Reads one of the known values. */
export function readOneOf<Value extends string>(known: readonly Value[], value: unknown): Value | undefined {
  return known.find((one) => one === value);
}

/** Reads a limit; empty means none. The gateway validates everything that is no number. */
export function readLimit(text = ""): number | null {
  const typed = text.trim();
  if (typed === "") return null;
  return /^\d+$/.test(typed) ? Number(typed) : (typed as unknown as number);
}

export function readForm(form: HTMLFormElement): Partial<Record<string, string>> {
  const entries = [...new FormData(form)].filter((entry): entry is [string, string] => {
    return typeof entry[1] === "string";
  });
  return Object.fromEntries(entries);
}
