import { compileLinearPattern } from "../../../platform/text/linear-pattern.ts";
import { simplify } from "./simplify.ts";

/** What starts the bot. */
export interface BotTrigger {
  trigger: "all" | "keyword";
  trigger_operator: "equals" | "contains" | "startsWith" | "regex";
  trigger_value: string;
}

/** Whether the text is one of the words, without case and accents. */
export function isKeyword(words: readonly string[], text: string): boolean {
  const simple = simplify(text);
  return words.some((word) => simplify(word) === simple);
}

/** Whether a text starts the bot. */
export function isTrigger({ trigger, trigger_operator, trigger_value }: BotTrigger, text: string): boolean {
  if (trigger === "all") return true;
  if (text === "") return false;
  const [input, expected] = [simplify(text), simplify(trigger_value)];
  switch (trigger_operator) {
    case "equals":
      return input === expected;
    case "contains":
      return input.includes(expected);
    case "startsWith":
      return input.startsWith(expected);
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
}: BotTrigger): string | undefined {
  if (trigger === "all" || trigger_operator !== "regex") return undefined;
  const pattern = compileLinearPattern(trigger_value);
  return "refused" in pattern ? pattern.refused : undefined;
}
