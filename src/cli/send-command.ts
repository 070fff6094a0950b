import { randomUUID } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { basename } from "node:path";
import type { Readable } from "node:stream";
import mime from "mime";
import { type Client, createClient, WaygateError } from "../client/client.ts";
import { CALL_TIMEOUT_MS } from "../mcp/request-with-retry.ts";
import type { Env } from "../platform/config/config.ts";
import { CommandError, UsageError } from "./command-error.ts";
import {
  type ClientOptionTexts,
  type ClientSettings,
  readClientSettings,
  readHeaderText,
} from "./read-client-settings.ts";
import { readField } from "./read-field.ts";
import { toCommandError } from "./to-command-error.ts";
import { toTerminalJson, toTerminalText } from "./to-terminal-text.ts";

export interface SendCommandOptions extends ClientOptionTexts {
  async?: boolean;
  file?: string;
  idempotencyKey?: string;
  json?: boolean;
}

type SendInput = NonNullable<Parameters<Client["send"]>[0]>;

/** Far above what a message can contain. */
const MAX_INPUT_BYTES = 1024 * 1024;
/** The file is in memory as a whole, and again as a form. */
const MAX_FILE_BYTES = 512 * 1024 * 1024;

/** Sends a text or a file, and prints what became of it. Throws UsageError, and CommandError if it was not sent. */
export async function runSendCommand(
  env: Env,
  { number, text }: { number: string; text: string | undefined },
  options: SendCommandOptions,
  input: Readable = process.stdin,
): Promise<void> {
  const { apiKey, ...gateway } = readClientSettings(env, options);
  if (apiKey === undefined)
    throw new UsageError("Give the API key of an instance with --key or WAYGATE_API_KEY.");
  const content = await readContent(text, options.file, input);
  const key = readHeaderText("--idempotency-key", options.idempotencyKey) ?? `cli-${randomUUID()}`;
  const body = { number, ...content, instance_id: gateway.instanceId, async: options.async };
  const response = await send({ ...gateway, apiKey }, body, key);
  // The reader may close the pipe early.
  process.stdout.once("error", () => {});
  const line = describeSend(response);
  console.log(options.json ? toTerminalJson(response) : line);
}

async function readContent(
  text: string | undefined,
  path: string | undefined,
  input: Readable,
): Promise<Pick<SendInput, "text" | "caption" | "file">> {
  const words = text === "-" ? await readText(input) : text;
  if (path !== undefined) return { file: await readUpload(path), caption: words };
  if (words === undefined) throw new UsageError("Give a text, - for standard input, or --file.");
  return { text: words };
}

/** Without the line break that `echo` adds. */
async function readText(input: Readable): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of input) {
    bytes += part.length;
    if (bytes > MAX_INPUT_BYTES) throw new UsageError("The text on standard input is longer than 1 MiB.");
    parts.push(Buffer.from(part));
  }
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(parts));
    return text.replace(/\r?\n$/, "");
  } catch {
    throw new UsageError("The text on standard input is not UTF-8. Send a file with --file.");
  }
}

async function readUpload(path: string) {
  const shown = toTerminalText(path);
  try {
    const found = await stat(path);
    if (!found.isFile()) throw new UsageError(`${shown} is not a file.`);
    if (found.size > MAX_FILE_BYTES) throw new UsageError(`${shown} is larger than 512 MiB.`);
    const mime_type = mime.getType(path) ?? undefined;
    return { bytes: await readFile(path), file_name: basename(path), mime_type };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${shown} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
}

async function send({ baseUrl, apiKey }: ClientSettings, body: SendInput, idempotencyKey: string) {
  try {
    const signal = AbortSignal.timeout(CALL_TIMEOUT_MS);
    return await createClient({ baseUrl, apiKey }).send(body, { idempotencyKey, signal });
  } catch (error) {
    const failure = toCommandError(error, baseUrl);
    if (isUndecided(error)) addRepeatAdvice(failure, idempotencyKey);
    throw failure;
  }
}

/** Whether the gateway may have accepted the send nevertheless. */
function isUndecided(error: unknown): boolean {
  if (error instanceof WaygateError) return error.code === "SEND_TIMEOUT" || error.code === "INTERNAL";
  const code = ((error as Error).cause as { code?: string } | undefined)?.code ?? "";
  return !/^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH)$/.test(code);
}

function addRepeatAdvice(failure: CommandError, key: string): void {
  failure.message += `\nThe message may have been sent. Repeat it with --idempotency-key ${key}: it is not sent twice.`;
}

/** One line about a send that the gateway has made or queued. Throws CommandError for a response of another program. */
export function describeSend(response: unknown): string {
  const wordOf = (...path: string[]): string => {
    const value = readField(response, ...path);
    return typeof value === "string" ? toTerminalText(value, 200) : "";
  };
  const [job, pendingId] = [wordOf("jobId"), wordOf("data", "pendingMessageId")];
  if (job && pendingId) return `queued ${pendingId} as job ${job}`;
  const [status, id, jid] = [wordOf("data", "status"), wordOf("data", "message_id"), wordOf("data", "jid")];
  if (status && id) return `${status} ${id} to ${jid}`;
  throw new CommandError("The response is not that of a Waygate gateway. Check --url or WAYGATE_BASE_URL.");
}
