import { append, type Part, parseLine } from "./parse-line.ts";

export interface ListItem {
  /** The number that the writer typed; undefined in a bulleted list. */
  number?: number;
  parts: Part[];
}

/** Consecutive lines of one kind. */
export type Block =
  | { kind: "text" | "quote"; parts: Part[] }
  | { kind: "bullets" | "numbers"; items: ListItem[] }
  | { kind: "mono"; text: string };

/** The gateway's limit for texts. */
const LONGEST = 65_536;
/** More formats would only slow the page down. */
const MOST_FORMATS = 2_000;
const FENCE = "```";

/** Parses WhatsApp's formatting in linear time. Texts above the limits stay plain. */
export function parseFormatting(text: string): Block[] {
  const plain: Block[] = [{ kind: "text", parts: [text] }];
  if (text.length > LONGEST) return plain;
  const blocks = splitAtFences(text).flatMap((piece) =>
    piece.isMono ? [{ kind: "mono" as const, text: piece.text }] : readLines(piece.text),
  );
  const count = blocks.reduce((sum, block) => sum + countFormats(block), 0);
  return count > MOST_FORMATS ? plain : blocks;
}

interface Piece {
  isMono: boolean;
  text: string;
}

/** Splits at fences that span lines. Code inside a line is parsed with the line. */
function splitAtFences(text: string): Piece[] {
  const pieces: Piece[] = [];
  const add = (isMono: boolean, piece: string) => piece !== "" && pieces.push({ isMono, text: piece });
  let from = 0;
  let at = 0;
  for (;;) {
    const start = text.indexOf(FENCE, at);
    const end = start < 0 ? -1 : text.indexOf(FENCE, start + FENCE.length);
    if (end < 0) break;
    at = end + FENCE.length;
    const inside = text.slice(start + FENCE.length, end);
    if (!inside.includes("\n") || inside.trim() === "") continue;
    add(false, withoutBreaks(text.slice(from, start), { isLast: true, isFirst: from > 0 }));
    add(true, withoutBreaks(inside, { isFirst: true, isLast: true }));
    from = at;
  }
  add(false, withoutBreaks(text.slice(from), { isFirst: from > 0, isLast: false }));
  return pieces;
}

/** Drops the line break beside a fence, because a block starts its own line. */
function withoutBreaks(text: string, { isFirst, isLast }: { isFirst: boolean; isLast: boolean }): string {
  const rest = isFirst && text.startsWith("\n") ? text.slice(1) : text;
  return isLast && rest.endsWith("\n") ? rest.slice(0, -1) : rest;
}

const QUOTE = /^> (?=\S)/;
const BULLET = /^[-*] (?=\S)/;
const NUMBER = /^(\d{1,3})\. (?=\S)/;

function readLines(text: string): Block[] {
  const blocks: Block[] = [];
  for (const line of text.split("\n")) addLine(blocks, readLine(line));
  return blocks;
}

function readLine(line: string): Exclude<Block, { kind: "mono" }> {
  const number = NUMBER.exec(line);
  if (number) {
    const parts = parseLine(line.slice(number[0].length));
    return { kind: "numbers", items: [{ number: Number(number[1]), parts }] };
  }
  if (BULLET.test(line)) return { kind: "bullets", items: [{ parts: parseLine(line.slice(2)) }] };
  if (QUOTE.test(line)) return { kind: "quote", parts: parseLine(line.slice(2)) };
  return { kind: "text", parts: parseLine(line) };
}

function addLine(blocks: Block[], line: Exclude<Block, { kind: "mono" }>): void {
  const last = blocks.at(-1);
  if (last?.kind !== line.kind) blocks.push(line);
  else if ("items" in last && "items" in line) last.items.push(...line.items);
  else if ("parts" in last && "parts" in line) {
    for (const part of ["\n", ...line.parts]) append(last.parts, part);
  }
}

function countFormats(block: Block): number {
  if (block.kind === "mono") return 1;
  if ("parts" in block) return 1 + countParts(block.parts);
  return block.items.reduce((sum, { parts }) => sum + 1 + countParts(parts), 1);
}

function countParts(parts: readonly Part[]): number {
  let count = 0;
  for (const part of parts) {
    if (typeof part === "string") continue;
    count += 1 + ("parts" in part ? countParts(part.parts) : 0);
  }
  return count;
}
