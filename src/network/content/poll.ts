import { createHash } from "node:crypto";
import type { PollContent, TextContent } from "../content.ts";

/** The network's name of an option: the SHA-256 of its text, in hex. */
export function pollOptionId(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** A poll as the content of a message: its text is the question and the numbered options. */
export function toPollMessage(poll: PollContent): TextContent {
  const lines = poll.options.map(({ text }, nth) => `${nth + 1}. ${text.replace(/\s+/g, " ")}`);
  return { kind: "text", text: [poll.question, ...lines].filter((line) => line).join("\n"), poll };
}
