/** A field for a limit: empty is none. What is no number goes to the gateway as typed, which says what is wrong with it. */
export function readLimit(text = ""): number | null {
  const typed = text.trim();
  if (typed === "") return null;
  return /^\d+$/.test(typed) ? Number(typed) : (typed as unknown as number);
}
