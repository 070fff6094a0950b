import type { ReplyPart } from "../../to-replies.ts";
import type { BotInput } from "../typebot-api.ts";
import { choiceOptionsOf, pathsOf } from "./choice-option.ts";

/**
 * What an input shows beside the bubbles of its question. Language-neutral, since the bot has its own
 * language.
 */
export function toPrompt(input: BotInput): ReplyPart[] {
  switch (input.type) {
    case "choice input":
      return text([listOf(input), input.options?.isMultipleChoice === true ? "(1, 2, …)" : ""]);
    case "picture choice input":
      return pictures(input);
    case "cards":
      return cards(input);
    case "rating input":
      return text([scaleOf(input)]);
    case "date input":
      return text([formatOf(input)]);
    case "file input":
      return text(["📎", listOf(input)]);
    case "payment input":
      return text([amountOf(input)]);
    default:
      return [];
  }
}

function text(lines: readonly string[]): ReplyPart[] {
  const joined = lines.filter((line) => line !== "").join("\n");
  return joined === "" ? [] : [{ kind: "text", text: joined }];
}

function listOf(input: BotInput): string {
  return choiceOptionsOf(input)
    .map((option, index) => `${index + 1}. ${option.text}`)
    .join("\n");
}

/** The lowest and the highest rating. */
export function rangeOf({ options }: BotInput): { from: number; to: number } {
  const to = Number(options?.length ?? 10);
  const from = Number(options?.startsAt ?? (options?.buttonType === "Icons" ? 1 : 0));
  return { from: Number.isInteger(from) ? from : 0, to: Number.isInteger(to) ? to : 10 };
}

function scaleOf(input: BotInput): string {
  const { from, to } = rangeOf(input);
  return `${from}–${to}`;
}

function formatOf({ options }: BotInput): string {
  const format = typeof options?.format === "string" ? options.format : "dd/MM/yyyy";
  const one = options?.hasTime === true && options.format === undefined ? `${format} HH:mm` : format;
  return options?.isRange === true ? `(${one} – ${one})` : `(${one})`;
}

function amountOf({ runtimeOptions }: BotInput): string {
  const isKnown =
    typeof runtimeOptions === "object" && runtimeOptions !== null && "amountLabel" in runtimeOptions;
  return isKnown && typeof runtimeOptions.amountLabel === "string" ? runtimeOptions.amountLabel : "";
}

function pictures(input: BotInput): ReplyPart[] {
  const options = choiceOptionsOf(input);
  return (input.items ?? []).flatMap((item) => {
    const index = options.findIndex(({ id }) => id === item.id);
    if (index < 0) return [];
    const about = described(`${index + 1}. *${options[index]?.text}*`, item.description);
    return withPicture(item.pictureSrc, about);
  });
}

/** The paths of all cards are numbered consecutively. */
function cards(input: BotInput): ReplyPart[] {
  let before = 0;
  return (input.items ?? []).flatMap((card) => {
    const paths = pathsOf(card).map((path, index) => `${before + index + 1}. ${path.text}`);
    before += paths.length;
    const title = typeof card.title === "string" && card.title !== "" ? `*${card.title}*` : "";
    const about = [described(title, card.description), ...paths].filter((line) => line !== "").join("\n");
    return about === "" ? [] : withPicture(card.imageUrl, about);
  });
}

function described(title: string, description: unknown): string {
  const more = typeof description === "string" && description !== "" ? description : "";
  return [title, more].filter((line) => line !== "").join("\n");
}

function withPicture(url: unknown, caption: string): ReplyPart[] {
  return typeof url === "string" && /^https?:\/\//i.test(url)
    ? [{ kind: "media", url, type: "image", caption }]
    : [{ kind: "text", text: caption }];
}
