import type { IncomingHttpHeaders } from "node:http";
import { readField } from "../read-field.ts";
import { toTerminalText } from "../to-terminal-text.ts";

const LONGEST_TEXT = 200;
const LONGEST_WORD = 100;

/** One line about a verified event of any shape, without anything that a terminal would interpret. */
export function describeEvent(event: unknown, headers: IncomingHttpHeaders, at: Date): string {
  const sequence = readField(event, "sequence");
  const parts = [
    at.toTimeString().slice(0, 8),
    wordOf(readField(event, "event")) || "event",
    typeof sequence === "number" ? `#${sequence}` : "",
    wordOf(readField(event, "instance", "name")),
    describeData(readField(event, "data")),
    describeAttempt(headers),
  ];
  return parts.filter((part) => part !== "").join("  ");
}

function describeData(data: unknown): string {
  const message = readField(data, "message");
  const parts = typeof message === "object" ? describeMessage(message) : describeState(data);
  return [...parts, wordOf(readField(data, "reaction")), describeError(readField(data, "error"))]
    .filter((part) => part !== "")
    .join(" ");
}

function describeMessage(message: unknown): string[] {
  const way = readField(message, "direction") === "inbound" ? "from" : "to";
  const chat = wordOf(readField(message, "phone")) || wordOf(readField(message, "jid"));
  const words = readField(message, "text") ?? readField(message, "caption");
  const type = wordOf(readField(message, "type"));
  const isText = type === "text" || type === "";
  return [
    chat && `${way} ${chat}`,
    isText ? "" : `[${type}]`,
    typeof words === "string" ? `"${toTerminalText(words, LONGEST_TEXT)}"` : "",
  ];
}

function describeState(data: unknown): string[] {
  return ["status", "phone", "reason", "message"].map((name) => wordOf(readField(data, name)));
}

function describeError(error: unknown): string {
  if (typeof error === "string") return `error: ${toTerminalText(error, LONGEST_TEXT)}`;
  const [code, message] = ["code", "message"].map((name) => wordOf(readField(error, name)));
  return code ? `${code}: ${message}` : "";
}

/** Only a repetition is worth mentioning. */
function describeAttempt(headers: IncomingHttpHeaders): string {
  const attempt = Number(headers["x-waygate-attempt"]);
  return Number.isSafeInteger(attempt) && attempt > 1 ? `(attempt ${attempt})` : "";
}

function wordOf(value: unknown): string {
  return typeof value === "string" ? toTerminalText(value, LONGEST_WORD) : "";
}
