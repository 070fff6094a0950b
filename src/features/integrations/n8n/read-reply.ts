import { z } from "zod";
import { cleanText } from "../../../platform/clean-text.ts";

/** What a workflow answers with its HTTP response. */
export interface WorkflowReply {
  text?: string;
  media_url?: string;
}

const MAX_REPLIES = 20;
const MAX_TEXT = 65_536;
/** What n8n itself says; no workflow has written it. */
const NOT_A_REPLY = new Set(["Workflow was started", "Error in workflow"]);

const text = z.string().optional();
const item = z.looseObject({
  ...{ output: text, answer: text, text, message: text, caption: text },
  ...{ mediaUrl: text, media_url: text },
});

/** Reads `{output|answer|text|message}`, `{mediaUrl, caption}` or a list of them; nothing of anything else. */
export function readReplies(body: Buffer): WorkflowReply[] {
  const parsed = parse(body);
  const items = Array.isArray(parsed) ? parsed : [parsed];
  return items.flatMap(readItem).slice(0, MAX_REPLIES);
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return undefined;
  }
}

function readItem(given: unknown): WorkflowReply[] {
  const { data } = item.safeParse(given);
  if (!data) return [];
  const media_url = data.mediaUrl ?? data.media_url;
  const said = data.output ?? data.answer ?? data.text ?? data.caption ?? data.message;
  const words = said === undefined || NOT_A_REPLY.has(said) ? "" : cleanText(said).slice(0, MAX_TEXT);
  if (words.trim() === "" && !media_url) return [];
  return [{ ...(words.trim() !== "" && { text: words }), ...(media_url && { media_url }) }];
}
