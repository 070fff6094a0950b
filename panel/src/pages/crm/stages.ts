const KEY = "waygate.stages";
const MOST_STAGES = 50;
const LONGEST_NAME = 64;

/** The stages in the order that this browser's user has chosen. */
export function readStages(): readonly string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    if (!Array.isArray(stored)) return [];
    return stored
      .filter(
        (name): name is string => typeof name === "string" && name !== "" && name.length <= LONGEST_NAME,
      )
      .slice(0, MOST_STAGES);
  } catch {
    // A browser can forbid storage; the order then lasts until the page closes.
    return [];
  }
}

export function saveStages(names: readonly string[]): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(names.slice(0, MOST_STAGES)));
  } catch {}
}
