import type { UploadedFile } from "../../../platform/http/route.ts";
import { cleanText } from "../../../platform/text/clean-text.ts";
import { fileNameInDisposition } from "../../../platform/text/file-names.ts";

/** A reply in a workflow's HTTP response. */
export interface WorkflowReply {
  text?: string;
  media_url?: string;
  file?: UploadedFile;
}

export interface WorkflowReplies {
  replies: WorkflowReply[];
  /** Why the response contains no reply and what to do; undefined if silence was intended. */
  problem?: string;
}

export interface WorkflowResponseBody {
  headers: Readonly<Record<string, string>>;
  body: Buffer;
  truncated: boolean;
}

const MAX_REPLIES = 20;
const MAX_TEXT = 65_536;
const MAX_DEPTH = 5;
/** In order of precedence. */
const TEXT_KEYS = ["output", "answer", "text", "caption", "message", "response", "reply", "content"];
const MEDIA_KEYS = ["mediaUrl", "media_url"];
/** Texts of n8n itself, not of a workflow. */
const NOT_A_REPLY =
  /^(Workflow was started|Error in workflow|Workflow executed successfully but (no data was returned|the last node did not return any data))$/;
/** Some programs use `application` types for text; other types with that prefix are not text. */
const FILE_TYPE =
  /^(image|audio|video|font|model)\/|^application\/(?!(?:.{0,180}\+)?(?:json|xml)$|x-www-form-urlencoded$|(?:x-)?(?:javascript|ndjson|yaml)$)/;

const USE_RESPOND_NODE =
  'Set Respond of the Webhook node to "Using \'Respond to Webhook\' Node" and return {"output": "..."} there; an empty text sends nothing.';

/** What a text with quotes or line breaks needs if it is inserted between quotes by hand. */
const WRITE_JSON =
  "Let the node Respond to Webhook build it with an expression: {{ JSON.stringify({ output: $json.output }) }}.";

/** n8n returns 200 without a body for a workflow that failed before its node Respond to Webhook. */
const NOTHING = "The workflow returned an empty response. It may have failed: check its executions in n8n.";

const TOO_LARGE =
  "The workflow's response is too large: the limit is 256 KB, for a file 5 MB. Return the address of a larger file as mediaUrl.";

/** An object or a list of objects, lists or texts; a person's text in brackets does not match. */
const LIKE_JSON = /^\s*[{[]\s*["{[]/;

/** Whether a response of this type is a file to be sent. */
export function isFileType(contentType: string | undefined): boolean {
  return FILE_TYPE.test(mediaType(contentType));
}

/** Reads texts, numbers, files and lists of them, nested or not, under common keys. */
export function parseWorkflowReplies({ headers, body, truncated }: WorkflowResponseBody): WorkflowReplies {
  const type = mediaType(headers["content-type"]);
  if (truncated) return { replies: [], problem: TOO_LARGE };
  if (isFileType(type)) return { replies: body.length > 0 ? [{ file: fileOf(body, type, headers) }] : [] };
  const text = body.toString("utf8").replace(/^\uFEFF/, "");
  const parsed = parse(text);
  if (parsed === undefined) return readPlain(text, type);
  const replies = readValue(parsed, 0).slice(0, MAX_REPLIES);
  if (replies.length > 0 || isIntendedEmpty(parsed)) return { replies };
  return { replies, problem: `${describe(parsed)} ${USE_RESPOND_NODE}` };
}

function mediaType(contentType = ""): string {
  return contentType.slice(0, 200).split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function fileOf(bytes: Buffer, mime_type: string, headers: WorkflowResponseBody["headers"]): UploadedFile {
  const file_name = fileNameInDisposition(headers["content-disposition"]);
  return { bytes, mime_type, ...(file_name && { file_name }) };
}

/** n8n sends a text as text/html; text that begins like a page is not a reply. */
function readPlain(text: string, type: string): WorkflowReplies {
  if (text.trimStart().startsWith("<"))
    return {
      replies: [],
      problem: `The workflow returned a web page (${type || "no type"}). ${USE_RESPOND_NODE}`,
    };
  if (isBrokenJson(text, type))
    return {
      replies: [],
      problem: `The workflow's response is not valid JSON, so nothing was sent. ${WRITE_JSON}`,
    };
  const replies = toText(text);
  if (replies.length > 0) return { replies };
  return { replies, problem: `${NOTHING} ${USE_RESPOND_NODE}` };
}

function isBrokenJson(text: string, type: string): boolean {
  return text.trim() !== "" && (/[/+]json$/.test(type) || LIKE_JSON.test(text));
}

function readValue(value: unknown, depth: number): WorkflowReply[] {
  if (value === null || value === undefined || depth > MAX_DEPTH) return [];
  if (Array.isArray(value))
    return value.slice(0, MAX_REPLIES).flatMap((one: unknown) => readValue(one, depth + 1));
  if (typeof value === "object") return readItem(value as Record<string, unknown>, depth);
  return toText(String(value));
}

function readItem(item: Record<string, unknown>, depth: number): WorkflowReply[] {
  const key = TEXT_KEYS.find((name) => isPresent(item[name]));
  const media_url = MEDIA_KEYS.map((name) => item[name]).find((url) => typeof url === "string" && url !== "");
  if (key === undefined && media_url === undefined) return readValue(item.json, depth + 1);
  const replies = key === undefined ? [] : readValue(item[key], depth + 1);
  if (media_url === undefined) return replies;
  const [caption, ...more] = replies;
  const isCaption = caption !== undefined && caption.media_url === undefined;
  const first = { ...(isCaption && caption), media_url: cleanText(String(media_url)) };
  return isCaption ? [first, ...more] : [first, ...replies];
}

function isPresent(value: unknown): boolean {
  return value !== null && value !== undefined && value !== "";
}

function toText(value: string): WorkflowReply[] {
  const text = cleanText(value).slice(0, MAX_TEXT);
  return text.trim() === "" || NOT_A_REPLY.test(text) ? [] : [{ text }];
}

/** An empty list, or an empty text under a known key: the workflow intends to send nothing. */
function isIntendedEmpty(response: unknown): boolean {
  const [item = {}] = Array.isArray(response) ? (response as unknown[]) : [response];
  if (Array.isArray(response) && response.length === 0) return true;
  return (
    typeof item === "object" &&
    item !== null &&
    TEXT_KEYS.some((name) => name in item && item[name as never] === "")
  );
}

function describe(response: unknown): string {
  const [item] = Array.isArray(response) ? (response as unknown[]) : [response];
  if (typeof item !== "object" || item === null) return "The workflow's response contains nothing to send.";
  const message = "message" in item && typeof item.message === "string" ? item.message : "";
  if (NOT_A_REPLY.test(message))
    return `n8n responded with "${message}", so the workflow itself returned nothing.`;
  const names = Object.keys(item)
    .slice(0, 10)
    .map((name) => cleanText(name).slice(0, 40));
  return `The response has no text under ${TEXT_KEYS.join(", ")} and no mediaUrl; it has ${names.join(", ") || "no fields"}.`;
}
