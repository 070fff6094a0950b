import { WaygateError } from "../client/client.ts";
import { isConnectionLost } from "../mcp/request-with-retry.ts";
import { ERROR_CODES } from "../platform/error-codes.ts";
import { CommandError } from "./command-error.ts";
import { toTerminalText } from "./to-terminal-text.ts";

/** What to do at a command line, where it differs from what a program does. */
const ADVICE: Readonly<Record<string, string>> = {
  AUTH_REQUIRED: "Give the API key of the instance with --key or WAYGATE_API_KEY.",
  INVALID_API_KEY: "Give the instance's current key with --key or WAYGATE_API_KEY.",
  INSTANCE_FORBIDDEN: "Leave --instance and WAYGATE_INSTANCE_ID out, or give the key of that instance.",
  INVALID_CREDENTIALS: "Check --email and --password, or WAYGATE_EMAIL and WAYGATE_PASSWORD.",
  INVALID_TOKEN: "Give a new token with --token or WAYGATE_TOKEN, or --email and --password instead.",
  INSTANCE_NOT_CONNECTED: "Pair or connect the instance: see docs/guides/pairing.md.",
  RECIPIENT_NOT_FOUND: "Check the number: digits with country and area code. Do not repeat the send.",
};

/** The failure of a request to the gateway, with what to do about it. Rethrows everything else, which is a bug. */
export function toCommandError(error: unknown, baseUrl: string): CommandError {
  if (error instanceof CommandError) return error;
  const { origin } = new URL(baseUrl);
  if (error instanceof WaygateError) return new CommandError(describe(error, origin), { cause: error });
  if (isConnectionLost(error)) {
    const { code, message = "connection lost" } = error.cause as { code?: string; message?: string };
    const advice = "Is it running? waygate serve starts one; --url or WAYGATE_BASE_URL names another.";
    return new CommandError(
      `The gateway at ${origin} cannot be reached (${toTerminalText(code ?? message)}). ${advice}`,
      {
        cause: error,
      },
    );
  }
  if (error instanceof Error && error.name === "TimeoutError") {
    const message = `The gateway at ${origin} did not respond in time. Check that it is well: ${origin}/health`;
    return new CommandError(message, { cause: error });
  }
  throw error;
}

function describe({ code, message, status, request_id }: WaygateError, origin: string): string {
  // Another program may respond with JSON of any shape.
  if (typeof code !== "string" || code.startsWith("HTTP_"))
    return `${origin} responded with status ${status}, and not as a Waygate gateway does. Check --url or WAYGATE_BASE_URL.`;
  const shown = toTerminalText(message);
  const advice = Object.hasOwn(ADVICE, code) ? ADVICE[code] : generalAdvice(code);
  const lines = [`${toTerminalText(code, 60)}: ${shown}`, ...(advice === undefined ? [] : [advice])];
  if (request_id !== undefined) lines.push(`Request: ${toTerminalText(request_id, 100)}`);
  return lines.join("\n");
}

function generalAdvice(code: string): string | undefined {
  if (!Object.hasOwn(ERROR_CODES, code)) return undefined;
  return ERROR_CODES[code as keyof typeof ERROR_CODES].advice.replaceAll("`", "");
}
