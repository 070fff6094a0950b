import { Fragment, memo, type ReactNode } from "react";
import { type Block, parseFormatting } from "./formatting/parse-formatting.ts";
import type { Part } from "./formatting/parse-line.ts";

/** A message with WhatsApp's formatting and clickable links. */
export const MessageText = memo(function MessageText({ text }: { text: string }) {
  return (
    <div className="message-text">
      {parseFormatting(text).map((block, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text have no other name
        <Fragment key={at}>{showBlock(block)}</Fragment>
      ))}
    </div>
  );
});

function showBlock(block: Block): ReactNode {
  if (block.kind === "mono") return <pre dir="auto">{block.text}</pre>;
  if ("parts" in block) {
    const Lines = block.kind === "quote" ? "blockquote" : "p";
    return <Lines dir="auto">{showParts(block.parts)}</Lines>;
  }
  const List = block.kind === "numbers" ? "ol" : "ul";
  return (
    <List dir="auto">
      {block.items.map(({ number, parts }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: see above
        <li key={at} value={number}>
          {showParts(parts)}
        </li>
      ))}
    </List>
  );
}

function showParts(parts: readonly Part[]): ReactNode {
  return parts.map((part, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: see above
    <Fragment key={at}>{showPart(part)}</Fragment>
  ));
}

const TAGS = { bold: "strong", italic: "em", strike: "s" } as const;

function showPart(part: Part): ReactNode {
  if (typeof part === "string") return part;
  if (part.kind === "code") return <code>{part.text}</code>;
  if (part.kind === "link") {
    return (
      <a href={part.url} target="_blank" rel="noopener noreferrer">
        {part.url}
      </a>
    );
  }
  const Tag = TAGS[part.kind];
  return <Tag>{showParts(part.parts)}</Tag>;
}
