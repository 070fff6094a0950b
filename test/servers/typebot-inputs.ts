import { en, parseDate } from "chrono-node";

type Json = Record<string, unknown>;

/** An input of a flow, as the viewer shows it. */
export interface TypebotInput extends Json {
  id: string;
  type: string;
  items?: Json[];
  options?: Json;
}

/** Whether the viewer goes on with this answer, or asks again; what it checks is recorded in test/golden/typebot. */
export function takesReply({ type, items = [], options = {} }: TypebotInput, text: string): boolean {
  switch (type) {
    case "choice input":
      return options.isMultipleChoice === true ? isListOf(items, text) : isOneOf(items, text);
    case "picture choice input":
      return isOneOf(items, text);
    case "rating input":
      return /^\d+$/.test(text.trim()) && Number(text) <= Number(options.length ?? 10);
    case "number input":
      return !Number.isNaN(Number.parseFloat(text)) && /^[\d.,\s+-]+$/.test(text);
    case "email input":
      return /^\S+@\S+\.\S+$/.test(text.trim());
    case "date input":
      return String(options.format ?? "dd/MM/yyyy").startsWith("dd")
        ? en.GB.parseDate(text) !== null
        : en.parseDate(text) !== null;
    case "time input":
      return parseDate(text) !== null;
    case "file input":
      return text.split(", ").every(isPublicUrl);
    default:
      return true;
  }
}

/** The words with which it asks again. */
export function retryWords({ type }: TypebotInput): string {
  return type === "email input"
    ? "This email doesn't seem to be valid. Can you type it again?"
    : "Invalid message. Please, try again.";
}

/** To the letter: neither the number of an item nor another case. */
function isOneOf(items: readonly Json[], text: string): boolean {
  return items.some(({ content, title, value, id }) => [content, title, value, id].includes(text.trim()));
}

function isListOf(items: readonly Json[], text: string): boolean {
  const isIndex = (word: string) => /^\d+$/.test(word) && Number(word) >= 1 && Number(word) <= items.length;
  return text.split(/[\s,]+/).every(isIndex) || text.split(",").every((part) => isOneOf(items, part.trim()));
}

/** A host needs a top-level domain, unless it is an IP address or this machine. */
function isPublicUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return /^https?:$/.test(protocol) && (hostname === "localhost" || /\.[a-z0-9]+$/i.test(hostname));
}
