import { runInNewContext } from "node:vm";
import type { TypebotConfig } from "./config.ts";
import { simplify } from "./options.ts";

/** Whether the text is one of the words, whatever its case and accents. */
export function isKeyword(words: readonly string[], text: string): boolean {
  return words.some((word) => simplify(word) === simplify(text));
}

/** Whether a text starts the bot. */
export function isTrigger(
  { trigger, trigger_operator, trigger_value }: TypebotConfig,
  text: string,
): boolean {
  if (trigger === "all") return true;
  if (text === "") return false;
  const [said, wanted] = [simplify(text), simplify(trigger_value)];
  switch (trigger_operator) {
    case "equals":
      return said === wanted;
    case "contains":
      return said.includes(wanted);
    case "startsWith":
      return said.startsWith(wanted);
    case "regex":
      return matches(trigger_value, text);
  }
}

const LONGEST_TEXT = 2_000;
const PATIENCE_MS = 50;

/** A pattern of a customer may run for ever on some texts, so it is cut short. */
function matches(pattern: string, text: string): boolean {
  try {
    const given = { pattern, text: text.slice(0, LONGEST_TEXT) };
    return runInNewContext('new RegExp(pattern, "iu").test(text)', given, { timeout: PATIENCE_MS }) === true;
  } catch {
    return false;
  }
}
