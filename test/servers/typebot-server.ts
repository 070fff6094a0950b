import { randomBytes } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { en, parseDate } from "chrono-node";
import { startLocalServer } from "./local-server.ts";

type Json = Record<string, unknown>;

/** An input as the viewer shows it. */
export interface TypebotInput extends Json {
  id: string;
  type: string;
  items?: Json[];
  options?: Json;
}

/** Whether the viewer accepts the reply or asks again, as recorded in test/golden/typebot. */
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

/** The text with which it asks again. */
export function retryText({ type }: TypebotInput): string {
  return type === "email input"
    ? "This email doesn't seem to be valid. Can you type it again?"
    : "Invalid message. Please, try again.";
}

/** Exact matches only: no item numbers, no other case. */
function isOneOf(items: readonly Json[], text: string): boolean {
  return items.some(({ content, title, value, id }) => [content, title, value, id].includes(text.trim()));
}

function isListOf(items: readonly Json[], text: string): boolean {
  const isIndex = (word: string) => /^\d+$/.test(word) && Number(word) >= 1 && Number(word) <= items.length;
  return text.split(/[\s,]+/).every(isIndex) || text.split(",").every((part) => isOneOf(items, part.trim()));
}

/** A host needs a top-level domain, unless it is an IP address or localhost. */
function isPublicUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return /^https?:$/.test(protocol) && (hostname === "localhost" || /\.[a-z0-9]+$/i.test(hostname));
}

/** One step of a flow: a bubble, an input, or an action of the client. */
export type FlowStep =
  | { bubble: { id: string; type: string; content: Json } }
  | { input: TypebotInput }
  | { action: Json & { type: string; expectsDedicatedReply?: boolean } };

export interface TypebotRequest {
  path: string;
  body: Json;
  headers: IncomingHttpHeaders;
  session: string | undefined;
}

/** Simulated faults of the next calls. */
export type Trouble =
  | { status: number; body?: string; headers?: Record<string, string> }
  /** Runs the flow and drops the connection before the response. */
  | "lose_response"
  /** Runs the flow and drops the connection within the response. */
  | "break_off"
  | "no_response";

/** A fake of Typebot's viewer: real shapes, its validation of replies, no lock, and its session lifetimes. */
export interface TypebotServer {
  readonly url: string;
  readonly requests: TypebotRequest[];
  readonly sessions: ReadonlyMap<string, { at: number }>;
  /** Publishes a flow under a public id and replaces the previous one. */
  publish(publicId: string, flow: FlowStep[]): void;
  close_bot(publicId: string): void;
  /** For the next `times` calls, optionally of one path. */
  trouble(what: Trouble, times?: number, path?: RegExp): void;
  /** For calls with any other token. */
  refuse(what: Exclude<Trouble, string>, butToken: string): void;
  /** Text of each received message, optionally by token. */
  inputs(token?: string): (string | undefined)[];
  reset(): void;
  shut(): Promise<void>;
  open(): Promise<void>;
}

interface Session {
  bot: string;
  at: number;
  /** The session ended with its start, so continuing restarts it. */
  restarts: boolean;
}

export function bubble(id: string, text: string): FlowStep {
  const richText = [{ type: "p", children: [{ text }] }];
  return { bubble: { id, type: "text", content: { type: "richText", richText } } };
}

export function choice(
  id: string,
  items: { id: string; content: string; value?: string }[],
  options: Json = {},
): FlowStep {
  return { input: { id, type: "choice input", items, options } };
}

export function ask(id: string, type = "text input", options: Json = {}): FlowStep {
  return { input: { id, type, options } };
}

export async function startTypebot(): Promise<TypebotServer> {
  const bots = new Map<string, { flow: FlowStep[]; isClosed: boolean }>();
  const sessions = new Map<string, Session>();
  const requests: TypebotRequest[] = [];
  let troubles: { what: Trouble; left: number; path: RegExp }[] = [];
  let refused: { what: Exclude<Trouble, string>; butToken: string } | undefined;

  function run(bot: string, from: number): { response: Json; at: number; isOver: boolean } {
    const { flow } = bots.get(bot) ?? { flow: [] };
    const messages: Json[] = [];
    const clientSideActions: Json[] = [];
    for (let at = from; at < flow.length; at++) {
      const step = flow[at] as FlowStep;
      if ("bubble" in step) messages.push(step.bubble);
      else if ("action" in step) {
        const last = messages.at(-1)?.id;
        clientSideActions.push({ ...step.action, ...(last !== undefined && { lastBubbleBlockId: last }) });
        if (step.action.expectsDedicatedReply)
          return { response: { messages, clientSideActions }, at: at + 1, isOver: false };
      } else
        return { response: { messages, input: step.input, clientSideActions, logs: [] }, at, isOver: false };
    }
    return { response: { messages, clientSideActions, logs: [] }, at: flow.length, isOver: true };
  }

  function start(bot: string, body: Json): [number, Json] {
    const published = bots.get(bot);
    if (!published) return notFound("Typebot not found");
    if (published.isClosed) return refusal("This bot is now closed");
    const sessionId = randomBytes(12).toString("hex");
    const head = {
      sessionId,
      typebot: {
        id: `${bot}-id`,
        version: "6.1",
        theme: {},
        settings: { typingEmulation: { enabled: false } },
      },
    };
    if (body.isOnlyRegistering) {
      sessions.set(sessionId, { bot, at: 0, restarts: true });
      return [200, { ...head, messages: [] }];
    }
    const step = published.flow[0];
    const text = textOf(body.message);
    // The first text answers an input before which nothing was asked.
    const consumed =
      step && "input" in step && text !== undefined && step.input.type === "text input" ? 1 : 0;
    const { response, at, isOver } = run(bot, consumed);
    sessions.set(sessionId, { bot, at, restarts: isOver });
    return [200, { ...head, ...(isOver ? {} : { resultId: randomBytes(12).toString("hex") }), ...response }];
  }

  function goOn(id: string, body: Json): [number, Json] {
    const session = sessions.get(id);
    if (!session) return notFound("Session not found.");
    if (session.restarts) {
      const { response, at, isOver } = run(session.bot, 0);
      sessions.set(id, { ...session, at, restarts: isOver });
      return [200, response];
    }
    const step = bots.get(session.bot)?.flow[session.at];
    const isInput = step !== undefined && "input" in step;
    if (isInput && !isAccepted(step, body)) return [200, retry(step)];
    const from = isInput ? session.at + 1 : session.at;
    const { response, at, isOver } = run(session.bot, from);
    if (isOver) sessions.delete(id);
    else session.at = at;
    return [200, response];
  }

  async function handleRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // An interrupted request does not count.
    const raw = await text(request).catch(() => undefined);
    if (raw === undefined) return;
    const path = request.url ?? "";
    const body = parse(raw);
    const session = /sessions\/([^/]+)\//.exec(path)?.[1];
    requests.push({ path, body: body ?? {}, headers: request.headers, session });
    if (refused && request.headers.authorization !== `Bearer ${refused.butToken}`)
      return refuse(response, refused.what);
    const trouble = troubles.find((one) => one.left > 0 && one.path.test(path));
    if (trouble) trouble.left -= 1;
    if (trouble?.what === "no_response") return;
    if (typeof trouble?.what === "object") return refuse(response, trouble.what);
    const [status, said] = respond(request, path, body);
    write(response, status, JSON.stringify(said), trouble?.what);
  }

  function respond(request: IncomingMessage, path: string, body: Json | undefined): [number, Json] {
    if (request.headers.origin)
      return [403, { defined: true, code: "FORBIDDEN", status: 403, message: "Origin not allowed" }];
    if (!body) return [400, { defined: false, code: "BAD_REQUEST", status: 400, message: MALFORMED }];
    if (!isMessage(body.message)) return refusal("Input validation failed");
    if ((body.message as Json | undefined)?.type === "command") return refusal("Command event not found");
    const bot = /^\/api\/v1\/typebots\/([^/]+)\/startChat$/.exec(path)?.[1];
    if (bot !== undefined) return start(decodeURIComponent(bot), body);
    const id = /^\/api\/v1\/sessions\/([^/]+)\/continueChat$/.exec(path)?.[1];
    return id === undefined ? notFound("Not found") : goOn(id, body);
  }

  const { url, open, shut } = await startLocalServer(
    (request, response) => void handleRequest(request, response),
  );
  return {
    url,
    requests,
    sessions,
    publish: (publicId, flow) => void bots.set(publicId, { flow, isClosed: false }),
    close_bot: (publicId) => void bots.set(publicId, { flow: [], isClosed: true }),
    trouble: (what, times = 1, path = /./) => void troubles.push({ what, left: times, path }),
    refuse: (what, butToken) => {
      refused = { what, butToken };
    },
    inputs: (token) =>
      requests
        .filter(({ headers }) => token === undefined || headers.authorization === `Bearer ${token}`)
        .map(({ body }) => textOf(body.message)),
    reset: () => {
      requests.length = 0;
      troubles = [];
      refused = undefined;
    },
    shut,
    open,
  };
}

function refuse(response: ServerResponse, { status, headers, body = "{}" }: Exclude<Trouble, string>): void {
  response.writeHead(status, headers).end(body);
}

function write(
  response: ServerResponse,
  status: number,
  body: string,
  trouble: "lose_response" | "break_off" | undefined,
): void {
  if (trouble === "lose_response") return void response.destroy();
  response.writeHead(status, { "content-type": "application/json" });
  if (trouble === undefined) response.end(body);
  else response.write(body.slice(0, 10), () => response.destroy());
}

type InputStep = Extract<FlowStep, { input: unknown }>;

function isAccepted({ input }: InputStep, { message }: Json): boolean {
  const text = textOf(message);
  if (text === undefined) return input.options?.isRequired === false;
  const { replyId } = ((message as Json).metadata ?? {}) as { replyId?: string };
  return input.items?.some(({ id }) => id === replyId) || takesReply(input, text);
}

function retry({ input }: InputStep): Json {
  const richText = [{ type: "p", children: [{ text: retryText(input) }] }];
  return { messages: [{ id: input.id, type: "text", content: { type: "richText", richText } }], input };
}

const MALFORMED =
  "Malformed request. Ensure the request body is properly formatted and the 'Content-Type' header is set correctly.";

/** Undefined, a text, or an object of a known type. */
function isMessage(message: unknown): boolean {
  if (message === undefined || message === null || typeof message === "string") return true;
  const { type, text, url, command } = message as Json;
  const field = type === "text" ? text : type === "audio" ? url : type === "command" ? command : undefined;
  return typeof field === "string";
}

function refusal(message: string): [number, Json] {
  return [400, { defined: true, code: "BAD_REQUEST", status: 400, message }];
}

function notFound(message: string): [number, Json] {
  return [404, { defined: true, code: "NOT_FOUND", status: 404, message }];
}

function textOf(message: unknown): string | undefined {
  if (typeof message === "string") return message;
  const { text, url } = (message ?? {}) as { text?: string; url?: string };
  return text ?? url;
}

function parse(raw: string): Json | undefined {
  try {
    return JSON.parse(raw) as Json;
  } catch {
    return undefined;
  }
}
