import { type Block, parseFormatting } from "./parse-formatting.ts";
import type { Part } from "./parse-line.ts";

/** No list shows more of a text. */
const MOST_SHOWN = 1_000;

/** The start of a text without formatting, for lists. */
export function stripFormatting(text: string): string {
  return parseFormatting(text.slice(0, MOST_SHOWN)).map(textOf).join("\n");
}

function textOf(block: Block): string {
  if (block.kind === "mono") return block.text;
  if ("parts" in block) return block.parts.map(textOfPart).join("");
  return block.items
    .map(
      ({ number, parts }) => `${number === undefined ? "•" : `${number}.`} ${parts.map(textOfPart).join("")}`,
    )
    .join("\n");
}

function textOfPart(part: Part): string {
  if (typeof part === "string") return part;
  if (part.kind === "code") return part.text;
  if (part.kind === "link") return part.url;
  return part.parts.map(textOfPart).join("");
}
