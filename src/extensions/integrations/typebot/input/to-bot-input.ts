import type { BotInput, BotMessage } from "../typebot-api.ts";
import { choiceOptionsOf, findOption, findOptions, SKIP_OPTION_ID } from "./choice-option.ts";
import { readDate, readTime } from "./read-date.ts";
import { isClip, type UserInput } from "./read-user-input.ts";
import { rangeOf } from "./to-prompt.ts";

/** How a user's input is handled. */
export type BotInputResult =
  /** Goes to the bot; without a message the flow continues by itself. */
  | { do: "send"; message: BotMessage | undefined }
  /** The bot is not asked: it could not accept the input, so the gateway replies. */
  | { do: "refuse"; why: "unsupported" | "invalid" }
  | { do: "ignore" };

/** Converts the user's input for this bot input: a number to the choice, a file to its URL. */
export function toBotInput(input: BotInput | undefined, userInput: UserInput): BotInputResult {
  if (input?.type === "payment input") return { do: "refuse", why: "unsupported" };
  return userInput.kind === "file" ? fromFile(input, userInput) : fromText(input, userInput.text);
}

function send(text: string, replyId?: string): BotInputResult {
  return {
    do: "send",
    message: { type: "text", text, ...(replyId !== undefined && { metadata: { replyId } }) },
  };
}

/** Whether the input accepts both in one answer; the rest is left for the next input. */
export function acceptsTogether(input: BotInput | undefined, first: UserInput, next: UserInput): boolean {
  if (first.kind === "text" || next.kind === "text") return first.kind === next.kind;
  if (first.files.length === 0 || next.files.length === 0) return false;
  if (input?.type === "file input") return input.options?.isMultipleAllowed === true;
  const isClipAlone = input?.type === "text input" && isOn(input, "audioClip");
  return !isClipAlone || ![...first.files, ...next.files].some(isClip);
}

function fromFile(
  input: BotInput | undefined,
  { files, text }: Extract<UserInput, { kind: "file" }>,
): BotInputResult {
  const [first] = files;
  const urls = files.map(({ url }) => url);
  if (first && input?.type === "file input") return send(urls.join(", "));
  if (first && input?.type === "text input") {
    if (isClip(first) && isOn(input, "audioClip"))
      return { do: "send", message: { type: "audio", url: first.url } };
    if (isOn(input, "attachments"))
      return { do: "send", message: { type: "text", text, attachedFileUrls: urls } };
  }
  return text === "" ? { do: "refuse", why: "unsupported" } : fromText(input, text);
}

function isOn({ options }: BotInput, name: string): boolean {
  const option = options?.[name];
  return typeof option === "object" && option !== null && "isEnabled" in option && option.isEnabled === true;
}

function fromText(input: BotInput | undefined, text: string): BotInputResult {
  switch (input?.type) {
    case "choice input":
    case "picture choice input":
      return input.options?.isMultipleChoice === true ? chooseSeveral(input, text) : choose(input, text);
    case "cards":
      return choosePath(input, text);
    case "rating input":
      return rate(input, text);
    case "number input":
      return send(readNumber(text));
    case "date input":
      return send(readDate(text, input.options ?? {}));
    case "time input":
      return send(readTime(text));
    case "file input":
      return findOption(choiceOptionsOf(input), text)?.id === SKIP_OPTION_ID
        ? { do: "send", message: undefined }
        : send(text);
    default:
      return send(text);
  }
}

/** A text that is not among the choices goes unchanged: the bot has its own reply for that. */
function choose(input: BotInput, text: string): BotInputResult {
  const option = findOption(choiceOptionsOf(input), text);
  return option ? send(option.text, option.id) : send(text);
}

function chooseSeveral(input: BotInput, text: string): BotInputResult {
  const options = findOptions(choiceOptionsOf(input), text);
  return send(options ? options.map((option) => option.text).join(", ") : text);
}

/** By its id: the bot would match the title alone with the first path of its card. */
function choosePath(input: BotInput, text: string): BotInputResult {
  const path = findOption(choiceOptionsOf(input), text);
  return path ? send(path.id, path.id) : send(text);
}

/** The bot checks only the highest rating. */
function rate(input: BotInput, text: string): BotInputResult {
  const { from, to } = rangeOf(input);
  const mark = /^\d{1,3}$/.test(text.trim()) ? Number(text) : Number.NaN;
  return mark >= from && mark <= to ? send(String(mark)) : { do: "refuse", why: "invalid" };
}

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
