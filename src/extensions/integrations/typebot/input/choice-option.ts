import { simplify } from "../simplify.ts";
import type { BotInput } from "../typebot-api.ts";

/** One option of a choice. */
export interface ChoiceOption {
  id: string;
  /** The displayed text, which the bot accepts as the answer. */
  text: string;
  /** Alternative texts for it. */
  others: string[];
}

/** The options in the order of their displayed numbers. */
export function choiceOptionsOf(input: BotInput): ChoiceOption[] {
  const items = input.items ?? [];
  if (input.type === "choice input")
    return items.flatMap(({ id, content, value }) => toOption(id, content, value));
  if (input.type === "picture choice input")
    return items.flatMap(({ id, title, value }) => toOption(id, title, value));
  if (input.type === "cards") return items.flatMap((card) => pathsOf(card));
  if (isSkippable(input)) return [{ id: SKIP_OPTION_ID, text: skipLabel(input), others: ["skip"] }];
  return [];
}

/** What a poll can have: more options go as text, since phones do not show them. */
const MOST_POLL_OPTIONS = 12;

/** The options of an input of which one can be chosen; none if a poll cannot show them. */
export function pollOptionsOf(input: BotInput): { id: string; text: string }[] {
  if (input.type !== "choice input" || input.options?.isMultipleChoice === true) return [];
  const options = choiceOptionsOf(input).map(({ id, text }) => ({ id, text }));
  return options.length > MOST_POLL_OPTIONS ? [] : options;
}

/** Stands for continuing without a file. */
export const SKIP_OPTION_ID = "skip";

function isSkippable({ type, options }: BotInput): boolean {
  return type === "file input" && options?.isRequired === false;
}

function skipLabel({ options }: BotInput): string {
  const labels = options?.labels;
  const skip = typeof labels === "object" && labels !== null && "skip" in labels ? labels.skip : undefined;
  return typeof skip === "string" && skip !== "" ? skip : "Skip";
}

/** Several cards may have the same title, so the user chooses a path. */
export function pathsOf(card: Record<string, unknown>): ChoiceOption[] {
  const paths = Array.isArray(card.paths) ? (card.paths as Record<string, unknown>[]) : [];
  return paths.flatMap(({ id, text }) => toOption(id, text, paths.length === 1 ? card.title : undefined));
}

function toOption(id: unknown, text: unknown, other: unknown): ChoiceOption[] {
  const shown = [text, other].find((one) => typeof one === "string" && one.trim() !== "");
  if (typeof id !== "string" || typeof shown !== "string") return [];
  return [{ id, text: shown.trim(), others: typeof other === "string" ? [other] : [] }];
}

/** A longer text never matches an option. */
const LONGEST_CHOICE = 4_096;

/** The matching option: by its number, or by its text without case and accents; undefined if ambiguous. */
export function findOption(options: readonly ChoiceOption[], input: string): ChoiceOption | undefined {
  const text = input.trim();
  if (text.length > LONGEST_CHOICE) return undefined;
  const exact = options.filter((option) => [option.text, ...option.others, option.id].includes(text));
  if (exact.length > 0) return exact[0];
  const number = /^[#(]?(\d{1,3})(?:[\s.)º-]|\uFE0F|\u20E3)*$/.exec(text)?.[1];
  if (number !== undefined) return options[Number(number) - 1];
  const simple = simplify(text);
  const alike = options.filter((option) =>
    [option.text, ...option.others].some((label) => simplify(label) === simple),
  );
  return alike.length === 1 ? alike[0] : undefined;
}

/** The options in "1, 3" or "red and blue"; undefined if one part is ambiguous. */
export function findOptions(options: readonly ChoiceOption[], input: string): ChoiceOption[] | undefined {
  if (input.length > LONGEST_CHOICE) return undefined;
  const whole = findOption(options, input);
  if (whole) return [whole];
  const isNumbers = /^[\d\s,;.&+]+$/.test(input);
  const parts = input.split(isNumbers ? /[^\d]+/ : /[,;\n]+/).filter((part) => part.trim() !== "");
  const found = parts.map((part) => findOption(options, part));
  const known = found.filter((option) => option !== undefined);
  return known.length === found.length && known.length > 0 ? [...new Set(known)] : undefined;
}
