import { compileLinearPattern } from "../../../platform/text/linear-pattern.ts";
import { simplify } from "./choice-option.ts";
import type { TypebotConfig } from "./typebot-config.ts";

/** Whether the text is one of the words, without case and accents. */
export function isKeyword(words: readonly string[], text: string): boolean {
  const said = simplify(text);
  return words.some((word) => simplify(word) === said);
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

/** Of longer texts only the beginning is compared. */
const LONGEST_TEXT = 2_000;

function matches(expression: string, text: string): boolean {
  const pattern = compileLinearPattern(expression);
  return !("refused" in pattern) && pattern.test(text.slice(0, LONGEST_TEXT));
}

/** Why the trigger of a saved configuration never starts the bot; undefined if it can. */
export function findTriggerProblem({
  trigger,
  trigger_operator,
  trigger_value,
}: Pick<TypebotConfig, "trigger" | "trigger_operator" | "trigger_value">): string | undefined {
  if (trigger === "all" || trigger_operator !== "regex") return undefined;
  const pattern = compileLinearPattern(trigger_value);
  return "refused" in pattern ? pattern.refused : undefined;
}
