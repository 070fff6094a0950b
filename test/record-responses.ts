import { appendFileSync } from "node:fs";

/** A successful JSON response of a gateway in a test. */
export interface RecordedResponse {
  method: string;
  path: string;
  status: number;
  body: unknown;
}

const LONGEST = 200_000;

/**
 * Keeps every successful JSON response that a test gets from a gateway, one per line of the file. A setup file of all
 * tests when `RECORD_RESPONSES` names one; `response-examples.test.ts` chooses examples among them.
 */
function recordResponses(file: string): void {
  const send = globalThis.fetch;
  globalThis.fetch = async (input, init) => {
    const response = await send(input, init);
    const isJson = response.headers.get("content-type")?.startsWith("application/json") ?? false;
    if (response.ok && isJson) await keep(file, init?.method ?? "GET", response.clone());
    return response;
  };
}

async function keep(file: string, method: string, response: Response): Promise<void> {
  const { hostname, pathname: path } = new URL(response.url);
  const text = await response.text().catch(() => "");
  if (hostname !== "127.0.0.1" || text === "" || text.length > LONGEST) return;
  const recorded: RecordedResponse = { method, path, status: response.status, body: JSON.parse(text) };
  appendFileSync(file, `${JSON.stringify(recorded)}\n`);
}

if (process.env.RECORD_RESPONSES) recordResponses(process.env.RECORD_RESPONSES);
