/** A node of Typebot's rich text: a block, a link, a variable, or a leaf with marks. */
export interface RichNode {
  type?: unknown;
  text?: unknown;
  url?: unknown;
  children?: unknown;
  bold?: unknown;
  italic?: unknown;
  strikethrough?: unknown;
  code?: unknown;
}

type Marks = Pick<RichNode, "bold" | "italic" | "strikethrough" | "code">;

interface Run {
  text: string;
  /** The characters around it, outermost first. */
  marks: string;
}

const MAX_DEPTH = 50;

/**
 * Converts rich text to WhatsApp's marks: `*bold*`, `_italic_`, `~struck~`, `` `code` ``, links as `text
 * (url)`. Empty paragraphs are blank lines; underlining is lost. Source: Typebot,
 * `packages/rich-text/src/convertRichTextToMarkdown`.
 */
export function toWhatsAppText(blocks: unknown): string {
  const lines = nodesOf(blocks).map((block) => renderBlock(block, 0));
  return lines.join("\n").replace(/(?<!\n)\n+$/, "");
}

function nodesOf(value: unknown): RichNode[] {
  return Array.isArray(value) ? value.filter((node) => typeof node === "object" && node !== null) : [];
}

function renderBlock(node: RichNode, depth: number): string {
  if (depth > MAX_DEPTH) return "";
  if (node.type === "ol" || node.type === "ul") return renderList(node, depth, 0);
  const children = nodesOf(node.children);
  if (children.some(isBlock)) {
    return children.map((child) => renderBlock(child, depth + 1)).join("\n");
  }
  return renderRuns(runsOf(node, {}, depth));
}

const BLOCKS = new Set<unknown>(["p", "ol", "ul", "li", "lic", "blockquote", "h1", "h2", "h3"]);

function isBlock({ type }: RichNode): boolean {
  return BLOCKS.has(type);
}

function renderList(list: RichNode, depth: number, level: number): string {
  if (depth > MAX_DEPTH) return "";
  const indent = "  ".repeat(level);
  return nodesOf(list.children)
    .flatMap((item, index) => {
      const bullet = list.type === "ol" ? `${index + 1}. ` : "- ";
      return nodesOf(item.children).map((part) =>
        part.type === "ol" || part.type === "ul"
          ? renderList(part, depth + 1, level + 1)
          : `${indent}${bullet}${renderRuns(runsOf(part, {}, depth))}`,
      );
    })
    .join("\n");
}

/** The leaves below a node, with the marks around them. */
function runsOf(node: RichNode, around: Marks, depth: number): Run[] {
  if (depth > MAX_DEPTH) return [];
  const marks = { ...around, ...marked(node) };
  if (node.type === "a") return [linkOf(node, marks, depth)];
  if (node.children !== undefined)
    return nodesOf(node.children).flatMap((child) => runsOf(child, marks, depth + 1));
  return typeof node.text === "string" ? [{ text: node.text, marks: charactersOf(marks) }] : [];
}

function marked({ bold, italic, strikethrough, code }: RichNode): Marks {
  return {
    ...(bold === true && { bold }),
    ...(italic === true && { italic }),
    ...(strikethrough === true && { strikethrough }),
    ...(code === true && { code }),
  };
}

function charactersOf({ bold, italic, strikethrough, code }: Marks): string {
  return `${bold ? "*" : ""}${italic ? "_" : ""}${strikethrough ? "~" : ""}${code ? "`" : ""}`;
}

/** Without marks of its own, so that no mark becomes part of the URL. */
function linkOf(node: RichNode, marks: Marks, depth: number): Run {
  const url = typeof node.url === "string" ? node.url : "";
  const text = nodesOf(node.children)
    .flatMap((child) => runsOf(child, {}, depth + 1))
    .map((run) => run.text)
    .join("");
  if (text === "" || text === url) return { text: url, marks: "" };
  return { text: url ? `${text} (${url})` : text, marks: url ? "" : charactersOf(marks) };
}

/** Adjacent runs with the same marks are marked once. */
function renderRuns(runs: readonly Run[]): string {
  const merged: Run[] = [];
  for (const run of runs) {
    if (run.text === "") continue;
    const last = merged.at(-1);
    if (last && last.marks === run.marks) last.text += run.text;
    else merged.push({ ...run });
  }
  return merged.map(renderRun).join("");
}

/** A mark works only within a line, and only where it touches a word. */
function renderRun({ text, marks }: Run): string {
  if (marks === "") return text;
  const closing = [...marks].reverse().join("");
  return text
    .split("\n")
    .map((line) => {
      const words = line.trim();
      if (words === "") return line;
      const at = line.indexOf(words);
      return `${line.slice(0, at)}${marks}${words}${closing}${line.slice(at + words.length)}`;
    })
    .join("\n");
}
